/// The tidy rules: what the compiler does not check and a reader should not have to.
#pragma once

#include <string>
#include <vector>

#include "tests/tidy/source_text.hpp"

namespace tandem::tidy {

struct Violation {
  std::string path;
  int line = 0;
  std::string rule;
  std::string message;
};

using Violations = std::vector<Violation>;

/// Clock, randomness, sleep, environment, processes and files only through the seams of runtime/base.
[[nodiscard]] Violations check_seams(const SourceText& source);
/// schemas <- runtime <- actors <- tools; tuner is pure.
[[nodiscard]] Violations check_layers(const SourceText& source);
/// LibTorch only where models and kernels are.
[[nodiscard]] Violations check_torch(const SourceText& source);
/// `#pragma once` first; no `using namespace` in a header; a .cpp includes its own header first.
[[nodiscard]] Violations check_headers(const SourceText& source, bool has_own_header);
/// Calls that g++ 12 miscompiles: temporaries and capturing lambdas inside a co_await expression.
[[nodiscard]] Violations check_coroutines(const SourceText& source);
/// Line width, tabs, trailing blanks, length of a file, notes of unfinished work.
[[nodiscard]] Violations check_text(const SourceText& source);

}  // namespace tandem::tidy
