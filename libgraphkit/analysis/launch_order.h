// Which launches, and copies outside of graphs, have ended before others start: order between
// graphs, as streams, events and waits of the host make it. (Order inside a graph: order.h.)
//
//     stream a:  launch 0 ── record e ───────────── launch 2
//     stream b:                └── wait e ── launch 1          0 before 1; 1 and 2 unordered
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

class LaunchOrder {
 public:
  explicit LaunchOrder(const Trace& trace);

  // Whether launch `a` has ended when launch `b` starts; indices in Trace::launches. Launches whose
  // stream isn't known are ordered with everything: nothing can be said against them.
  bool Before(uint32_t a, uint32_t b) const { return Before(places_[a], places_[b], a < b); }
  // Whether a copy, an index in Trace::copies, has ended when a later launch starts.
  bool CopyBefore(uint32_t copy, uint32_t launch) const {
    return Before(copy_places_[copy], places_[launch], true);
  }

 private:
  // By stream: how many of its launches and copies have ended.
  using Clock = std::vector<uint32_t>;

  struct Place {
    uint32_t stream = 0xffffffffu;
    uint32_t seq = 0;
    uint32_t row = 0;  // in rows_
  };

  void Apply(const StreamOp& op);
  Place PlaceOn(StreamId stream);
  bool Before(const Place& from, const Place& to, bool earlier) const;
  void Absorb(Clock* into, const Clock& from);
  void Submit(uint32_t stream);

  const Trace& trace_;
  std::vector<Place> places_;       // by launch
  std::vector<Place> copy_places_;  // by copy
  std::vector<Clock> rows_;
  std::vector<Clock> streams_;  // what has ended once all that was submitted to the stream has
  std::vector<uint32_t> stream_row_;
  std::vector<Clock> events_;
  Clock host_;  // what the host has waited for
};

}  // namespace graphkit
