#include "runtime/host/sampler.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/base/limits.hpp"
#include "runtime/host/perf_events.hpp"
#include "runtime/host/system_files.hpp"

namespace tandem::runtime {

namespace {

double seconds_of(const timeval& time) noexcept {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// One thread's schedstat file, kept open: opening it costs more than reading it.
class WaitFile {
 public:
  explicit WaitFile(int thread)
      : fd_(::open(fmt::format("/proc/self/task/{}/schedstat", thread).c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~WaitFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  WaitFile(WaitFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  WaitFile& operator=(WaitFile&&) = delete;

  /// Nanoseconds spent ready but not running: the second number.
  [[nodiscard]] std::uint64_t read() const noexcept {
    char text[96];
    const ssize_t count = fd_ < 0 ? 0 : ::pread(fd_, text, sizeof text, 0);
    if (count <= 0) return 0;
    std::string_view words(text, static_cast<std::size_t>(count));
    (void)next_word(words);
    const auto wait = next_word(words);
    return wait ? parse_number<std::uint64_t>(*wait).value_or(0) : 0;
  }

 private:
  int fd_;
};

/// The threads of this process, from a directory kept open: seven times as fast as opening it anew.
class ThreadList {
 public:
  ThreadList() : directory_(::opendir("/proc/self/task"), ::closedir) {}

  /// The first limits::kSampledThreads.
  [[nodiscard]] std::vector<int> read() const {
    std::vector<int> threads;
    if (!directory_) return threads;
    ::rewinddir(directory_.get());
    while (const dirent* entry = ::readdir(directory_.get())) {
      const auto thread = parse_number<int>(entry->d_name);
      if (thread && threads.size() < limits::kSampledThreads) threads.push_back(*thread);
    }
    return threads;
  }

 private:
  std::unique_ptr<DIR, int (*)(DIR*)> directory_;
};

}  // namespace

class ResourceSampler::Counters {
 public:
  Counters() {
    const auto threads = threads_.read();
    for (const auto& kind : perf_event_kinds()) {
      for (const int thread : threads) {
        auto counter = PerfCounter::open(kind, thread);
        if (counter)
          counters_.push_back(std::move(*counter));
        else if (thread == threads.front())
          break;  // this host does not count it
      }
    }
    counts_.resize(counters_.size());
  }

  void begin() {
    read_waits(waits_);
    for (std::size_t i = 0; i < counters_.size(); ++i) counts_[i] = counters_[i].read();
    ::getrusage(RUSAGE_SELF, &usage_);
    begun_ = true;
  }

  ResourceUse end() {
    ResourceUse use;
    if (!std::exchange(begun_, false)) return use;
    rusage now{};
    ::getrusage(RUSAGE_SELF, &now);
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      const auto& kind = counters_[i].kind();
      use.events[kind.name] += scaled_difference(counts_[i], counters_[i].read()) * kind.unit;
    }
    std::map<int, std::uint64_t> waits;
    read_waits(waits);
    for (const auto& [thread, wait] : waits) {
      const auto before = waits_.find(thread);
      const std::uint64_t start = before == waits_.end() ? 0 : before->second;
      if (wait > start) use.run_queue_wait_seconds += static_cast<double>(wait - start) * 1e-9;
    }
    use.user_seconds = seconds_of(now.ru_utime) - seconds_of(usage_.ru_utime);
    use.system_seconds = seconds_of(now.ru_stime) - seconds_of(usage_.ru_stime);
    use.minor_faults = now.ru_minflt - usage_.ru_minflt;
    use.major_faults = now.ru_majflt - usage_.ru_majflt;
    use.voluntary_switches = now.ru_nvcsw - usage_.ru_nvcsw;
    use.involuntary_switches = now.ru_nivcsw - usage_.ru_nivcsw;
    return use;
  }

  [[nodiscard]] std::vector<std::string> event_names() const {
    std::vector<std::string> names;
    for (const auto& counter : counters_) {
      if (names.empty() || names.back() != counter.kind().name) names.emplace_back(counter.kind().name);
    }
    return names;
  }

 private:
  void read_waits(std::map<int, std::uint64_t>& waits) {
    waits.clear();
    const auto threads = threads_.read();
    std::erase_if(files_, [&](const auto& entry) {
      return std::find(threads.begin(), threads.end(), entry.first) == threads.end();
    });
    for (const int thread : threads) waits[thread] = files_.try_emplace(thread, thread).first->second.read();
  }

  const ThreadList threads_;
  std::vector<PerfCounter> counters_;  ///< those of one kind stand together
  std::vector<PerfCount> counts_;
  std::map<int, WaitFile> files_;
  std::map<int, std::uint64_t> waits_;
  rusage usage_{};
  bool begun_ = false;
};

ResourceSampler::ResourceSampler() = default;
ResourceSampler::~ResourceSampler() = default;

void ResourceSampler::begin() {
  if (!counters_) counters_ = std::make_unique<Counters>();
  counters_->begin();
}

ResourceUse ResourceSampler::end() { return counters_ ? counters_->end() : ResourceUse{}; }

std::vector<std::string> ResourceSampler::event_names() {
  if (!counters_) counters_ = std::make_unique<Counters>();
  return counters_->event_names();
}

std::vector<EventSupport> probe_events() {
  std::vector<EventSupport> support;
  for (const auto& kind : perf_event_kinds()) {
    const int error_number = PerfCounter::probe(kind);
    support.push_back({kind.name, kind.hardware, error_number == 0, error_number});
  }
  return support;
}

}  // namespace tandem::runtime
