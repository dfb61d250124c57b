// Launches, and work outside of graphs, that have ended before other launches start: order
// between graphs, as streams, events and waits of the host make it. (Order inside a graph:
// order.h.)
//
//     stream a:  launch 0 ── record e ───────────── launch 2
//     stream b:                └── wait e ── launch 1          0 before 1; 1 and 2 unordered
//
// Work that a thread of the host has waited for is before its later submissions; for other
// threads only if the program orders them (a lock, a join), which isn't recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

class LaunchOrder {
 public:
  explicit LaunchOrder(const Trace& trace);

  // True if launch `a` has ended when launch `b` starts; indices in Trace::launches. Launches whose
  // stream isn't known are ordered with everything: nothing can be said against them.
  bool Before(uint32_t a, uint32_t b) const { return a < b && Before(launches_[a], launches_[b]); }
  // The same of work that was submitted before the launch; an index in Trace::works.
  bool WorkBefore(uint32_t work, uint32_t launch) const {
    return Before(works_[work], launches_[launch]);
  }
  // The same if each thread knew what the others had waited for.
  bool BeforeByThreads(uint32_t a, uint32_t b) const { return Lenient().Before(a, b); }
  bool WorkBeforeByThreads(uint32_t work, uint32_t launch) const {
    return Lenient().WorkBefore(work, launch);
  }

 private:
  using Clock = std::vector<uint32_t>;  // by stream: how many of its submissions have ended

  struct Place {
    uint32_t stream = 0xffffffffu;
    uint32_t seq = 0;
    uint32_t row = 0;  // in rows_
  };

  LaunchOrder(const Trace& trace, bool by_threads);
  const LaunchOrder& Lenient() const { return by_threads_ ? *by_threads_ : *this; }
  Clock& HostOf(ThreadId thread);
  void Apply(const StreamOp& op);
  Place PlaceOn(StreamId stream, ThreadId thread);
  bool Before(const Place& a, const Place& b) const;
  void Absorb(Clock* into, const Clock& from);
  void Submit(uint32_t stream, ThreadId thread);

  const Trace& trace_;
  std::vector<Place> launches_;
  std::vector<Place> works_;
  std::vector<Clock> rows_;
  std::vector<Clock> streams_;  // what has ended once all that was submitted to the stream has
  std::vector<uint32_t> stream_row_;
  std::vector<Clock> events_;
  std::vector<Clock> hosts_;  // by thread: what it has waited for; the last: one that isn't known
  std::unique_ptr<LaunchOrder> by_threads_;  // where there are several threads
};

}  // namespace graphkit
