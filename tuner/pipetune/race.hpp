/// Race: finds the fastest of some configurations with little waste. Every one gets a look, the most promising first;
/// those clearly slower drop out; the rest are measured longer and longer until one is left or they are as good as
/// equal. Each configuration is measured as a whole: no parameter is ever judged on its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/pipetune/step_statistics.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// One configuration in the race and what is known of it.
struct Entrant {
  Parameters system;
  std::vector<double> step_seconds;     ///< the newest, up to a limit
  std::vector<double> joules_per_step;  ///< one of each window
  double change_seconds = 0;            ///< lost the last time it was changed to; 0: not known
  double prior_seconds = 0;             ///< of an earlier race: what to expect; 0: nothing
  int bad_looks = 0;                    ///< looks ended early
  bool looked = false;
  bool dropped = false;     ///< hopeless: lost by far
  bool beaten = false;      ///< measured, and clearly slower
  std::string apply_error;  ///< not empty: it cannot be applied

  [[nodiscard]] bool usable() const noexcept { return apply_error.empty(); }
  [[nodiscard]] bool alive() const noexcept { return usable() && !dropped && !beaten; }
};

struct RaceWindow {
  std::size_t entrant = 0;
  int steps = 0;                  ///< to measure
  double abort_step_seconds = 0;  ///< 0: no limit
  bool cold = false;              ///< even the first step counts
};

class Race {
 public:
  /// The first candidate is the default configuration, the others stand in the order of their promise.
  Race(const std::vector<Parameters>& candidates, bool minimize_energy);
  Race(std::vector<Entrant> entrants, bool minimize_energy, double yardstick_seconds);

  /// A step time that any sensible configuration reaches about: the reference's.
  void set_yardstick(double step_seconds) noexcept { yardstick_seconds_ = step_seconds; }

  /// The next window. nullopt: decided, or what is left of the budget does not pay for more.
  /// `spent_seconds` and `budget_seconds` are excess seconds.
  [[nodiscard]] std::optional<RaceWindow> next(double spent_seconds, double budget_seconds) const;
  /// Measured steps of a window, the last beyond `abort_step_seconds` if it was ended early.
  /// `change_seconds`: what applying it and warming up took beyond the steps themselves; 0: not known.
  void record(const RaceWindow& window, const std::vector<double>& step_seconds, double joules_per_step,
              double change_seconds);
  void remove(std::size_t entrant, std::string apply_error);
  /// Forgets measurements, since conditions have changed; what was hopeless stays out.
  void restart();

  /// The best usable entrant with measurements, if any.
  [[nodiscard]] std::optional<std::size_t> best() const;
  /// Median of an entrant; 0: not measured.
  [[nodiscard]] double step_seconds(std::size_t entrant) const;
  /// True if enough was seen for others to rely on the winner.
  [[nodiscard]] bool conclusive() const;

  [[nodiscard]] const std::vector<Entrant>& entrants() const noexcept { return entrants_; }
  [[nodiscard]] std::optional<std::size_t> find(const Parameters& system) const;
  [[nodiscard]] double yardstick_seconds() const noexcept { return yardstick_seconds_; }

 private:
  /// Who is looked at: the first half as promised and as far as predicted near the incumbent; all those near; all.
  enum class Turn { promising, near, far };
  [[nodiscard]] LogEstimate score(const Entrant& entrant) const;
  [[nodiscard]] bool by_energy() const;
  [[nodiscard]] double abort_factor() const noexcept;
  [[nodiscard]] double incumbent_seconds() const;
  [[nodiscard]] std::optional<RaceWindow> next_look(Turn turn, double spent_seconds, double budget_seconds) const;
  [[nodiscard]] RaceWindow look_at(std::size_t entrant, double budget_seconds) const;
  [[nodiscard]] std::optional<RaceWindow> look_at_defaults(double spent_seconds, double budget_seconds) const;
  [[nodiscard]] std::optional<RaceWindow> next_measurement(double spent_seconds, double budget_seconds) const;
  [[nodiscard]] std::vector<double> predict() const;
  [[nodiscard]] double change_seconds(std::size_t entrant) const;
  void drop_losers();

  std::vector<Entrant> entrants_;
  bool minimize_energy_ = false;
  double yardstick_seconds_ = 0;
};

}  // namespace tandem::tuner
