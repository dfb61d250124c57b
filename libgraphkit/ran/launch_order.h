// Launches, and work outside of graphs, that have ended before other launches start: order
// between graphs, as streams, events and waits of the host make it. (Order inside a graph:
// order.h.)
//
//     stream a:  launch 0 ── record e ───────────── launch 2
//     stream b:                └── wait e ── launch 1          0 before 1; 1 and 2 unordered
//
// Work that a thread of the host has waited for is before its later submissions; for other
// threads only if the program orders them (a lock, a join), which isn't recorded, and so is work
// that a function of the host comes after on its stream. A free of memory that isn't
// stream-ordered waits for the device. Where work on the legacy stream was only counted
// (Trace::eager_counts), blocking streams come after each other, as any of it may have been there.
// A launch waits for, and records, the events of its graph's nodes as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/ran/clock_rows.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// A launch, or work outside of graphs: an index in Trace::launches, or in Trace::works.
struct Submission {
  uint32_t index = 0;
  bool work = false;
  bool operator==(const Submission&) const = default;
};

// All of them, in order.
std::vector<Submission> AllSubmissions(const Trace& trace);

struct EventNode;  // launch_order.cpp

class LaunchOrder {
 public:
  explicit LaunchOrder(const Ran& trace);

  // True if `a` has ended when `b` starts, which was submitted later. What went to a stream that
  // isn't known is ordered with everything: nothing can be said against it.
  bool Before(Submission a, Submission b) const { return Ended(PlaceOf(a), PlaceOf(b)); }
  // The same of launches.
  bool Before(uint32_t a, uint32_t b) const { return a < b && Ended(launches_[a], launches_[b]); }
  // The same if each thread knew what the others had waited for, and functions of the host.
  bool BeforeByThreads(Submission a, Submission b) const { return Lenient().Before(a, b); }
  bool BeforeByThreads(uint32_t a, uint32_t b) const { return Lenient().Before(a, b); }

 private:
  using Row = ClockRows::Row;  // by stream: how many of its submissions have ended

  struct Place {
    uint32_t stream = 0xffffffffu;
    uint32_t seq = 0;
    Row row = ClockRows::kEmpty;
  };
  // A stream as far as it was submitted to.
  struct Submitted {
    Row row = ClockRows::kEmpty;  // what the next one comes after
    uint32_t count = 0;
  };
  // A legacy stream, and the blocking streams that went on since it was submitted to.
  struct Legacy {
    uint32_t stream = 0;
    std::vector<uint32_t> changed = {};
    bool counted = false;  // there is work on it that isn't recorded
  };

  LaunchOrder(const Ran& trace, bool by_threads);
  const Place& PlaceOf(Submission at) const {
    return at.work ? works_[at.index] : launches_[at.index];
  }
  const LaunchOrder& Lenient() const { return by_threads_ ? *by_threads_ : *this; }
  Row& HostOf(ThreadId thread);
  void FindLegacy();
  void Apply(const StreamOp& op);
  void AddLaunch(const Launch& launch, std::span<const EventNode> nodes, Place* last);
  Place PlaceOn(StreamId stream, ThreadId thread);
  bool Ended(const Place& a, const Place& b) const;
  void Absorb(Row* into, Row from);
  void Submit(uint32_t stream, ThreadId thread);
  void MeetLegacy(uint32_t stream);
  void WaitForDevice();
  Row EndOf(uint32_t stream);

  const Ran& trace_;
  std::vector<Place> launches_;
  std::vector<Place> works_;
  ClockRows rows_;
  std::vector<Submitted> streams_;
  std::vector<Legacy> legacy_;
  std::vector<uint32_t> changed_;   // streams, since the last wait for the device
  Row device_ = ClockRows::kEmpty;  // what that waited for
  Row freed_ = ClockRows::kEmpty;   // what frees waited for
  std::vector<Row> events_;
  std::vector<Row>
      hosts_;  // by thread: what it has waited for; the first: one that isn't named, too
  std::unique_ptr<LaunchOrder> by_threads_;  // where there are several threads
};

// True if each launch has ended when the next one starts, mostly; `with_work`: and all work.
bool OneAfterTheOther(const Trace& trace, const LaunchOrder& order, bool with_work);

// A launch of `first` and a later one of `second` that isn't after its end; rather one that no
// thread has waited for.
struct LaunchPair {
  uint32_t first = 0;
  uint32_t second = 0;
  bool by_threads = false;  // after it if the threads of the program are ordered
};
std::optional<LaunchPair> FindUnordered(const LaunchOrder& order, const Trace& trace,
                                        const std::vector<uint32_t>& first,
                                        const std::vector<uint32_t>& second);

}  // namespace graphkit
