/// What TBB does by itself only: accesses in its headers (the topmost frame, and its count of tasks), and what its
/// library, built without ThreadSanitizer, hands to functions that are watched. Races in the work that TBB runs are
/// still reported.
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:oneapi/tbb/\n"
         "race:tbb::detail::d1::wait_context\n"
         "called_from_lib:libtbb.so\n";
}
