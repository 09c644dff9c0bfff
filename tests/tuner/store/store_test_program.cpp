/// store_test_program DIRECTORY [claim]: stores a study "one" with two events, says "y", and waits to be killed.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "tuner/store/store.hpp"

using namespace tandem::tuner;

int main(int count, char** words) {
  if (count < 2) return 2;
  auto store = open_sqlite_store(words[1]);
  const bool claims = count > 2 && std::string_view(words[2]) == "claim";
  const bool done = store && (!claims || (*store)->claim("one")) && (*store)->create({"one", "", 1, "running", 0}) &&
                    (*store)->append("one", {TrialStarted{0, 0, "w"}, TrialStarted{0, 1, "w"}});
  std::puts(done ? "y" : "n");
  std::fflush(stdout);
  while (true) ::pause();
}
