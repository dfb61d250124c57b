// A lock that is held for less than a microsecond, by threads that take turns all the time: who
// finds it taken tries again for a while, then lets others run, and only then sleeps, because to be
// woken takes longer than to wait. A free one is taken, and given back, by one instruction.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace graphkit {

class PatientMutex {
 public:
  void lock() {
    if (!Try()) LockTaken();
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kSlept) state_.notify_one();
  }

 private:
  static constexpr uint32_t kFree = 0, kTaken = 1, kSlept = 2;  // taken, and some may sleep
  static constexpr int kRounds = 20, kTries = 100;              // a round: a few microseconds

  bool Try() {
    uint32_t free = kFree;
    return state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  [[gnu::noinline]] void LockTaken() {
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kTries; ++i) {
        if (state_.load(std::memory_order_relaxed) == kFree && Try()) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
      sched_yield();
    }
    while (state_.exchange(kSlept, std::memory_order_acquire) != kFree) {
      state_.wait(kSlept, std::memory_order_relaxed);
    }
  }

  std::atomic<uint32_t> state_{kFree};
};

}  // namespace graphkit
