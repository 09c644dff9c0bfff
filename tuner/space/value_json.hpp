/// JSON of values and parameters. JSON has no NaN: non-finite numbers travel as "nan", "inf", "-inf".
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

[[nodiscard]] nlohmann::json number_to_json(double number);
/// Takes numbers and the three strings.
[[nodiscard]] Result<double> number_from_json(const nlohmann::json& json);

[[nodiscard]] nlohmann::json to_json(const Value& value);
/// A boolean, integer, float or string. A string stays one, "nan" too: it may be somebody's choice.
[[nodiscard]] Result<Value> value_from_json(const nlohmann::json& json);

[[nodiscard]] nlohmann::json to_json(const Parameters& params);
[[nodiscard]] Result<Parameters> parameters_from_json(const nlohmann::json& json);

/// Numbers by name, e.g. the values of a report.
using NumberMap = std::map<std::string, double, std::less<>>;
[[nodiscard]] nlohmann::json numbers_to_json(const NumberMap& numbers);
[[nodiscard]] Result<NumberMap> numbers_from_json(const nlohmann::json& json);

/// Compact text; bytes that are not UTF-8 are replaced, so this never throws.
[[nodiscard]] std::string dump_json(const nlohmann::json& json);

}  // namespace tandem::tuner
