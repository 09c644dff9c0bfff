/// JSON on a stream: one document, one line.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "tuner/space/value_json.hpp"

namespace tandem::tools {

inline void write_json(std::ostream& out, const nlohmann::json& document) { out << tuner::dump_json(document) << '\n'; }

}  // namespace tandem::tools
