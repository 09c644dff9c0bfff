/// UniqueFunction: a callable that is moved, never copied, so that it may own what it captures.
/// Small callables are stored inside, without a call to the allocator.
#pragma once

#include <cstddef>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

namespace tandem {

template <class Signature>
class UniqueFunction;

template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() noexcept = default;
  UniqueFunction(std::nullptr_t) noexcept {}

  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, UniqueFunction> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
      UniqueFunction(F&& callable) {
    using Stored = std::decay_t<F>;
    if constexpr (fits<Stored>()) {
      ::new (static_cast<void*>(storage_)) Stored(std::forward<F>(callable));
      operations_ = &kInside<Stored>;
    } else {
      ::new (static_cast<void*>(storage_)) Stored*(new Stored(std::forward<F>(callable)));
      operations_ = &kOutside<Stored>;
    }
  }

  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~UniqueFunction() { reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return operations_ != nullptr; }

  /// Must not be empty.
  R operator()(Args... args) { return operations_->call(storage_, std::forward<Args>(args)...); }

 private:
  static constexpr std::size_t kStorageBytes = 48;

  struct Operations {
    R (*call)(void*, Args&&...);
    void (*move)(void* from, void* to) noexcept;  // leaves `from` destroyed
    void (*destroy)(void*) noexcept;
  };

  template <class F>
  static constexpr bool fits() {
    return sizeof(F) <= kStorageBytes && alignof(F) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<F>;
  }

  template <class F>
  static constexpr Operations kInside = {
      [](void* self, Args&&... args) -> R { return std::invoke(*static_cast<F*>(self), std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept {
        ::new (to) F(std::move(*static_cast<F*>(from)));
        static_cast<F*>(from)->~F();
      },
      [](void* self) noexcept { static_cast<F*>(self)->~F(); }};

  template <class F>
  static constexpr Operations kOutside = {[](void* self, Args&&... args) -> R {
                                            return std::invoke(**static_cast<F**>(self), std::forward<Args>(args)...);
                                          },
                                          [](void* from, void* to) noexcept { ::new (to) F*(*static_cast<F**>(from)); },
                                          [](void* self) noexcept { delete *static_cast<F**>(self); }};

  void take(UniqueFunction& other) noexcept {
    operations_ = std::exchange(other.operations_, nullptr);
    if (operations_) operations_->move(other.storage_, storage_);
  }
  void reset() noexcept {
    if (operations_) std::exchange(operations_, nullptr)->destroy(storage_);
  }

  const Operations* operations_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kStorageBytes];
};

}  // namespace tandem
