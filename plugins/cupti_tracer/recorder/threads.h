// The threads of the program, and what each is at: its call stacks and NVTX ranges. Only ranges
// that something recorded lies in are written, when it is about to be; and garbage collections, as
// the hook for Python names them, with their times: what they free is seen by a snapshot, not by
// the driver.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/stacks/call_stack.h"

namespace graphkit {

class Threads {
 public:
  explicit Threads(Records& records) : records_(records) {}

  ThreadId IdOf(ThreadState& thread);
  // Of launches, waits and events outside of captures: none for the first thread that makes such a
  // call, so that most records don't have it.
  ThreadId FurtherIdOf(ThreadState& thread) {
    if (first_ == 0) first_ = thread.tid;
    return thread.tid == first_ ? ThreadId() : IdOf(thread);
  }

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
  int64_t first_ = 0;  // of FurtherIdOf; its tid
};

// Call stacks: each is written once.
class StackTable {
 public:
  explicit StackTable(Records& records) : records_(records) {}

  // The record of a stack, by the return addresses that it was taken as; none: it isn't known.
  StackId Find(std::span<const uint64_t> taken) const;
  // Makes a stack known. Stacks with the same names are one.
  StackId Add(std::span<const uint64_t> taken, const std::vector<NamedFrame>& frames);

 private:
  struct AddressHash {
    size_t operator()(const std::vector<uint64_t>& addresses) const;
  };

  Records& records_;
  std::unordered_map<std::vector<uint64_t>, StackId, AddressHash> taken_;  // as they were taken
  std::unordered_map<std::string, StackId> named_;                         // as they are written
};

}  // namespace graphkit
