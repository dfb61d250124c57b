// Launches of kernels outside of captures, by kernel and by the place in the program that makes
// them: how many, and the values that their grids and arguments had. They are never recorded one by
// one; a record for each place is made when a capture begins, and at the end.
//
// A place is known by its call stack, and a stack is too much to take for each launch. So it is
// taken once, and of its frames is kept where their return addresses lie. A launch whose stack has
// the same return addresses there comes from the same place. Of a kernel with more places than that
// is done for, the others are one site without a stack.
//
//     the tracer's frame ─┐ anchor
//     libcuda, cudart     │
//     Attend(float*)      ├─ +0x1a8  → 0x5581c0     a chain: offsets from the anchor, and a hash
//     Step(Model&)        ├─ +0x1e8  → 0x558230     of what stands there, and of Python's frames
//     main                └─ +0x248  → 0x5583f1
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/recorder/kernels.h"
#include "plugins/cupti_tracer/stacks/call_stack.h"

namespace graphkit {

// The values of one number: the first few, the least and the greatest. Its thread adds, any reads.
class SeenValues {
 public:
  static constexpr size_t kMost = EagerSite::kMostSeen;

  void Add(uint64_t value, uint8_t size) {
    const uint32_t count = count_.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i) {
      if (values_[i].load(std::memory_order_relaxed) == value) return;
    }
    AddNew(value, size, count);
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    const uint32_t count = count_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) visit(values_[i].load(std::memory_order_relaxed));
  }

 private:
  void AddNew(uint64_t value, uint8_t size, uint32_t count);

  std::atomic<uint32_t> count_{0};
  std::array<std::atomic<uint64_t>, kMost> values_{};
};

// The launches that one thread makes of a kernel from one place.
class SiteOfThread {
 public:
  SiteOfThread(const KernelInfo& kernel, StackId stack)
      : kernel_(kernel), stack_(stack), seen_(3 + kernel.scalars.size()) {}

  // `number`: of the thread's launches.
  void Add(const KernelWork& launch, uint64_t number);
  // Nothing if nothing was added since the last record.
  std::optional<EagerSiteRecord> Next(ThreadId thread, std::vector<Scalar>& scalars);

 private:
  const KernelInfo& kernel_;
  StackId stack_;
  uint64_t written_ = 0;
  std::atomic<uint64_t> launches_{0}, first_{0}, last_{0};
  std::vector<SeenValues> seen_;  // of the grid's extents, then of the kernel's scalars
};

// The places of one thread.
class ThreadSites {
 public:
  explicit ThreadSites(ThreadId thread) : thread_(thread) {}

  // Counts a launch. False: its place isn't known, and is to be added. `anchor`: where the
  // tracer's own outermost frame lies; python: the innermost frames.
  bool Count(const KernelWork& launch, uint64_t anchor, uint64_t stack_end,
             std::span<const PythonFrame> python);

  // The handles of functions may stand for others from now on.
  void ForgetFunctions() {
    functions_.Clear();
    places_.Clear();
  }

 private:
  friend class EagerSites;
  static constexpr size_t kMostFramesKept = 24, kMostChains = 8, kMostTries = 256;

  struct Chain {
    uint32_t count = 0;
    std::array<uint32_t, kMostFramesKept> offsets{};
  };
  struct Function {
    // False: a launch with this chain can't be found again.
    bool Keep(const Chain& chain);

    std::vector<Chain> chains;
    uint32_t tries = 0;            // of stacks that were taken
    SiteOfThread* rest = nullptr;  // launches from places that aren't known
  };

  static Chain ChainOf(uint64_t anchor, std::span<const FramePlace> frames, bool has_python);
  static uint64_t KeyOf(uint64_t function, const Chain& chain, uint64_t anchor,
                        std::span<const PythonFrame> python);

  ThreadId thread_;
  uint64_t launches_ = 1;  // that began
  HandleMap<std::shared_ptr<Function>> functions_;
  HandleMap<SiteOfThread*> places_;  // by key
  std::deque<SiteOfThread> sites_;
};

// Those of all threads, under the recorder's lock.
class EagerSites {
 public:
  // As many as lie between a launch and the program's own line: 20 in a hook of FSDP2.
  static constexpr size_t kPythonFrames = 40;

  ThreadSites& AddThread(ThreadId thread) { return threads_.emplace_back(thread); }
  // Makes the place of a launch known; `frames`: its own, without CUDA's and the tracer's.
  void Add(ThreadSites& thread, const KernelWork& launch, const KernelInfo& kernel, StackId stack,
           uint64_t anchor, std::span<const FramePlace> frames,
           std::span<const PythonFrame> python);
  // Writes what changed since the last time.
  void Write(Records& records, uint64_t time);

 private:
  static constexpr size_t kMostSites = 16384;

  std::deque<ThreadSites> threads_;
  size_t sites_ = 0;
};

}  // namespace graphkit
