#include "tests/analysis/order/slow_frontier.h"

#include <algorithm>
#include <optional>

namespace graphkit {
namespace {

bool Moves(const StreamOp& op) {
  return !op.external &&
         (op.kind == StreamOpKind::kEventWait || op.kind == StreamOpKind::kSetFrontier ||
          op.kind == StreamOpKind::kAddToFrontier);
}

// The last of these that `which` takes and that lies before `seq`.
template <typename Column, typename Which, typename Place>
std::optional<typename Column::value_type> Last(const Column& all, Seq seq, const Which& which,
                                                const Place& place) {
  std::optional<typename Column::value_type> last;
  for (const auto& one : all) {
    if (which(one) && one.*place < seq && (!last || one.*place > (*last).*place)) last = one;
  }
  return last;
}

}  // namespace

const SlowFrontier& SlowFrontiers::Of(StreamId stream, Seq seq) {
  const std::pair<uint32_t, Seq> key{stream.value, seq};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  SlowFrontier frontier = Find(stream, seq);
  return known_[key] = std::move(frontier);
}

SlowFrontier SlowFrontiers::Find(StreamId stream, Seq seq) {
  const auto of_stream = [&](const auto& one) { return one.stream == stream; };
  const auto node = Last(trace_.nodes, seq, of_stream, &Node::seq);
  const auto op = Last(
      trace_.stream_ops, seq, [&](const StreamOp& one) { return of_stream(one) && Moves(one); },
      &StreamOp::seq);
  const auto begun = Last(
      trace_.captures, seq, [&](const Capture& one) { return one.origin == stream; },
      &Capture::begin);
  Seq moved = 0;
  SlowFrontier frontier;
  if (begun) {
    moved = begun->begin;
    frontier = {.graph = begun->graph};
  }
  if (node && node->seq >= moved) {
    moved = node->seq;
    frontier = {.graph = node->graph, .entries = {{.node = NodeAt(node->seq)}}};
  }
  if (op && op->seq >= moved) {
    moved = op->seq;
    frontier = AfterOp(*op);
  }
  const bool ended = std::ranges::any_of(trace_.captures, [&](const Capture& capture) {
    return frontier.graph.valid() && capture.graph == frontier.graph && moved < capture.end &&
           capture.end < seq;
  });
  return ended ? SlowFrontier{} : frontier;
}

NodeId SlowFrontiers::NodeAt(Seq seq) const {
  size_t at = 0;
  while (trace_.nodes[at].seq != seq) ++at;
  return NodeId(at);
}

SlowFrontier SlowFrontiers::AfterOp(const StreamOp& op) {
  SlowFrontier frontier = Of(op.stream, op.seq);
  if (op.kind == StreamOpKind::kEventWait) return AfterWait(std::move(frontier), op);
  if (op.kind == StreamOpKind::kSetFrontier) frontier.entries.clear();
  const std::vector<FrontierEntry> added = Entries(op);
  frontier.entries.insert(frontier.entries.end(), added.begin(), added.end());
  return frontier;
}

SlowFrontier SlowFrontiers::AfterWait(SlowFrontier frontier, const StreamOp& op) {
  const SlowFrontier event = AtEvent(op.event, op.seq);
  if (!Open(event.graph, op.seq)) return frontier;
  if (!frontier.graph.valid()) frontier = {.graph = event.graph};
  if (frontier.graph != event.graph) return frontier;
  for (const FrontierEntry& entry : event.entries) {
    if (std::ranges::count(frontier.entries, entry) == 0) frontier.entries.push_back(entry);
  }
  return frontier;
}

SlowFrontier SlowFrontiers::AtEvent(EventId event, Seq seq) {
  const auto record = Last(
      trace_.stream_ops, seq,
      [&](const StreamOp& op) {
        return op.kind == StreamOpKind::kEventRecord && !op.external && op.event == event &&
               op.stream.valid();
      },
      &StreamOp::seq);
  if (!record) return {};
  SlowFrontier frontier = Of(record->stream, record->seq);
  if (record->has_entries) frontier.entries = Entries(*record);
  return frontier;
}

bool SlowFrontiers::Open(GraphId graph, Seq seq) const {
  return std::ranges::any_of(trace_.captures, [&](const Capture& capture) {
    return graph.valid() && capture.graph == graph && capture.begin < seq && seq <= capture.end;
  });
}

std::vector<FrontierEntry> SlowFrontiers::Entries(const StreamOp& op) const {
  const auto first = trace_.frontier_entries.begin() + op.entries.first;
  return {first, first + op.entries.count};
}

}  // namespace graphkit
