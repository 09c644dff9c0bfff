/// Accesses of TBB's own headers only (the topmost frame, and its count of tasks): its library, built without
/// ThreadSanitizer, orders them. Races in the work that TBB runs are still reported.
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:oneapi/tbb/\n"
         "race:tbb::detail::d1::wait_context\n";
}
