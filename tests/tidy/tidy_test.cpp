// Every source file of the project against the tidy rules, and every rule against files that break it.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "runtime/base/file_system.hpp"
#include "tests/tidy/rules.hpp"

namespace tandem::tidy {
namespace {

std::vector<std::string> source_files() {
  PosixFileSystem files;
  const std::string root = TANDEM_SOURCE_DIR;
  std::vector<std::string> open = {"runtime", "tuner", "actors", "tools", "tests", "benchmarks"};
  std::vector<std::string> found;
  while (!open.empty()) {
    const std::string path = std::move(open.back());
    open.pop_back();
    if (files.is_directory(root + "/" + path)) {
      const auto names = files.list(root + "/" + path);
      REQUIRE(names.has_value());
      for (const auto& name : *names) open.push_back(path + "/" + name);
    } else if (path.ends_with(".hpp") || path.ends_with(".cpp")) {
      found.push_back(path);
    }
  }
  return found;
}

Violations check_all(const SourceText& source, bool has_own_header) {
  Violations all;
  for (auto& found : {check_seams(source), check_layers(source), check_torch(source),
                      check_headers(source, has_own_header), check_coroutines(source), check_text(source)}) {
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

/// The rules that `text`, as the file `path`, breaks.
std::set<std::string> broken(const std::string& path, const std::string& text, bool has_own_header = false) {
  std::set<std::string> rules;
  for (const auto& violation : check_all(SourceText(path, text), has_own_header)) rules.insert(violation.rule);
  return rules;
}

using Rules = std::set<std::string>;

TEST_CASE("the project keeps its own rules") {
  PosixFileSystem files;
  const auto paths = source_files();
  CHECK(paths.size() > 50);
  const std::set<std::string> known(paths.begin(), paths.end());
  for (const auto& path : paths) {
    const auto text = files.read_file(std::string(TANDEM_SOURCE_DIR) + "/" + path);
    REQUIRE(text.has_value());
    const bool has_own_header = path.ends_with(".cpp") && known.contains(path.substr(0, path.rfind('.')) + ".hpp");
    for (const auto& violation : check_all(SourceText(path, *text), has_own_header)) {
      FAIL_CHECK(violation.path << ":" << violation.line << ": [" << violation.rule << "] " << violation.message);
    }
  }
}

TEST_CASE("what goes around a seam is found") {
  struct Case {
    const char* path;
    const char* code;
    const char* rule;
  };
  const std::vector<Case> cases = {
      {"runtime/actor/a.cpp", "auto t = std::chrono::steady_clock::now();\n", "seam: clock"},
      {"actors/study/a.cpp", "clock_gettime(CLOCK_MONOTONIC, &t);\n", "seam: clock"},
      {"tools/a.cpp", "using C = std::chrono::steady_clock;\n", "seam: clock"},
      {"tools/a.cpp", "auto t = ::time(nullptr);\n", "seam: clock"},
      {"tools/a.cpp", "return time(nullptr);\n", "seam: clock"},
      {"tuner/search/a.cpp", "std::mt19937 engine(1);\n", "seam: random"},
      {"tools/a.cpp", "int x = rand();\n", "seam: random"},
      {"tests/runtime/actor/a.cpp", "std::this_thread::sleep_for(1ms);\n", "seam: sleep"},
      {"actors/trial/a.cpp", "usleep(10);\n", "seam: sleep"},
      {"tools/a.cpp", "const char* home = std::getenv(\"HOME\");\n", "seam: environment"},
      {"actors/worker/a.cpp", "const int pid = ::fork();\n", "seam: process"},
      {"tools/a.cpp", "std::system(\"ls\");\n", "seam: process"},
      {"tuner/study/a.cpp", "std::ofstream file(path);\n", "seam: files"},
      {"actors/trial/a.cpp", "FILE* f = fopen(path, mode);\n", "seam: files"}};
  for (const auto& one : cases) {
    CAPTURE(one.code);
    CHECK(broken(one.path, one.code) == Rules{one.rule});
  }
}

TEST_CASE("a seam's own room, members of that name, comments and literals may use the words") {
  CHECK(broken("runtime/base/a.cpp", "auto t = std::chrono::steady_clock::now();\n").empty());
  CHECK(broken("runtime/host/a.cpp", "const int pid = ::fork();\n").empty());
  CHECK(broken("benchmarks/a.cpp", "std::this_thread::sleep_for(1ms);\n").empty());
  CHECK(broken("tools/a.cpp", "client.fork(); client->fork(); Client::fork(); Result<> fork(int x);\n").empty());
  CHECK(broken("tools/a.cpp", "// rand() and getenv()\n/* fork() */ const char* s = \"sleep(1)\";\n").empty());
  CHECK(broken("tools/a.cpp", "const char* s = R\"(time(nullptr))\"; const int n = 1'000;\n").empty());
  CHECK(broken("runtime/wire/a.cpp", "asio::basic_waitable_timer<std::chrono::steady_clock> timer;\n").empty());
  CHECK(broken("tests/a.cpp", "#include <random>\n#include <filesystem>\n").empty());
}

TEST_CASE("code after a literal is seen again") {
  CHECK(broken("tools/a.cpp", "const char* s = R\"x(\" )\" )x\"; int y = rand();\n") == Rules{"seam: random"});
  CHECK(broken("tools/a.cpp", "const char c = '\"'; int y = rand();\n") == Rules{"seam: random"});
  CHECK(broken("tools/a.cpp", "const char* s = \"\\\"\"; int y = rand();\n") == Rules{"seam: random"});
}

TEST_CASE("an include against the layers is found") {
  CHECK(broken("runtime/actor/a.cpp", "#include \"tuner/study/study.hpp\"\n") == Rules{"layer"});
  CHECK(broken("runtime/base/a.cpp", "#include \"runtime/actor/actor.hpp\"\n") == Rules{"layer"});
  CHECK(broken("tuner/study/a.cpp", "#include \"runtime/actor/actor.hpp\"\n") == Rules{"layer"});
  CHECK(broken("actors/study/a.cpp", "#include \"tools/doctor.hpp\"\n") == Rules{"layer"});
  CHECK(broken("tools/a.cpp", "#include \"sibling.hpp\"\n") == Rules{"layer"});
  CHECK(broken("actors/study/a.cpp", "#include \"tuner/study/study.hpp\"\n").empty());
  CHECK(broken("tuner/study/a.cpp", "#include \"runtime/base/result.hpp\"\n").empty());
}

TEST_CASE("threads, clocks, sockets and foreign libraries in the tuner are found") {
  for (const char* include : {"thread", "mutex", "chrono", "random", "asio.hpp", "sys/socket.h", "unistd.h",
                              "spdlog/spdlog.h", "capnp/message.h", "filesystem"}) {
    CAPTURE(include);
    CHECK(broken("tuner/search/a.cpp", "#include <" + std::string(include) + ">\n").contains("purity"));
  }
  CHECK(broken("tuner/search/a.cpp", "#include <vector>\n#include <nlohmann/json.hpp>\n").empty());
  CHECK(broken("tuner/store/a.cpp", "#include <sqlite3.h>\n#include <sys/stat.h>\n").empty());
  CHECK(broken("tuner/store/a.cpp", "#include <thread>\n") == Rules{"purity"});
}

TEST_CASE("LibTorch outside the rooms of models and kernels is found") {
  CHECK(broken("actors/trial/a.cpp", "#include <torch/torch.h>\n") == Rules{"torch"});
  CHECK(broken("tools/a.cpp", "#include <ATen/Parallel.h>\n") == Rules{"torch"});
  CHECK(broken("actors/workloads/a.cpp", "#include <torch/torch.h>\n").empty());
}

TEST_CASE("a header that does not begin with pragma once, or opens a namespace to all, is found") {
  CHECK(broken("tools/a.hpp", "/// A.\nint f();\n") == Rules{"pragma once"});
  CHECK(broken("tools/a.hpp", "/// A.\n#pragma once\nusing namespace std;\n") == Rules{"using namespace"});
  CHECK(broken("tools/a.hpp", "/// A.\n#pragma once\nusing std::string;\nnamespace a {}\n").empty());
  CHECK(broken("tools/a.cpp", "using namespace std::chrono_literals;\n").empty());
}

TEST_CASE("a source file that does not include its own header first is found") {
  CHECK(broken("tools/a.cpp", "#include <vector>\n#include \"tools/a.hpp\"\n", true) == Rules{"own header first"});
  CHECK(broken("tools/a.cpp", "int f() { return 1; }\n", true) == Rules{"own header first"});
  CHECK(broken("tools/a.cpp", "#include \"tools/a.hpp\"\n#include <vector>\n", true).empty());
}

TEST_CASE("coroutine calls that the compiler gets wrong are found") {
  for (const char* code : {"co_await [&] { return f(); }();\n", "co_await [this]() -> Task { co_return; }();\n",
                           "auto r = co_await ask(actor, Request{1, 2});\n", "co_await ask(actor, {1, 2});\n",
                           "co_await f(std::vector<int>{1});\n", "co_await f(\n    schemas::Request{});\n"}) {
    CAPTURE(code);
    CHECK(broken("actors/a.cpp", code) == Rules{"coroutine"});
  }
  for (const char* code : {"co_await ask(actor, request);\n", "co_await f(g(1), 2); Request r{1};\n",
                           "if (co_await f(x)) { g(Request{1}); }\n"}) {
    CAPTURE(code);
    CHECK(broken("actors/a.cpp", code).empty());
  }
}

TEST_CASE("unfinished work and untidy text are found") {
  CHECK(broken("tools/a.cpp",
               "// TO"
               "DO: later\n") == Rules{"unfinished"});
  CHECK(broken("tools/a.cpp",
               "// FIX"
               "ME\n") == Rules{"unfinished"});
  CHECK(broken("tools/a.cpp", "int x;\t\n") == Rules{"tab"});
  CHECK(broken("tools/a.cpp", "int x; \n") == Rules{"trailing blank"});
  CHECK(broken("tools/a.cpp", "// " + std::string(118, 'x') + "\n") == Rules{"width"});
  CHECK(broken("tools/a.cpp", "// " + std::string(117, 'x') + "\n").empty());
  std::string long_file;
  for (int i = 0; i < 601; ++i) long_file += "\n";
  CHECK(broken("tools/a.cpp", long_file) == Rules{"length"});
}

}  // namespace
}  // namespace tandem::tidy
