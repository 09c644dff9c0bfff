#include "actors/workloads/models/torch_model.hpp"

#include <c10/core/InferenceMode.h>

#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::actors {

namespace {

/// LibTorch has no exception of its own for CPU memory in all versions: the words tell.
bool is_out_of_memory(std::string_view message) {
  return message.find("can't allocate memory") != std::string_view::npos ||
         message.find("not enough memory") != std::string_view::npos ||
         message.find("out of memory") != std::string_view::npos;
}

/// `compute`'s value, or what it threw as an error.
template <class Compute>
auto guarded(const Compute& compute) -> Result<decltype(compute())> {
  try {
    return compute();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::resource_exhausted, "out of memory");
  } catch (const std::exception& exception) {
    const auto* torch_error = dynamic_cast<const c10::Error*>(&exception);
    const std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : exception.what();
    const std::string first_line = text.substr(0, text.find('\n'));
    return fail(is_out_of_memory(text) ? ErrorCode::resource_exhausted : ErrorCode::internal, "{}", first_line);
  }
}

/// Tensors of the layout's shapes over a flat array.
std::vector<at::Tensor> tensors_over(const ParameterLayout& layout, std::span<float> flat) {
  std::vector<at::Tensor> tensors;
  for (const ParameterBlock& block : layout.blocks()) {
    tensors.push_back(at::from_blob(flat.data() + block.offset, block.shape, at::kFloat));
  }
  return tensors;
}

class TorchReplica final : public Replica {
 public:
  TorchReplica(const TorchModelParts& parts, std::span<float> flat)
      : parts_(parts), parameters_(tensors_over(parts.layout, flat)) {}

  Result<double> loss_and_gradient(const Samples& samples, float scale, std::span<float> gradient) override {
    return guarded([&]() -> double {
      const c10::InferenceMode without_autograd;
      std::vector<at::Tensor> gradients = tensors_over(parts_.layout, gradient);
      TorchTape tape(parameters_, gradients, samples.dropout, parts_.dropout);
      const at::Tensor log_probabilities = at::log_softmax(parts_.forward(tape, images_of(samples)), 1);
      const at::Tensor labels = labels_of(samples);
      // Of the sum of cross entropies with respect to the logits: probabilities, less one where the label is.
      at::Tensor to_logits = log_probabilities.exp();
      to_logits.scatter_add_(1, labels.unsqueeze(1), at::full({samples.count, 1}, -1.0F));
      tape.backward(to_logits.mul_(scale));
      return at::nll_loss(log_probabilities, labels, {}, at::Reduction::Sum).item<float>();
    });
  }

  Result<EvaluationSums> evaluate(const Samples& samples) override {
    return guarded([&]() -> EvaluationSums {
      const c10::InferenceMode without_autograd;
      TorchTape tape(parameters_);
      const at::Tensor logits = parts_.forward(tape, images_of(samples));
      const at::Tensor labels = labels_of(samples);
      EvaluationSums sums;
      sums.correct = logits.argmax(1).eq(labels).sum().item<std::int64_t>();
      sums.loss = at::nll_loss(at::log_softmax(logits, 1), labels, {}, at::Reduction::Sum).item<float>();
      return sums;
    });
  }

 private:
  // The tensors only look at the session's buffers; LibTorch wants them writable.
  at::Tensor images_of(const Samples& samples) const {
    return at::from_blob(const_cast<float*>(samples.pixels),
                         {samples.count, 1, parts_.input.height, parts_.input.width}, at::kFloat);
  }
  static at::Tensor labels_of(const Samples& samples) {
    return at::from_blob(const_cast<std::int64_t*>(samples.labels), {samples.count}, at::kLong);
  }

  const TorchModelParts& parts_;
  std::vector<at::Tensor> parameters_;  ///< aliasing the session's flat array
};

class TorchModel final : public Model {
 public:
  explicit TorchModel(TorchModelParts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] const ParameterLayout& layout() const override { return parts_.layout; }
  [[nodiscard]] ImageShape input() const override { return parts_.input; }
  [[nodiscard]] ForwardCost cost() const override { return parts_.cost; }
  [[nodiscard]] Result<std::unique_ptr<Replica>> make_replica(std::span<float> parameters) const override {
    return guarded([&]() -> std::unique_ptr<Replica> { return std::make_unique<TorchReplica>(parts_, parameters); });
  }

 private:
  TorchModelParts parts_;
};

}  // namespace

std::unique_ptr<Model> make_torch_model(TorchModelParts parts) {
  return std::make_unique<TorchModel>(std::move(parts));
}

}  // namespace tandem::actors
