// The lock of the model. Threads that capture take it for a fraction of a microsecond, again and
// again: who finds it taken tries again for a while, then lets others run, and only then sleeps,
// because to be woken takes longer than to wait. Recursive, since a subscriber may call back from
// inside a call.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace graphkit::soft {

class DeviceMutex {
 public:
  void lock() {
    if (owner_.load(std::memory_order_relaxed) == Self()) {
      ++depth_;
      return;
    }
    if (!Try()) mutex_.lock();
    owner_.store(Self(), std::memory_order_relaxed);
  }
  void unlock() {
    if (depth_ > 0) {
      --depth_;
      return;
    }
    owner_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  static constexpr int kRounds = 20, kTries = 100;  // a round: a few microseconds

  // The calling thread's own id; only it ever reads itself as the owner.
  static uintptr_t Self() {
    static thread_local char self;
    return reinterpret_cast<uintptr_t>(&self);
  }

  bool Try() {
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kTries; ++i) {
        if (owner_.load(std::memory_order_relaxed) == 0 && mutex_.try_lock()) return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
      sched_yield();
    }
    return false;
  }

  std::mutex mutex_;
  std::atomic<uintptr_t> owner_{0};
  uint32_t depth_ = 0;  // of calls within calls; the owner's
};

}  // namespace graphkit::soft
