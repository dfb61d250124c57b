// The first version of graph_capture_record_stream_reuse (pytorch/pytorch#158352).
#pragma once

#include <vector>

#include "libgraphkit/alloc/policies/policy_pytorch.h"
#include "libgraphkit/analysis/order/clock_rows.h"

namespace graphkit {

// At its free such a block gets an empty node at the end of each of its streams, and comes back to
// a malloc of its own stream where each of them is before each node that the stream ends with,
// which after a wait are several (PyTorch 2.9.0). A stream that joined before the free isn't behind
// its marker; with markers that are no nodes (PyTorchPolicy) it is behind what it joined.
//
// The nodes are not made: a clock says up to which record each stream, event and node is behind
// each stream. A marker is behind a stream's clock at the free.
class PyTorchV1Policy final : public DeferPolicy {
 public:
  PyTorchV1Policy(const PolicyView& view, PolicySearch search);

 protected:
  bool AtOnce(BlockId block) override;
  void Prepare(BlockId block) override;
  void Find(BlockId block) override;
  void Freed(BlockId block) override;
  bool Completes(BlockId pending, BlockId block) const override;

 private:
  // By stream of the graph: 1 + the last record that is before.
  struct Clock {
    ClockRows::Row row = ClockRows::kEmpty;
    // A stream's: what it has done itself, and how much of that the row says.
    Seq own = 0;
    Seq own_in_row = 0;
    std::vector<ClockRows::Row> ends = {};  // a stream's: where it ends with several nodes
  };
  using Ends = std::vector<ClockRows::Row>;
  struct Markers {
    GraphId graph;  // none: waits for the end of the capture
    std::vector<StreamId> streams;
    Seq free = 0;
  };

  // A pending block waits for one of its markers at a time: in a heap, the earliest on top, by the
  // stream that may take it and the stream of the marker.
  struct Waiting {
    Seq free = 0;
    BlockId block;
    bool operator<(const Waiting& o) const { return free > o.free; }
  };
  struct Heap {
    size_t marker = 0;  // a stream
    std::vector<Waiting> waiting = {};
  };

  // What of a stream is before each end of another.
  Seq At(size_t stream, size_t of) const {
    const Clock& clock = streams_[stream];
    if (clock.ends.empty()) {
      return stream == of ? std::max(clock.own, Count(stream, of)) : Count(stream, of);
    }
    Seq least = kNever;
    for (const ClockRows::Row end : clock.ends) {
      least = std::min<Seq>(least, rows_.Count(end, static_cast<uint32_t>(of)));
    }
    return least;
  }
  Seq Count(size_t stream, size_t of) const {
    return rows_.Count(streams_[stream].row, static_cast<uint32_t>(of));
  }
  ClockRows::Row RowOf(size_t stream);
  void Merge(ClockRows::Row from, Clock* into);
  Ends EndsOf(size_t stream);
  void AddEnds(size_t stream, const Ends& ends);
  ClockRows::Row ByHand(NodeId node);
  void MoveEndNodes(const StreamOp& op);
  void Wait(BlockId block, StreamId marker);
  size_t StreamNumber(StreamId stream) const {
    return view_.slice.streams.NumberOf(stream.index());
  }
  void AdvanceTo(Seq seq);
  void Apply(const StreamOp& op);
  void Apply(const Node& node, size_t number);
  Ends EndsAt(const StreamOp& op) const;

  ClockRows rows_;
  std::vector<Clock> streams_;
  std::vector<Ends> events_;  // those of its stream when it was recorded
  // Kept only where frontiers are set by hand.
  std::vector<ClockRows::Row> nodes_;
  std::vector<std::vector<NodeId>> end_nodes_;        // by stream
  std::vector<std::vector<NodeId>> event_end_nodes_;  // by event
  bool by_hand_ = false;
  size_t node_ = 0;
  size_t op_ = 0;
  std::vector<Markers> markers_;            // by block of the graph
  std::vector<std::vector<Heap>> waiting_;  // by stream that may take; none is empty
};

}  // namespace graphkit
