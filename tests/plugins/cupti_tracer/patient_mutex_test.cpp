#include "plugins/cupti_tracer/ground/patient_mutex.h"

#include <doctest/doctest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace graphkit {
namespace {

TEST_CASE("threads that take turns, sleepers among them, lose no update") {
  constexpr int kThreads = 4, kRounds = 20'000;
  PatientMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const std::lock_guard lock(mutex);
        ++count;
        // Long enough for the others to fall asleep.
        if (i % 5'000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == kThreads * kRounds);
}

}  // namespace
}  // namespace graphkit
