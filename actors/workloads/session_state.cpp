#include "actors/workloads/session_state.hpp"

#include <zlib.h>

#include <bit>
#include <cstring>
#include <type_traits>

namespace tandem::actors {

namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are written as they lie in memory");

constexpr std::string_view kMagic = "TNDMSESS";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = kMagic.size() + sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t);
constexpr std::size_t kArrays = 64;

template <class T>
void put(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// Takes values off the front; `ok` is false from the first one that is not there.
struct Reader {
  std::string_view bytes;
  bool ok = true;

  template <class T>
  T take() {
    T value{};
    if (!ok || bytes.size() < sizeof(T)) {
      ok = false;
      return value;
    }
    std::memcpy(&value, bytes.data(), sizeof(T));
    bytes.remove_prefix(sizeof(T));
    return value;
  }

  std::vector<float> take_floats() {
    const auto count = take<std::uint64_t>();
    if (!ok || count > bytes.size() / sizeof(float)) {
      ok = false;
      return {};
    }
    std::vector<float> values(count);
    if (count > 0) std::memcpy(values.data(), bytes.data(), count * sizeof(float));
    bytes.remove_prefix(count * sizeof(float));
    return values;
  }
};

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

std::string write_state(const SessionState& state) {
  std::string payload;
  put(payload, state.step_index);
  put(payload, state.epoch_samples);
  put(payload, state.epoch_loss);
  put(payload, state.optimizer_updates);
  put(payload, static_cast<std::uint64_t>(state.arrays.size()));
  for (const auto& array : state.arrays) {
    put(payload, static_cast<std::uint64_t>(array.size()));
    payload.append(reinterpret_cast<const char*>(array.data()), array.size() * sizeof(float));
  }
  std::string bytes(kMagic);
  put(bytes, kVersion);
  put(bytes, state.fingerprint);
  put(bytes, static_cast<std::uint64_t>(payload.size()));
  bytes += payload;
  put(bytes, checksum(bytes));
  return bytes;
}

Result<SessionState> read_state(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes + sizeof(std::uint32_t) || bytes.substr(0, kMagic.size()) != kMagic) {
    return fail(ErrorCode::data_loss, "checkpoint: cut short or not one: {} bytes", bytes.size());
  }
  Reader header{bytes.substr(kMagic.size(), kHeaderBytes - kMagic.size())};
  const auto version = header.take<std::uint32_t>();
  if (version != kVersion) {
    return fail(ErrorCode::data_loss, "checkpoint: version {}, this program reads version {}", version, kVersion);
  }
  SessionState state;
  state.fingerprint = header.take<std::uint64_t>();
  const auto length = header.take<std::uint64_t>();
  const std::string_view covered = bytes.substr(0, bytes.size() - sizeof(std::uint32_t));
  if (length != covered.size() - kHeaderBytes) {
    return fail(ErrorCode::data_loss, "checkpoint: {} bytes of payload, but its header tells of {}",
                covered.size() - kHeaderBytes, length);
  }
  Reader tail{bytes.substr(covered.size())};
  if (tail.take<std::uint32_t>() != checksum(covered)) {
    return fail(ErrorCode::data_loss, "checkpoint: the checksum does not match: it is damaged");
  }
  Reader payload{covered.substr(kHeaderBytes)};
  state.step_index = payload.take<std::int64_t>();
  state.epoch_samples = payload.take<std::int64_t>();
  state.epoch_loss = payload.take<double>();
  state.optimizer_updates = payload.take<std::int64_t>();
  const auto arrays = payload.take<std::uint64_t>();
  if (arrays > kArrays) payload.ok = false;
  for (std::uint64_t i = 0; payload.ok && i < arrays; ++i) state.arrays.push_back(payload.take_floats());
  if (!payload.ok || !payload.bytes.empty() || state.step_index < 0) {
    return fail(ErrorCode::data_loss, "checkpoint: its payload does not make sense");
  }
  return state;
}

}  // namespace tandem::actors
