/// Overloaded: one visitor out of several lambdas, for std::visit.
#pragma once

namespace tandem::tuner {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace tandem::tuner
