// A clock that runs while its thread does: waiting, for the processor or for a disk, doesn't count,
// so that a time limit cuts off the same on a busy machine, or where memory is short.
#pragma once

#include <chrono>
#include <ctime>

namespace graphkit {

struct ThreadClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ThreadClock>;
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
};

}  // namespace graphkit
