#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>

namespace tandem::tidy {
namespace {

using Prefixes = std::vector<std::string_view>;

constexpr std::size_t kColumns = 120;
constexpr int kLines = 600;

bool is_below(std::string_view path, const Prefixes& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [path](std::string_view prefix) { return path.starts_with(prefix); });
}

std::string_view trimmed_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\n");
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

std::string_view trimmed_begin(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// A call of the free function, not of a member or of another scope's function of that name, nor its declaration.
bool is_free_call(const Word& word) {
  if (!trimmed_begin(word.after).starts_with("(")) return false;
  const std::string_view before = trimmed_end(word.before);
  // Too good a name to be kept from others: counts only where its scope is written.
  if (word.text == "system" && !before.ends_with("::")) return false;
  if (before.ends_with(".") || before.ends_with("->")) return false;
  const auto in_word = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
  };
  if (before.ends_with("::")) {
    const std::string_view scope = trimmed_end(before.substr(0, before.size() - 2));
    return scope.empty() || !in_word(scope.back()) || scope.ends_with("std") || scope.ends_with("return");
  }
  // `int fork(` and `Result<> fork(` declare; `return fork(` calls.
  if (before.empty() || before.ends_with("return")) return true;
  return !in_word(before.back()) && before.back() != '>' && before.back() != '*' && before.back() != '&';
}

struct Seam {
  std::string_view rule;
  std::string_view remedy;
  std::set<std::string_view> calls;  ///< free functions
  std::set<std::string_view> names;  ///< anything of that name
  Prefixes allowed;                  ///< beside runtime/base and benchmarks
};

const std::vector<Seam>& seams() {
  static const std::vector<Seam> all = {
      {"clock",
       "take the time from a Clock",
       {"clock_gettime", "gettimeofday", "time", "localtime", "gmtime", "timespec_get"},
       {"steady_clock", "system_clock", "high_resolution_clock"},
       {"runtime/host/"}},
      {"random",
       "draw from a Random",
       {"rand", "srand", "rand_r", "random", "drand48", "getrandom", "arc4random"},
       {"random_device", "mt19937", "mt19937_64", "default_random_engine", "uniform_int_distribution",
        "uniform_real_distribution", "normal_distribution", "bernoulli_distribution"},
       {}},
      {"sleep",
       "wait for an event or a timer of the runtime",
       {"sleep", "usleep", "nanosleep", "clock_nanosleep"},
       {"sleep_for", "sleep_until"},
       {"runtime/host/"}},
      {"environment",
       "take it from current_environment()",
       {"getenv", "secure_getenv", "setenv", "unsetenv", "putenv", "clearenv"},
       {},
       {"tests/runtime/base/", "tests/runtime/host/"}},
      {"process",
       "start it with a ProcessLauncher",
       {"fork", "vfork", "execv", "execve", "execvp", "execvpe", "execl", "execlp", "fexecve", "posix_spawn",
        "posix_spawnp", "system", "popen", "waitpid", "wait4", "waitid"},
       {},
       {"runtime/host/", "tests/runtime/base/", "tests/runtime/host/", "tests/tuner/store/", "tests/workloads/"}},
      {"files",
       "go through a FileSystem",
       {"fopen", "freopen", "mkstemp"},
       {"ifstream", "ofstream", "fstream", "filesystem"},
       {"runtime/host/", "tuner/store/", "tests/"}}};
  return all;
}

const std::map<std::string_view, Prefixes>& layers() {
  static const std::map<std::string_view, Prefixes> all = {
      {"runtime/base/", {"runtime/base/"}},
      {"runtime/", {"runtime/", "schemas/"}},
      {"tuner/", {"tuner/", "runtime/base/"}},
      {"actors/", {"actors/", "tuner/", "runtime/", "schemas/"}},
      {"tools/", {"tools/", "actors/", "tuner/", "runtime/", "schemas/"}},
      {"benchmarks/", {"benchmarks/", "tools/", "actors/", "tuner/", "runtime/", "schemas/"}},
      {"tests/", {"tests/", "benchmarks/", "tools/", "actors/", "tuner/", "runtime/", "schemas/"}}};
  return all;
}

/// A clock may be named, by a timer's type say, but not read, nor renamed to be read under another name.
bool is_only_named(const Word& word) {
  const std::string_view after = trimmed_begin(word.after);
  return word.text.ends_with("_clock") && !after.starts_with("::now") && !after.starts_with(";");
}

/// The longest layer that the file lies in.
const Prefixes* allowed_includes(std::string_view path) {
  const Prefixes* allowed = nullptr;
  std::size_t longest = 0;
  for (const auto& [layer, prefixes] : layers()) {
    if (path.starts_with(layer) && layer.size() > longest) {
      longest = layer.size();
      allowed = &prefixes;
    }
  }
  return allowed;
}

/// Why a pure room may not include <path>; empty: it may.
std::string_view impurity(std::string_view include, bool store) {
  static const std::set<std::string_view> kImpure = {"thread",  "mutex",  "shared_mutex", "condition_variable",
                                                     "future",  "chrono", "stop_token",   "semaphore",
                                                     "barrier", "latch",  "atomic",       "random"};
  if (kImpure.contains(include)) return "the tuner has no threads and no clocks, and draws from Random";
  if (include.find_first_of("./") == std::string_view::npos) {
    const bool files = include == "fstream" || include == "filesystem";
    return files && !store ? "only tuner/store touches files" : "";
  }
  if (is_below(include, {"nlohmann/", "toml++/", "fmt/", "tl/"})) return "";
  return store ? "" : "the tuner uses nothing but the standard library, nlohmann, toml++, fmt and tl";
}

bool is_torch(std::string_view include) { return is_below(include, {"torch/", "ATen/", "c10/", "c10d/", "caffe2/"}); }

/// The rest of the statement after a co_await.
std::string_view statement(std::string_view code) { return code.substr(0, code.find(';')); }

/// `Type{` or `{` as an argument: inside parentheses, after '(' or ',' or a type's name.
bool has_temporary_argument(std::string_view expression) {
  int depth = 0;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '(') ++depth;
    if (expression[i] == ')' && --depth < 0) return false;
    // A lambda's body is another function.
    if (expression[i] == '[' && depth > 0) return false;
    if (expression[i] != '{' || depth == 0) continue;
    const std::string_view before = trimmed_end(expression.substr(0, i));
    if (before.ends_with("(") || before.ends_with(",")) return true;
    const std::size_t word = before.find_last_of(" (,:<&") + 1;
    if (word < before.size() && std::isupper(static_cast<unsigned char>(before[word])) != 0) return true;
    if (before.ends_with(">")) return true;
  }
  return false;
}

}  // namespace

Violations check_seams(const SourceText& source) {
  Violations found;
  const std::vector<Word> words = source.words();
  for (const Seam& seam : seams()) {
    if (is_below(source.path(), {"runtime/base/", "benchmarks/"}) || is_below(source.path(), seam.allowed)) continue;
    for (const Word& word : words) {
      const bool include_line = trimmed_end(word.before).ends_with("#include <") || word.after.starts_with(">\n");
      if (include_line || is_only_named(word)) continue;
      if (seam.names.contains(word.text) || (seam.calls.contains(word.text) && is_free_call(word))) {
        found.push_back({source.path(), word.line, "seam: " + std::string(seam.rule),
                         std::string(word.text) + ": " + std::string(seam.remedy)});
      }
    }
  }
  return found;
}

Violations check_layers(const SourceText& source) {
  Violations found;
  const Prefixes* allowed = allowed_includes(source.path());
  const bool tuner = source.path().starts_with("tuner/");
  const bool store = source.path().starts_with("tuner/store/");
  for (const Include& include : source.includes()) {
    if (!include.angled && (allowed == nullptr || !is_below(include.path, *allowed))) {
      found.push_back({source.path(), include.line, "layer", "may not include \"" + include.path + "\""});
    }
    if (!tuner || !include.angled) continue;
    if (const auto why = impurity(include.path, store); !why.empty()) {
      found.push_back({source.path(), include.line, "purity", "<" + include.path + ">: " + std::string(why)});
    }
  }
  return found;
}

Violations check_torch(const SourceText& source) {
  static const Prefixes kAllowed = {"actors/workloads/",        "actors/examples/",       "runtime/kernels/",
                                    "runtime/executor/",        "runtime/collective/",    "benchmarks/",
                                    "tests/workloads/",         "tests/runtime/kernels/", "tests/runtime/executor/",
                                    "tests/runtime/collective/"};
  Violations found;
  for (const Include& include : source.includes()) {
    if (!is_torch(include.path) || is_below(source.path(), kAllowed)) continue;
    found.push_back({source.path(), include.line, "torch",
                     "<" + include.path + ">: only in " + "actors/workloads and runtime/kernels and their like"});
  }
  return found;
}

Violations check_headers(const SourceText& source, bool has_own_header) {
  Violations found;
  const std::string& path = source.path();
  if (source.is_header()) {
    if (!trimmed_begin(source.code()).starts_with("#pragma once")) {
      found.push_back({path, 1, "pragma once", "a header begins with it, after its comment"});
    }
    for (const Word& word : source.words()) {
      if (word.text == "namespace" && trimmed_end(word.before).ends_with("using")) {
        found.push_back({path, word.line, "using namespace", "not in a header"});
      }
    }
  }
  if (has_own_header) {
    const std::string own = path.substr(0, path.rfind('.')) + ".hpp";
    if (source.includes().empty() || source.includes().front().path != own) {
      found.push_back({path, 1, "own header first", "include \"" + own + "\" first: so it is known to stand alone"});
    }
  }
  return found;
}

Violations check_coroutines(const SourceText& source) {
  Violations found;
  for (const Word& word : source.words()) {
    if (word.text != "co_await") continue;
    const std::string_view expression = trimmed_begin(statement(word.after));
    if (expression.starts_with("[") && !expression.starts_with("[]")) {
      found.push_back({source.path(), word.line, "coroutine", "co_await of a capturing lambda called at once"});
    } else if (has_temporary_argument(expression)) {
      found.push_back({source.path(), word.line, "coroutine", "an aggregate temporary as an argument of co_await"});
    }
  }
  return found;
}

Violations check_text(const SourceText& source) {
  // In two pieces, so that this file passes its own rule.
  static const std::vector<std::string> kNotes = {std::string("TO") + "DO", std::string("FIX") + "ME"};
  Violations found;
  int line = 0;
  for (std::size_t begin = 0; begin < source.text().size();) {
    const std::size_t end = std::min(source.text().find('\n', begin), source.text().size());
    const std::string_view row = std::string_view(source.text()).substr(begin, end - begin);
    ++line;
    const auto add = [&](std::string rule, std::string message) {
      found.push_back({source.path(), line, std::move(rule), std::move(message)});
    };
    // Bytes that continue a UTF-8 character have no column of their own.
    const auto columns = std::count_if(row.begin(), row.end(), [](char c) { return (c & 0xC0) != 0x80; });
    if (static_cast<std::size_t>(columns) > kColumns) add("width", "more than 120 columns");
    if (row.find('\t') != std::string_view::npos) add("tab", "blanks instead");
    if (row.ends_with(' ') || row.ends_with('\r')) add("trailing blank", "none at the end of a line");
    for (const auto& note : kNotes) {
      if (row.find(note) != std::string_view::npos) add("unfinished", note + ": do it, or file it");
    }
    begin = end + 1;
  }
  if (line > kLines) found.push_back({source.path(), line, "length", "more than 600 lines: two files"});
  return found;
}

}  // namespace tandem::tidy
