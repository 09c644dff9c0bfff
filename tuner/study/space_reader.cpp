#include "tuner/study/space_reader.hpp"

#include <algorithm>

#include "tuner/limits.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tuner {

namespace {

constexpr std::string_view kForms =
    "{ low = …, high = … } with step, log, type = \"float\" | \"int\", or { choice = […] }, and when = { … }";

/// Integers among floats are meant as floats.
void widen_integers(std::vector<Value>& values) {
  const auto has = [&](std::size_t type) {
    return std::any_of(values.begin(), values.end(), [&](const Value& value) { return value.index() == type; });
  };
  const bool numbers = std::all_of(values.begin(), values.end(), [](const Value& v) {
    return std::holds_alternative<std::int64_t>(v) || std::holds_alternative<double>(v);
  });
  if (!numbers || !has(1) || !has(2)) return;
  for (auto& value : values) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) value = static_cast<double>(*integer);
  }
}

/// Reads one parameter's table.
class ParameterReader {
 public:
  ParameterReader(const TomlDocument& document, std::string name, std::optional<Error>& error)
      : document_(document),
        error_(error),
        table_(document, {"space", name}, error),
        space_(document, {"space"}, error),
        name_(std::move(name)) {}

  ParameterSpec read() {
    ParameterSpec parameter{name_, {}, {}};
    table_.allow({"choice", "low", "high", "step", "log", "type", "when"});
    parameter.domain = table_.find("choice") != nullptr ? read_choice() : read_range();
    read_conditions(parameter);
    if (table_.failed()) return parameter;
    if (const auto checked = check_domain(parameter.domain); !checked) space_.refuse(name_, checked.error().message());
    return parameter;
  }

 private:
  Domain read_choice() {
    for (const std::string_view key : {"low", "high", "step", "log", "type"}) {
      if (table_.find(key) != nullptr) table_.refuse(key, "does not go with choice");
    }
    ChoiceDomain domain;
    if (const auto* node = table_.find("choice"); node != nullptr && !node->is_array()) {
      table_.refuse("choice", "must be a list");
    }
    table_.read_scalars("choice", domain.choices, limits::kMaxChoices);
    widen_integers(domain.choices);
    return domain;
  }

  Domain read_range() {
    for (const std::string_view key : {"low", "high"}) {
      if (!table_.failed() && table_.find(key) == nullptr) {
        space_.refuse(name_, fmt::format("{} is missing; allowed: {}", key, kForms));
      }
    }
    bool integers = true;
    for (const std::string_view key : {"low", "high", "step"}) {
      const auto* node = table_.find(key);
      if (node == nullptr) continue;
      if (!node->is_number()) table_.refuse(key, "must be a number");
      integers = integers && node->is_integer();
    }
    std::size_t type = integers ? 1 : 0;
    table_.read_choice("type", type, {"float", "int"});
    bool log = false;
    table_.read("log", log);
    if (table_.failed()) return {};
    return type == 1 ? read_integers(log) : read_floats(log);
  }

  Domain read_integers(bool log) {
    IntDomain domain;
    domain.log = log;
    const auto read = [&](std::string_view key, std::int64_t& out) {
      const auto* node = table_.find(key);
      if (node == nullptr) return;
      if (!node->is_integer()) return table_.refuse(key, "must be an integer, as type = \"int\"");
      out = node->as_integer()->get();
    };
    read("low", domain.low);
    read("high", domain.high);
    read("step", domain.step);
    return domain;
  }

  Domain read_floats(bool log) {
    FloatDomain domain;
    domain.log = log;
    const auto read = [&](std::string_view key, double& out) {
      if (const auto* node = table_.find(key)) out = *node->value<double>();
    };
    read("low", domain.low);
    read("high", domain.high);
    read("step", domain.step);
    // A domain without a step has 0 there; a written one must be positive.
    if (table_.find("step") != nullptr && domain.step == 0) table_.refuse("step", "must be greater than 0");
    return domain;
  }

  void read_conditions(ParameterSpec& parameter) {
    if (table_.find("when") == nullptr) return;
    Section when(document_, {"space", name_, "when"}, error_);
    if (!when.present()) return;
    if (when.table()->empty()) return when.refuse_table("must name a parameter, e.g. { optimizer = \"sgd\" }");
    for (const auto& [key, node] : *when.table()) {
      Condition condition{std::string(key.str()), {}};
      when.read_scalars(key.str(), condition.values, limits::kMaxChoices);
      parameter.when.push_back(std::move(condition));
    }
  }

  const TomlDocument& document_;
  std::optional<Error>& error_;
  Section table_;
  Section space_;
  std::string name_;
};

void check_parameter_name(Section& space, std::string_view name) {
  if (!is_name(name)) {
    return space.refuse(name, fmt::format("not a parameter's name; allowed: letters, digits, '.', '_', '-', at most {}",
                                          limits::kMaxNameLength));
  }
  if (name == "epochs") {
    return space.refuse(name, "searching the number of epochs is not supported yet; set [trial] epochs");
  }
  const auto& system = system_parameter_names();
  if (std::find(system.begin(), system.end(), name) != system.end()) {
    return space.refuse(name, "is a system parameter; name its values in [system]");
  }
}

}  // namespace

bool is_name(std::string_view text) {
  const auto letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= limits::kMaxNameLength && letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter_or_digit(c) || c == '.' || c == '-'; });
}

const std::vector<std::string_view>& system_parameter_names() {
  static const std::vector<std::string_view> names{"cores", "threads", "replicas", "micro_batch", "allocator"};
  return names;
}

Space read_space(const TomlDocument& document, std::optional<Error>& error) {
  Section section(document, {"space"}, error);
  if (!section.present() || section.failed()) return {};
  if (section.table()->empty()) section.refuse_table("must name at least one parameter");
  std::vector<ParameterSpec> parameters;
  for (const auto& [key, node] : *section.table()) {
    const std::string name(key.str());
    check_parameter_name(section, name);
    if (!node.is_table()) section.refuse(name, fmt::format("must be a table; allowed: {}", kForms));
    if (error) return {};
    parameters.push_back(ParameterReader(document, name, error).read());
  }
  if (error) return {};
  auto space = Space::create(std::move(parameters));
  if (space) return std::move(*space);
  // The message begins with the parameter at fault, unless it is about the space as a whole.
  const std::string& message = space.error().message();
  const std::string name = message.substr(0, message.find(':'));
  if (section.find(name) != nullptr) {
    section.refuse(name, message.substr(std::min(message.size(), name.size() + 2)));
  } else {
    section.refuse_table(message);
  }
  return {};
}

}  // namespace tandem::tuner
