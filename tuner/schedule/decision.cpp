#include "tuner/schedule/decision.hpp"

namespace tandem::tuner {

std::string_view to_string(Decision decision) noexcept {
  switch (decision) {
    case Decision::proceed:
      return "continue";
    case Decision::stop:
      return "stop";
    case Decision::pause:
      return "pause";
  }
  return "unknown";
}

}  // namespace tandem::tuner
