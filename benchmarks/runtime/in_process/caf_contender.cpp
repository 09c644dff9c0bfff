#include <caf/all.hpp>
#include <vector>

#include "benchmarks/runtime/in_process/contender.hpp"

namespace tandem::bench {
namespace {

using caf::actor;
using caf::behavior;
using caf::event_based_actor;

struct System {
  caf::actor_system_config config;
  System() { config.set("scheduler.max-threads", static_cast<std::uint64_t>(kThreads)); }
};

/// A round: an actor system, and the seconds of `play(system, finish)` until `finish` has been reached.
template <class Play>
double round(std::uint64_t arrivals, Play play) {
  System made;
  caf::actor_system system(made.config);
  Finish finish(arrivals);
  const Stopwatch watch;
  play(system, finish);
  finish.wait();
  return watch.seconds();
}

behavior ponger(event_based_actor* self) {
  return {[=](std::uint64_t left) { self->send(caf::actor_cast<actor>(self->current_sender()), left); }};
}

behavior pinger(event_based_actor* self, actor other, Finish* finish) {
  return {[=](std::uint64_t left) {
    if (left == 0) {
      finish->arrive();
      self->quit();
      self->send_exit(other, caf::exit_reason::user_shutdown);
    } else {
      self->send(other, left - 1);
    }
  }};
}

struct PasserState {
  actor next;
};

behavior passer(caf::stateful_actor<PasserState>* self, Finish* finish) {
  return {[=](actor next) { self->state.next = next; },
          [=](std::uint64_t left) {
            if (left == 0) {
              finish->arrive();
            } else {
              self->send(self->state.next, left - 1);
            }
          }};
}

struct CountState {
  std::uint64_t count = 0;
};

behavior counter(caf::stateful_actor<CountState>* self, std::uint64_t until, Finish* finish) {
  return {[=](std::uint64_t) {
    if (++self->state.count == until) {
      finish->arrive();
      self->quit();
    }
  }};
}

behavior producer(event_based_actor* self, std::vector<actor> sinks, std::uint64_t each) {
  return {[=](std::uint64_t) {
    for (std::uint64_t i = 0; i < each; ++i) {
      for (const auto& sink : sinks) self->send(sink, i);
    }
    self->quit();
  }};
}

behavior worker(caf::stateful_actor<CountState>* self, std::uint64_t until, Finish* finish) {
  return {[=](std::uint64_t seed) {
    if (small_work(seed) > 2) self->quit();
    if (++self->state.count == until) {
      finish->arrive();
      self->quit();
    }
  }};
}

behavior short_lived(event_based_actor* self, actor parent) {
  return {[=](std::uint64_t seed) {
    if (small_work(seed) <= 2) self->send(parent, std::int32_t{1});
    self->quit();
  }};
}

struct ParentState {
  std::uint64_t made = 0, ended = 0;
};

behavior parent(caf::stateful_actor<ParentState>* self, std::uint64_t total, std::uint64_t at_once, Finish* finish) {
  const auto spawn_more = [=] {
    auto& state = self->state;
    while (state.made < total && state.made - state.ended < at_once) {
      self->send(self->spawn(short_lived, caf::actor_cast<actor>(self)), state.made++);
    }
  };
  return {[=](std::uint64_t) { spawn_more(); },
          [=](std::int32_t) {
            if (++self->state.ended == total) {
              finish->arrive();
              self->quit();
            } else if (self->state.made - self->state.ended <= at_once / 2) {
              spawn_more();
            }
          }};
}

struct BigState {
  std::vector<actor> others;
  Partners partners{0};
  std::uint64_t left = kBigPingsEach;
};

behavior big_actor(caf::stateful_actor<BigState>* self, std::uint64_t seed, Finish* finish) {
  self->state.partners = Partners(seed);
  const auto ping_one = [=] { self->send(self->state.others[self->state.partners.next()], std::uint64_t{1}); };
  return {[=](const std::vector<actor>& others) {
            self->state.others = others;
            ping_one();
          },
          [=](std::uint64_t) { self->send(caf::actor_cast<actor>(self->current_sender()), std::int32_t{1}); },
          [=](std::int32_t) {
            if (--self->state.left == 0) {
              finish->arrive();
            } else {
              ping_one();
            }
          }};
}

struct ChameneoState {
  int color = 0;
};

behavior chameneo(caf::stateful_actor<ChameneoState>* self, actor mall, int color, Finish* finish) {
  self->state.color = color;
  self->send(mall, static_cast<std::int32_t>(color));
  return {[=](std::int32_t other_color, const actor& other) {
            self->state.color = complement(self->state.color, other_color);
            self->send(other, static_cast<std::int32_t>(self->state.color));
            self->send(mall, static_cast<std::int32_t>(self->state.color));
          },
          [=](std::int32_t becomes) {
            self->state.color = becomes;
            self->send(mall, becomes);
          },
          [=](std::uint64_t) {
            finish->arrive();
            self->quit();
          }};
}

struct MallState {
  std::uint64_t meetings = 0, gone = 0;
  actor waiting;
};

behavior mall(caf::stateful_actor<MallState>* self) {
  return {[=](std::int32_t color) {
    auto& state = self->state;
    actor sender = caf::actor_cast<actor>(self->current_sender());
    if (state.meetings == kChameneosMeetings) {
      self->send(sender, std::uint64_t{0});
      if (state.waiting) self->send(state.waiting, std::uint64_t{0});
      state.gone += state.waiting ? 2 : 1;
      state.waiting = nullptr;
      if (state.gone == kChameneos) self->quit();
    } else if (!state.waiting) {
      state.waiting = std::move(sender);
    } else {
      ++state.meetings;
      self->send(state.waiting, color, sender);
      state.waiting = nullptr;
    }
  }};
}

behavior echo(event_based_actor*) {
  return {[](std::uint64_t value) { return value + 1; }};
}

class Caf final : public Contender {
 public:
  const char* name() const override { return "CAF " TANDEM_BENCH_CAF; }

  double ping_pong() override {
    return round(1, [](caf::actor_system& system, Finish& finish) {
      const auto other = system.spawn(ponger);
      caf::anon_send(system.spawn(pinger, other, &finish), kPingPongMessages / 2);
    });
  }

  double ring() override {
    return round(1, [](caf::actor_system& system, Finish& finish) {
      std::vector<actor> all;
      for (std::uint64_t i = 0; i < kRingActors; ++i) all.push_back(system.spawn(passer, &finish));
      for (std::size_t i = 0; i < all.size(); ++i) caf::anon_send(all[i], all[(i + 1) % all.size()]);
      caf::anon_send(all[0], kRingMessages);
      finish.wait();
      for (const auto& each : all) caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
    });
  }

  double counting() override {
    return round(1, [](caf::actor_system& system, Finish& finish) {
      std::vector<actor> sinks = {system.spawn(counter, kCountingMessages, &finish)};
      caf::anon_send(system.spawn(producer, sinks, kCountingMessages), std::uint64_t{0});
    });
  }

  double fork_join_throughput() override {
    return round(kForkJoinActors, [](caf::actor_system& system, Finish& finish) {
      std::vector<actor> sinks;
      for (std::uint64_t i = 0; i < kForkJoinActors; ++i) {
        sinks.push_back(system.spawn(worker, kForkJoinMessagesEach, &finish));
      }
      caf::anon_send(system.spawn(producer, sinks, kForkJoinMessagesEach), std::uint64_t{0});
    });
  }

  double fork_join_create() override { return lives(kForkJoinCreated, kForkJoinCreated); }
  double short_lives() override { return lives(kShortLives, kShortLivesAtOnce); }

  double big() override {
    return round(kBigActors, [](caf::actor_system& system, Finish& finish) {
      std::vector<actor> all;
      for (std::uint64_t i = 0; i < kBigActors; ++i) all.push_back(system.spawn(big_actor, i, &finish));
      for (const auto& each : all) caf::anon_send(each, all);
      finish.wait();
      for (const auto& each : all) caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
    });
  }

  double chameneos() override {
    return round(kChameneos, [](caf::actor_system& system, Finish& finish) {
      const auto place = system.spawn(mall);
      for (std::uint64_t i = 0; i < kChameneos; ++i) system.spawn(chameneo, place, static_cast<int>(i % 3), &finish);
    });
  }

  double blocking_ask() override {
    System made;
    caf::actor_system system(made.config);
    const auto server = system.spawn(echo);
    caf::scoped_actor self(system);
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < kBlockingAsks; ++i) {
      self->request(server, caf::infinite, i).receive([](std::uint64_t) {}, [](const caf::error&) {});
    }
    const double seconds = watch.seconds();
    caf::anon_send_exit(server, caf::exit_reason::user_shutdown);
    return seconds;
  }

  double idle_actor_bytes() override {
    System made;
    caf::actor_system system(made.config);
    caf::scoped_actor self(system);
    std::vector<actor> all;
    all.reserve(2 * kIdleActors);
    const auto more = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        all.push_back(system.spawn(echo));
        if (i % 100 != 0) continue;
        self->request(all.back(), caf::infinite, i).receive([](std::uint64_t) {}, [](const caf::error&) {});
      }
    };
    more(kIdleActors / 10);
    const std::uint64_t before = resident_bytes();
    more(kIdleActors);
    const std::uint64_t after = resident_bytes();
    for (const auto& each : all) caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
    return static_cast<double>(after - before) / kIdleActors;
  }

 private:
  static double lives(std::uint64_t total, std::uint64_t at_once) {
    return round(1, [&](caf::actor_system& system, Finish& finish) {
      caf::anon_send(system.spawn(parent, total, at_once, &finish), std::uint64_t{0});
    });
  }
};

}  // namespace

Contender& caf_contender() {
  static Caf contender;
  return contender;
}

}  // namespace tandem::bench
