// Selects the work outside of captures that is recorded without `--scope all`: all work that is
// submitted while a capture is open, and work with an address in memory that was allocated in
// captures.
//
// Every call that submits work asks, without the recorder's lock, so most of it is told apart by a
// few comparisons: the memory is kept as few ranges, which may hold more than was asked for. The
// recorder looks again. A call that runs beside the one that changes the ranges may see either.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libgraphkit/units.h"
#include "plugins/cupti_tracer/calls/calls.h"
#include "plugins/cupti_tracer/recorder/kernels.h"
#include "plugins/cupti_tracer/recorder/tensor_maps.h"

namespace graphkit {

class EagerWatch {
 public:
  static constexpr uint32_t kMostRanges = 8;

  // No work matters.
  bool idle() const { return state_.load(std::memory_order_relaxed) == 0; }
  bool capturing() const { return (state_.load(std::memory_order_relaxed) & kCapturing) != 0; }

  bool MayHold(Address address) const {
    if (address - lowest_.load(std::memory_order_relaxed) >=
        extent_.load(std::memory_order_relaxed)) {
      return false;
    }
    const uint32_t count = count_.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i) {
      if (address - begins_[i].load(std::memory_order_relaxed) <
          sizes_[i].load(std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  // The same of any of the bytes from there on.
  bool MayHold(Address address, Bytes bytes) const;
  // A copy, a memset, or what a batch has of them.
  bool MayHold(const Operation& operation) const;
  // A launch's arguments, as the kernel lays them out.
  bool MayHold(const KernelWork& launch, const KernelInfo& kernel) const;

  // Under the recorder's lock. What is added is taken away again piece by piece; the ranges stay as
  // they are until nothing is left.
  void SetCapturing(bool capturing);
  void Add(Address address, Bytes size);
  void Remove();
  // The program has tensor maps: where they lead is known under the lock only.
  void SeeTensorMap() { tensor_maps_.store(true, std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kCapturing = 1, kMemory = 2;

  void SetRange(uint32_t at, Address begin, Address end);
  Address EndOf(uint32_t at) const { return begins_[at] + sizes_[at]; }

  std::atomic<uint32_t> state_{0};
  std::atomic<uint32_t> count_{0};
  std::atomic<bool> tensor_maps_{false};
  std::atomic<Address> lowest_{0}, extent_{0};  // of all ranges
  std::atomic<Address> begins_[kMostRanges] = {}, sizes_[kMostRanges] = {};
  size_t added_ = 0;
};

}  // namespace graphkit
