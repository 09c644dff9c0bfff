#include <vector>

#include "benchmarks/runtime/in_process/contender.hpp"
#include "benchmarks/runtime/in_process/messages.capnp.h"
#include "runtime/actor/runtime.hpp"

namespace tandem::bench {
namespace {

using runtime::Actor;
using runtime::ActorRef;
using runtime::Incoming;
using runtime::make_message;
using runtime::Outgoing;
using runtime::Runtime;
using runtime::SpawnOptions;

constexpr Duration kPatience = std::chrono::seconds(60);

Outgoing<Number> number(std::uint64_t value) {
  auto message = make_message<Number>();
  message->setValue(value);
  return message;
}

Outgoing<Answer> answer(std::uint64_t value) {
  auto message = make_message<Answer>();
  message->setValue(value);
  return message;
}

std::unique_ptr<Runtime> make_runtime() {
  runtime::RuntimeOptions options;
  options.threads = kThreads;
  return std::make_unique<Runtime>(options);
}

/// A round: a runtime, and the seconds of `play(runtime, finish)` until `finish` has been reached.
template <class Play>
double round(std::uint64_t arrivals, Play play) {
  Finish finish(arrivals);
  const auto runtime = make_runtime();
  const Stopwatch watch;
  play(*runtime, finish);
  finish.wait();
  return watch.seconds();
}

class Ponger final : public Actor {
 protected:
  void on_start() override {
    on<Number>([this](Number::Reader message, Incoming& in) { (void)send(in.sender(), number(message.getValue())); });
  }
};

class Pinger final : public Actor {
 public:
  Pinger(ActorRef other, Finish* finish) : other_(other), finish_(finish) {}

 protected:
  void on_start() override {
    on<Number>([this](Number::Reader message, Incoming&) {
      if (message.getValue() == 0) return finish_->arrive();
      (void)send(other_, number(message.getValue() - 1));
    });
  }

 private:
  ActorRef other_;
  Finish* finish_;
};

class Passer final : public Actor {
 public:
  explicit Passer(Finish* finish) : finish_(finish) {}

 protected:
  void on_start() override {
    on<Meeting>([this](Meeting::Reader message, Incoming&) { next_ = runtime::from_address(message.getOther()); });
    on<Number>([this](Number::Reader message, Incoming&) {
      if (message.getValue() == 0) return finish_->arrive();
      (void)send(next_, number(message.getValue() - 1));
    });
  }

 private:
  ActorRef next_;
  Finish* finish_;
};

/// Counts to a number, then ends.
class Counter final : public Actor {
 public:
  Counter(std::uint64_t until, bool works, Finish* finish) : until_(until), works_(works), finish_(finish) {}

 protected:
  void on_start() override {
    on<Number>([this](Number::Reader message, Incoming&) {
      if (works_ && small_work(message.getValue()) > 2) stop();
      if (++count_ < until_) return;
      finish_->arrive();
      stop();
    });
  }

 private:
  std::uint64_t until_;
  bool works_;
  Finish* finish_;
  std::uint64_t count_ = 0;
};

/// Sends to each in turn. A full mailbox is met by going on in a later turn.
class Producer final : public Actor {
 public:
  Producer(std::vector<ActorRef> sinks, std::uint64_t each) : sinks_(std::move(sinks)), each_(each) {}

 protected:
  void on_start() override {
    on<Number>([this](auto, Incoming&) { produce(); });
  }

 private:
  void produce() {
    for (; sent_ < each_ * sinks_.size(); ++sent_) {
      if (send(sinks_[sent_ % sinks_.size()], number(sent_))) continue;
      (void)send(self(), number(0));
      return;
    }
    stop();
  }

  std::vector<ActorRef> sinks_;
  std::uint64_t each_;
  std::uint64_t sent_ = 0;
};

class ShortLived final : public Actor {
 public:
  explicit ShortLived(ActorRef parent) : parent_(parent) {}

 protected:
  void on_start() override {
    on<Number>([this](Number::Reader message, Incoming&) {
      if (small_work(message.getValue()) <= 2) (void)send(parent_, answer(1));
      stop();
    });
  }

 private:
  ActorRef parent_;
};

class Parent final : public Actor {
 public:
  Parent(std::uint64_t total, std::uint64_t at_once, Finish* finish)
      : total_(total), at_once_(at_once), finish_(finish) {}

 protected:
  void on_start() override {
    on<Number>([this](auto, Incoming&) { spawn_more(); });
    on<Answer>([this](auto, Incoming&) {
      if (++ended_ == total_) {
        finish_->arrive();
        stop();
      } else if (made_ - ended_ <= at_once_ / 2) {
        spawn_more();
      }
    });
  }

 private:
  void spawn_more() {
    for (; made_ < total_ && made_ - ended_ < at_once_; ++made_) {
      (void)send(runtime().spawn<ShortLived>({}, self()), number(made_));
    }
  }

  std::uint64_t total_, at_once_;
  Finish* finish_;
  std::uint64_t made_ = 0, ended_ = 0;
};

class Big final : public Actor {
 public:
  Big(const std::vector<ActorRef>* others, std::uint64_t seed, Finish* finish)
      : others_(others), partners_(seed), finish_(finish) {}

 protected:
  void on_start() override {
    on<Exit>([this](auto, Incoming&) { ping_one(); });
    on<Number>([this](auto, Incoming& in) { (void)send(in.sender(), answer(1)); });
    on<Answer>([this](auto, Incoming&) {
      if (--left_ == 0) {
        finish_->arrive();
      } else {
        ping_one();
      }
    });
  }

 private:
  void ping_one() { (void)send((*others_)[partners_.next()], number(1)); }

  const std::vector<ActorRef>* others_;
  Partners partners_;
  Finish* finish_;
  std::uint64_t left_ = kBigPingsEach;
};

class Chameneo final : public Actor {
 public:
  Chameneo(ActorRef mall, int color, Finish* finish) : mall_(mall), color_(color), finish_(finish) {}

 protected:
  void on_start() override {
    on<Meeting>([this](Meeting::Reader met, Incoming&) {
      color_ = complement(color_, met.getColor());
      auto change = make_message<Change>();
      change->setColor(color_);
      (void)send(runtime::from_address(met.getOther()), std::move(change));
      go();
    });
    on<Change>([this](Change::Reader change, Incoming&) {
      color_ = change.getColor();
      go();
    });
    on<Exit>([this](auto, Incoming&) {
      finish_->arrive();
      stop();
    });
    go();
  }

 private:
  void go() {
    auto here = make_message<Change>();
    here->setColor(color_);
    (void)send(mall_, std::move(here));
  }

  ActorRef mall_;
  int color_;
  Finish* finish_;
};

class Mall final : public Actor {
 protected:
  void on_start() override {
    on<Change>([this](Change::Reader visitor, Incoming& in) {
      if (meetings_ == kChameneosMeetings) {
        (void)send(in.sender(), make_message<Exit>());
        if (waiting_) (void)send(waiting_, make_message<Exit>());
        waiting_ = {};
      } else if (!waiting_) {
        waiting_ = in.sender();
      } else {
        ++meetings_;
        auto meeting = make_message<Meeting>();
        meeting->setColor(visitor.getColor());
        runtime::to_address(in.sender(), meeting->initOther());
        (void)send(waiting_, std::move(meeting));
        waiting_ = {};
      }
    });
  }

 private:
  std::uint64_t meetings_ = 0;
  ActorRef waiting_;
};

class Echo final : public Actor {
 protected:
  void on_start() override {
    on<Number>([](Number::Reader message, Incoming& in) { in.reply(answer(message.getValue() + 1)); });
  }
};

class Tandem final : public Contender {
 public:
  const char* name() const override { return "Tandem"; }

  double ping_pong() override {
    return round(1, [](Runtime& runtime, Finish& finish) {
      const ActorRef other = runtime.spawn<Ponger>({});
      (void)runtime.send(runtime.spawn<Pinger>({}, other, &finish), number(kPingPongMessages / 2));
    });
  }

  double ring() override {
    return round(1, [](Runtime& runtime, Finish& finish) {
      std::vector<ActorRef> all;
      for (std::uint64_t i = 0; i < kRingActors; ++i) all.push_back(runtime.spawn<Passer>({}, &finish));
      for (std::size_t i = 0; i < all.size(); ++i) {
        auto introduce = make_message<Meeting>();
        runtime::to_address(all[(i + 1) % all.size()], introduce->initOther());
        (void)runtime.send(all[i], std::move(introduce));
      }
      (void)runtime.send(all[0], number(kRingMessages));
    });
  }

  double counting() override {
    return round(1, [](Runtime& runtime, Finish& finish) {
      produce(runtime, {runtime.spawn<Counter>({}, kCountingMessages, false, &finish)}, kCountingMessages);
    });
  }

  double fork_join_throughput() override {
    return round(kForkJoinActors, [](Runtime& runtime, Finish& finish) {
      std::vector<ActorRef> sinks;
      for (std::uint64_t i = 0; i < kForkJoinActors; ++i) {
        sinks.push_back(runtime.spawn<Counter>({}, kForkJoinMessagesEach, true, &finish));
      }
      produce(runtime, std::move(sinks), kForkJoinMessagesEach);
    });
  }

  double fork_join_create() override { return lives(kForkJoinCreated, kForkJoinCreated); }
  double short_lives() override { return lives(kShortLives, kShortLivesAtOnce); }

  double big() override {
    std::vector<ActorRef> all;
    return round(kBigActors, [&all](Runtime& runtime, Finish& finish) {
      for (std::uint64_t i = 0; i < kBigActors; ++i) all.push_back(runtime.spawn<Big>({}, &all, i, &finish));
      for (const ActorRef each : all) (void)runtime.send(each, make_message<Exit>());
      finish.wait();
    });
  }

  double chameneos() override {
    return round(kChameneos, [](Runtime& runtime, Finish& finish) {
      const ActorRef mall = runtime.spawn<Mall>({});
      for (std::uint64_t i = 0; i < kChameneos; ++i) {
        runtime.spawn<Chameneo>({}, mall, static_cast<int>(i % 3), &finish);
      }
    });
  }

  double blocking_ask() override {
    const auto runtime = make_runtime();
    const ActorRef server = runtime->spawn<Echo>({});
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < kBlockingAsks; ++i) {
      (void)runtime->ask_blocking<Answer>(server, number(i), kPatience);
    }
    return watch.seconds();
  }

  double idle_actor_bytes() override {
    const auto runtime = make_runtime();
    const auto more = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const ActorRef made = runtime->spawn<Echo>({});
        if (i % 100 == 0) (void)runtime->ask_blocking<Answer>(made, number(i), kPatience);
      }
    };
    more(kIdleActors / 10);
    const std::uint64_t before = resident_bytes();
    more(kIdleActors);
    return static_cast<double>(resident_bytes() - before) / kIdleActors;
  }

 private:
  static void produce(Runtime& runtime, std::vector<ActorRef> sinks, std::uint64_t each) {
    (void)runtime.send(runtime.spawn<Producer>({}, std::move(sinks), each), number(0));
  }

  static double lives(std::uint64_t total, std::uint64_t at_once) {
    return round(1, [&](Runtime& runtime, Finish& finish) {
      SpawnOptions options;
      options.mailbox_messages = static_cast<std::uint32_t>(at_once) + 1;  // every child alive may have answered
      (void)runtime.send(runtime.spawn<Parent>(options, total, at_once, &finish), number(0));
    });
  }
};

}  // namespace

Contender& tandem_contender() {
  static Tandem contender;
  return contender;
}

}  // namespace tandem::bench
