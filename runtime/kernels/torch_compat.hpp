/// What differs between LibTorch 1.13 (Debian 12) and 2.x (Debian 13), in one place. For .cpp files only.
#pragma once

#include <c10/core/Allocator.h>
#include <torch/csrc/api/include/torch/version.h>

#include <cstddef>

namespace tandem::runtime {

/// A c10::Allocator whose one function to write has the same signature everywhere.
class TorchAllocatorBase : public c10::Allocator {
 public:
#if TORCH_VERSION_MAJOR >= 2
  c10::DataPtr allocate(std::size_t bytes) override { return allocate_bytes(bytes); }
  void copy_data(void* to, const void* from, std::size_t count) const override { default_copy_data(to, from, count); }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return allocate_bytes(bytes); }
#endif

 protected:
  virtual c10::DataPtr allocate_bytes(std::size_t bytes) const = 0;
};

}  // namespace tandem::runtime
