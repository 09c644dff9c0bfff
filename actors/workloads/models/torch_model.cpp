#include "actors/workloads/models/torch_model.hpp"

#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

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

class TorchReplica final : public Replica {
 public:
  TorchReplica(const TorchModelParts& parts, std::span<float> flat) : parts_(parts) {
    for (const ParameterBlock& block : parts.layout.blocks()) {
      at::Tensor leaf = at::from_blob(flat.data() + block.offset, block.shape, at::kFloat);
      leaf.requires_grad_(true);
      leaves_.push_back(std::move(leaf));
    }
  }

  Result<double> loss_and_gradient(const Samples& samples, float scale, std::span<float> gradient) override {
    return guarded([&]() -> double {
      at::AutoGradMode with_gradient(true);
      TorchDropout dropout(samples.dropout, parts_.dropout);
      const at::Tensor loss = loss_of(parts_.forward(leaves_, images_of(samples), dropout), samples);
      const auto gradients = torch::autograd::grad({loss}, leaves_, {at::full({}, scale)});
      for (std::size_t i = 0; i < leaves_.size(); ++i) {
        const ParameterBlock& block = parts_.layout.blocks()[i];
        const at::Tensor dense = gradients[i].contiguous();
        std::memcpy(gradient.data() + block.offset, dense.data_ptr<float>(),
                    static_cast<std::size_t>(block.count) * sizeof(float));
      }
      return loss.item<float>();
    });
  }

  Result<EvaluationSums> evaluate(const Samples& samples) override {
    return guarded([&]() -> EvaluationSums {
      const c10::InferenceMode without_gradient;
      TorchDropout no_dropout;
      const at::Tensor logits = parts_.forward(leaves_, images_of(samples), no_dropout);
      EvaluationSums sums;
      sums.correct = logits.argmax(1).eq(labels_of(samples)).sum().item<std::int64_t>();
      sums.loss = loss_of(logits, samples).item<float>();
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
  static at::Tensor loss_of(const at::Tensor& logits, const Samples& samples) {
    return at::cross_entropy_loss(logits, labels_of(samples), {}, at::Reduction::Sum);
  }

  const TorchModelParts& parts_;
  std::vector<at::Tensor> leaves_;  ///< parameters, aliasing the session's flat array
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

at::Tensor TorchDropout::operator()(const at::Tensor& activations) {
  const std::uint64_t layer = layer_++;
  if (probability_ <= 0) return activations;
  at::Tensor mask = at::empty(activations.sizes(), at::kFloat);
  fill_dropout_mask(stream_, layer, probability_, activations.size(1),
                    {mask.data_ptr<float>(), static_cast<std::size_t>(mask.numel())});
  return activations.mul(mask);
}

std::unique_ptr<Model> make_torch_model(TorchModelParts parts) {
  return std::make_unique<TorchModel>(std::move(parts));
}

}  // namespace tandem::actors
