#include "tuner/space/value_json.hpp"

#include <cmath>
#include <limits>

namespace tandem::tuner {

namespace {

constexpr auto kWrong = ErrorCode::invalid_argument;

std::string shown(const nlohmann::json& json) {
  constexpr std::size_t kShown = 80;
  std::string text = dump_json(json);
  return text.size() <= kShown ? text : text.substr(0, kShown) + "…";
}

}  // namespace

nlohmann::json number_to_json(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

Result<double> number_from_json(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return fail(kWrong, "{} is not a number; allowed: a number, \"nan\", \"inf\" or \"-inf\"", shown(json));
}

nlohmann::json to_json(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return number_to_json(*number);
  return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

Result<Value> value_from_json(const nlohmann::json& json) {
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_string()) return Value(json.get<std::string>());
  if (json.is_number_float()) return Value(json.get<double>());
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fail(kWrong, "{} is too large for an integer", shown(json));
  }
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  return fail(kWrong, "{} is not a value; allowed: a boolean, a number or a string", shown(json));
}

nlohmann::json to_json(const Parameters& params) {
  auto object = nlohmann::json::object();
  for (const auto& [name, value] : params) object[name] = to_json(value);
  return object;
}

Result<Parameters> parameters_from_json(const nlohmann::json& json) {
  if (!json.is_object()) return fail(kWrong, "{} is not an object of names and values", shown(json));
  Parameters params;
  for (const auto& [name, member] : json.items()) {
    auto value = value_from_json(member);
    if (!value) return forward_error(value, name);
    params.emplace(name, std::move(*value));
  }
  return params;
}

nlohmann::json numbers_to_json(const NumberMap& numbers) {
  auto object = nlohmann::json::object();
  for (const auto& [name, number] : numbers) object[name] = number_to_json(number);
  return object;
}

Result<NumberMap> numbers_from_json(const nlohmann::json& json) {
  if (!json.is_object()) return fail(kWrong, "{} is not an object of names and numbers", shown(json));
  NumberMap numbers;
  for (const auto& [name, member] : json.items()) {
    const auto number = number_from_json(member);
    if (!number) return forward_error(number, name);
    numbers.emplace(name, *number);
  }
  return numbers;
}

std::string dump_json(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tandem::tuner
