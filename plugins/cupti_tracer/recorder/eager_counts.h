// Work that the program submits outside of captures, counted by thread and stream: what is recorded
// of it when it isn't recorded one by one. Counting takes no lock and writes nothing; records are
// made at captures, before the first launch of a graph, at every 4096th piece of work of a thread
// on a stream, and at the end.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "plugins/cupti_tracer/calls/records.h"

namespace graphkit {

class EagerCounts {
 public:
  enum class Outcome : uint8_t {
    kCounted,
    kFull,     // counted; so many that a record is due
    kNoPlace,  // not counted: the thread's work on the stream has no place yet
  };
  // Any thread, without the recorder's lock.
  Outcome Count(const ThreadState& thread, const Call& call);

  // The rest is under the recorder's lock.
  //
  // Makes a place for the thread's work on the stream, and counts the call. There is one left where
  // Count, under the lock too, says that there is none.
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
