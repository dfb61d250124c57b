// Where each capturing stream stands at a given place of the trace: the nodes that its next node
// will depend on. Follows from the calls that were recorded, by the rules in model/stream.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "libgraphkit/analysis/order/slice.h"
#include "libgraphkit/model/wide_frontiers.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

struct StreamFrontier {
  GraphId graph;  // of the capture that the stream is in; none: not capturing
  std::vector<FrontierEntry> entries = {};
  uint32_t version = 0;  // changes whenever the frontier does

  bool capturing() const { return graph.valid(); }
  bool operator==(const StreamFrontier&) const = default;
};

// True if a stream's frontier was ever set instead of following from the calls.
inline bool HasRewinds(const Ran& trace) {
  return std::ranges::find(trace.stream_ops, StreamOpKind::kSetFrontier, &StreamOp::kind) !=
         trace.stream_ops.end();
}

// Steps once through a slice of a trace, from its start to its end; both must outlive it. Streams
// that the slice doesn't have aren't capturing.
class FrontierReplay {
 public:
  FrontierReplay(const Ran& trace, GraphSlice slice);

  // Takes in every record before `seq`.
  void AdvanceTo(Seq seq);
  // As if the stream had launched the node.
  void Launch(StreamId stream, NodeId node) {
    Launch(slice_.streams.NumberOf(stream.index()), node);
  }

  const StreamFrontier& Of(StreamId stream) const {
    return At(streams_, slice_.streams.NumberOf(stream.index()));
  }
  // Of its stream where it was last recorded.
  const StreamFrontier& OfEvent(EventId event) const {
    return At(events_, slice_.events.NumberOf(event.index()));
  }
  // Records taken in.
  size_t steps() const { return node_ + op_ + boundary_; }

 private:
  struct Boundary {
    Seq seq;
    uint32_t capture;
    bool end;
  };

  const StreamFrontier& At(const std::vector<StreamFrontier>& frontiers, size_t number) const {
    return number < frontiers.size() ? frontiers[number] : none_;
  }
  void Apply(const Node& node, NodeId id);
  void Launch(size_t stream, NodeId node);
  void Apply(const StreamOp& op);
  void Apply(const Boundary& boundary);
  void Wait(size_t stream, const StreamFrontier& event);
  void Join(size_t stream, GraphId graph);
  void Moved(size_t stream) { ++streams_[stream].version; }
  void Leave(size_t stream);
  std::span<const FrontierEntry> Entries(const StreamOp& op) const;

  const Ran& trace_;
  GraphSlice slice_;
  size_t node_ = 0;
  size_t op_ = 0;
  size_t boundary_ = 0;
  std::vector<Boundary> boundaries_;  // of captures, by seq
  // Graphs that are being captured, each with its streams.
  std::unordered_map<GraphId, std::vector<size_t>> open_;
  std::vector<StreamFrontier> streams_;
  std::vector<StreamFrontier> events_;
  WideFrontiers wide_;
  StreamFrontier none_;
};

}  // namespace graphkit
