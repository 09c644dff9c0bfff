#include "runtime/actor/envelope.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "runtime/actor/message.hpp"
#include "tests/runtime/actor/messages.capnp.h"

namespace tandem::runtime {

TEST_CASE("a reused envelope holds nothing of the message before") {
  const Envelope* place = nullptr;
  {
    auto message = make_message<test::Ping>();
    message->setNumber(77);
    message->setText("left over?");
    const EnvelopePtr envelope = std::move(message).release();
    place = envelope.get();
  }
  auto message = make_message<test::Ping>();
  CHECK(message->getNumber() == 0);
  CHECK(message->getText().size() == 0);
  message->setText("x");
  CHECK(message->asReader().getText() == "x");
  const EnvelopePtr envelope = std::move(message).release();
  CHECK(envelope.get() == place);
}

TEST_CASE("a message may outgrow its envelope, move, and be replaced") {
  auto message = make_message<test::Ping>();
  const std::string large(1'000'000, 'y');
  message->setText(large.c_str());
  auto moved = std::move(message);
  moved->setNumber(3);
  CHECK(moved->getText().size() == large.size());
  auto copy = make_message<test::Ping>(moved->asReader());
  CHECK(copy->getNumber() == 3);
  CHECK(copy->asReader().getText() == large.c_str());
  auto other = make_message<test::Ping>();
  other->setNumber(9);
  copy.set(other->asReader());
  CHECK(copy->getNumber() == 9);
  CHECK_FALSE(copy->hasText());
}

TEST_CASE("envelopes go home from other threads, and outlive the thread that made them") {
  std::vector<EnvelopePtr> kept;
  std::thread maker([&kept] {
    for (int i = 0; i < 100; ++i) kept.push_back(make_envelope(EnvelopeKind::message));
    std::thread([given = std::move(kept.back())]() mutable { given.reset(); }).join();
    kept.pop_back();
  });
  maker.join();
  CHECK(kept.size() == 99);
  kept.clear();
}

}  // namespace tandem::runtime
