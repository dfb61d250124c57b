// Where each capturing stream stands at a given place of the trace: the nodes that its next node
// will depend on. Follows from the calls that were recorded, by the rules in model/stream.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

struct StreamFrontier {
  GraphId graph;  // of the capture that the stream is in; none: not capturing
  std::vector<FrontierEntry> entries = {};
  uint32_t version = 0;  // changes whenever the frontier does

  bool capturing() const { return graph.valid(); }
  bool operator==(const StreamFrontier&) const = default;
};

// Whether a stream's frontier was ever set instead of following from the calls.
inline bool HasRewinds(const Trace& trace) {
  return std::ranges::find(trace.stream_ops, StreamOpKind::kSetFrontier, &StreamOp::kind) !=
         trace.stream_ops.end();
}

// Steps through a trace once, from its start to its end. The trace must outlive it.
class FrontierReplay {
 public:
  explicit FrontierReplay(const Trace& trace);

  // Takes in every record before `seq`.
  void AdvanceTo(Seq seq);

  const StreamFrontier& Of(StreamId stream) const { return streams_[stream.index()]; }
  // A stream whose frontier is known; one that a broken trace doesn't have isn't capturing.
  const StreamFrontier& OfAny(StreamId stream) const {
    return stream.index() < streams_.size() ? streams_[stream.index()] : none_;
  }

 private:
  struct Boundary {
    Seq seq;
    uint32_t capture;
    bool end;
  };

  void Apply(const Node& node, NodeId id);
  void Apply(const StreamOp& op);
  void Apply(const Boundary& boundary);
  void Wait(StreamFrontier* stream, const StreamFrontier& event);
  std::span<const FrontierEntry> Entries(const StreamOp& op) const;
  bool Open(GraphId graph) const { return graph.valid() && open_[graph.index()]; }

  const Trace& trace_;
  size_t node_ = 0;
  size_t op_ = 0;
  size_t boundary_ = 0;
  std::vector<Boundary> boundaries_;  // of captures, by seq
  std::vector<bool> open_;            // by graph: being captured
  std::vector<StreamFrontier> streams_;
  std::vector<StreamFrontier> events_;
  StreamFrontier none_;
};

}  // namespace graphkit
