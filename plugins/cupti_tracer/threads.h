// The threads of the program, and what each is at: its NVTX ranges. Only ranges that something
// recorded lies in are written, when it is about to be; and garbage collections, as the hook for
// Python names them, with their times: what they free is seen by a snapshot, not by the driver.
#pragma once

#include <cstdint>
#include <string_view>

#include "plugins/cupti_tracer/records.h"

namespace graphkit {

class Threads {
 public:
  explicit Threads(Records& records) : records_(records) {}

  ThreadId IdOf(ThreadState& thread);

  void OnRangePushed(ThreadState& thread, std::string_view domain, std::string_view name,
                     uint32_t colour = 0, uint64_t time = 0);
  void OnRangePopped(ThreadState& thread, std::string_view domain, uint64_t time = 0);

  // Something of the thread is about to be recorded.
  void BeforeWork(ThreadState& thread) {
    if (thread.silent_ranges != 0) WriteRanges(thread, 0);
  }

 private:
  void WriteRanges(ThreadState& thread, uint64_t time);

  Records& records_;
  uint32_t next_ = 0;
};

}  // namespace graphkit
