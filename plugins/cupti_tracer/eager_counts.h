// Work that the program submits outside of captures, counted by thread and stream: what is recorded
// of it when it isn't recorded one by one. Counting takes no lock and writes nothing; records are
// made at captures, before the first launch of a graph, at every 4096th piece of work of a thread
// on a stream, and at the end.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "plugins/cupti_tracer/records.h"

namespace graphkit {

class EagerCounts {
 public:
  // Any thread, without the recorder's lock. False: Settle is due.
  bool Count(const ThreadState& thread, const Call& call);

  // The rest is under the recorder's lock.
  //
  // Whether the thread's work on the stream has a place to be counted in; Claim makes one, and
  // counts the call.
  bool Has(const ThreadState& thread, const Call& call) { return Find(thread, call) != nullptr; }
  void Claim(const ThreadState& thread, const Call& call, ThreadId thread_id, StreamId stream);

  // Writes what was counted since the last time. `always`: also that nothing ever was.
  void Write(Records& records, uint64_t time, bool always);

  // The handle of a stream stands for another one from now on.
  void Forget(uint64_t stream);

 private:
  static constexpr uint32_t kPlaces = 128;
  static constexpr uint64_t kGone = ~uint64_t{0};

  struct alignas(64) Place {
    std::atomic<uint64_t> stream{kGone};
    uint64_t context = 0;
    int64_t tid = 0;
    ThreadId thread_id;
    StreamId stream_id;
    std::atomic<uint64_t> kernels{0}, copies{0}, copied_bytes{0}, others{0};
  };

  Place* Find(const ThreadState& thread, const Call& call);
  static uint64_t Add(const Call& call, Place& place);

  // The first is for what finds no place.
  std::array<Place, kPlaces> places_;
  std::atomic<uint32_t> used_{1};
  bool written_ = false;
};

}  // namespace graphkit
