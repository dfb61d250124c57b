// A lock that is held for less than a microsecond, by threads that take turns all the time: who
// finds it taken tries again for a while, then lets others run, and only then sleeps, because to be
// woken takes longer than to wait.
#pragma once

#include <sched.h>

#include <atomic>
#include <mutex>

namespace graphkit {

class PatientMutex {
 public:
  void lock() {
    if (!Try()) mutex_.lock();
    taken_.store(true, std::memory_order_relaxed);
  }
  void unlock() {
    taken_.store(false, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  static constexpr int kRounds = 20, kTries = 100;  // a round: a few microseconds

  bool Try() {
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kTries; ++i) {
        if (!taken_.load(std::memory_order_relaxed) && mutex_.try_lock()) return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
      sched_yield();
    }
    return false;
  }

  std::mutex mutex_;
  std::atomic<bool> taken_{false};  // a hint, so that those who wait only read
};

}  // namespace graphkit
