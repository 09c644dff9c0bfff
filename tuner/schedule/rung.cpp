#include "tuner/schedule/rung.hpp"

#include <algorithm>

namespace tandem::tuner {

bool Rung::add(TrialId trial, double cost) {
  const Entry entry{cost == 0 ? 0.0 : cost, trial};  // -0 and 0 tie
  // The report joins the better part if it beats somebody there; then the parts get their sizes back.
  if (!best_.empty() && entry < *best_.rbegin()) {
    best_.insert(entry);
    available_.insert(entry);
  } else {
    rest_.insert(entry);
  }
  const std::size_t size = (best_.size() + rest_.size()) / reduction_factor_;
  while (best_.size() > size) {
    const auto worst = std::prev(best_.end());
    available_.erase(*worst);
    rest_.insert(*worst);
    best_.erase(worst);
  }
  while (best_.size() < size) {
    const auto next = rest_.begin();
    if (!taken_.contains(next->trial)) available_.insert(*next);
    best_.insert(*next);
    rest_.erase(next);
  }
  return best_.empty() ? *rest_.begin() == entry : best_.contains(entry);
}

std::optional<TrialId> Rung::take_best() {
  if (available_.empty()) return std::nullopt;
  return take(*available_.begin());
}

std::optional<TrialId> Rung::take_best_of_at_least_one() {
  if (!best_.empty()) return take_best();
  if (rest_.empty() || taken_.contains(rest_.begin()->trial)) return std::nullopt;
  return take(*rest_.begin());
}

void Rung::withdraw(TrialId trial) {
  taken_.insert(trial);
  const auto found =
      std::find_if(available_.begin(), available_.end(), [&](const Entry& entry) { return entry.trial == trial; });
  if (found != available_.end()) available_.erase(found);
}

std::optional<TrialId> Rung::take(const Entry& entry) {
  const TrialId trial = entry.trial;
  taken_.insert(trial);
  available_.erase(Entry(entry));
  return trial;
}

}  // namespace tandem::tuner
