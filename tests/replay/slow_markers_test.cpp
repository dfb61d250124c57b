// PyTorch's two ways with markers, done as they are told: a malloc walks back over edges, and the
// first version puts nodes into the graph.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/analysis/random_trace.h"

namespace graphkit {
namespace {

using Nodes = std::vector<size_t>;

// A capture goes on call by call; markers are numbered behind the trace's nodes.
class SlowCapture {
 public:
  SlowCapture(const Facts& facts, bool marks)
      : facts_(facts), marks_(marks), before_(facts.trace.nodes.size()) {
    const Ran& trace = facts.trace;
    for (size_t i = 0; i < trace.nodes.size(); ++i) calls_.emplace_back(trace.nodes[i].seq, 0, i);
    for (size_t i = 0; i < trace.stream_ops.size(); ++i) {
      calls_.emplace_back(trace.stream_ops[i].seq, 1, i);
    }
    std::ranges::sort(calls_);
    for (size_t i = 0; i < before_.size(); ++i) {
      for (const InEdge& edge : facts.in_edges().Of(i)) before_[i].push_back(edge.from.index());
    }
  }

  void AdvanceTo(Seq seq) {
    for (; at_ < calls_.size() && std::get<0>(calls_[at_]) < seq; ++at_) {
      const auto [when, op, row] = calls_[at_];
      where_.AdvanceTo(when);
      if (op == 0) {
        TakeNode(row);
      } else {
        TakeOp(facts_.trace.stream_ops[row]);
      }
    }
    where_.AdvanceTo(seq);
  }

  // None: the streams aren't in one capture.
  Nodes Mark(const std::vector<StreamId>& streams) {
    Nodes markers;
    for (const StreamId stream : streams) {
      if (!GraphOf(stream) || GraphOf(stream) != GraphOf(streams.front())) return {};
    }
    for (const StreamId stream : streams) {
      Nodes& ends = ends_[stream];
      if (marks_) {
        before_.push_back(ends);
        ends = {before_.size() - 1};
      }
      markers.insert(markers.end(), ends.begin(), ends.end());
    }
    return markers;
  }

  GraphId GraphOf(StreamId stream) const { return where_.Of(stream).graph; }
  const Nodes& ends(StreamId stream) { return ends_[stream]; }

  // Adds all that is before a node, and the node.
  void Walk(size_t from, std::set<size_t>* seen) const {
    Nodes stack = {from};
    while (!stack.empty()) {
      const size_t node = stack.back();
      stack.pop_back();
      if (!seen->insert(node).second) continue;
      for (const size_t earlier : before_[node]) stack.push_back(earlier);
    }
  }

 private:
  void TakeNode(size_t row) {
    const Node& node = facts_.trace.nodes[row];
    if (!node.stream.valid()) return;
    if (marks_) before_[row] = GraphOf(node.stream) == node.graph ? ends_[node.stream] : Nodes();
    ends_[node.stream] = {row};
  }

  void TakeOp(const StreamOp& op) {
    if (op.external) return;
    Nodes listed;
    for (uint32_t i = 0; i < op.entries.count; ++i) {
      listed.push_back(facts_.trace.frontier_entries[op.entries.first + i].node.index());
    }
    Nodes& ends = ends_[op.stream];
    if (op.kind == StreamOpKind::kEventRecord) {
      events_[op.event] = {GraphOf(op.stream), op.has_entries ? listed : ends};
      return;
    }
    if (op.kind == StreamOpKind::kEventWait) {
      const auto& [graph, recorded] = events_[op.event];
      if (!graph) return;
      if (!GraphOf(op.stream)) ends.clear();
      if (!GraphOf(op.stream) || GraphOf(op.stream) == graph) listed = recorded;
    }
    if (op.kind == StreamOpKind::kSetFrontier) ends.clear();
    for (const size_t node : listed) {
      if (std::ranges::find(ends, node) == ends.end()) ends.push_back(node);
    }
  }

  const Facts& facts_;
  bool marks_;
  FrontierReplay where_{facts_.trace, WholeTrace(facts_.trace)};
  std::vector<std::tuple<Seq, int, size_t>> calls_;
  size_t at_ = 0;
  std::vector<Nodes> before_;
  std::map<StreamId, Nodes> ends_;
  std::map<EventId, std::pair<GraphId, Nodes>> events_;
};

// Blocks whose free a malloc found complete, with the malloc.
using Found = std::vector<std::pair<BlockId, BlockId>>;

Found FindSlowly(const Facts& facts, bool marks) {
  const Ran& trace = facts.trace;
  const auto others = OtherStreams(trace, &facts.lives());
  std::vector<std::tuple<Seq, bool, BlockId>> events;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    if (!facts.lives().blocks[i].root) continue;
    events.emplace_back(trace.blocks[i].allocated, false, BlockId(i));
    if (!facts.lives().blocks[i].freed) continue;
    events.emplace_back(trace.blocks[i].free_requested, true, BlockId(i));
  }
  std::ranges::sort(events);
  SlowCapture capture(facts, marks);
  std::map<BlockId, std::pair<GraphId, Nodes>> pending;
  std::map<std::pair<GraphId, StreamId>, std::set<size_t>> walked;
  Found found;
  for (const auto& event : events) {
    const auto [seq, free] = std::pair(std::get<0>(event), std::get<1>(event));
    const BlockId block = std::get<2>(event);
    capture.AdvanceTo(seq);
    const StreamId own = trace[block].stream;
    if (free) {
      std::vector<StreamId> streams = others[block.index()];
      if (streams.empty() && own.valid()) continue;
      streams.push_back(own);
      const Nodes markers = capture.Mark(streams);
      if (!markers.empty()) pending[block] = {capture.GraphOf(own), markers};
      continue;
    }
    const GraphId graph = capture.GraphOf(own);
    if (!graph || capture.ends(own).empty()) continue;
    std::set<size_t>& seen = walked[{graph, own}];
    std::vector<std::set<size_t>> before;
    for (const size_t end : capture.ends(own)) {
      capture.Walk(end, &seen);
      capture.Walk(end, &before.emplace_back());
    }
    const auto passed = [&](size_t marker) {
      if (!marks) return seen.contains(marker);
      return std::ranges::all_of(before, [&](const auto& of) { return of.contains(marker); });
    };
    std::erase_if(pending, [&](const auto& one) {
      const auto& [earlier, of] = one;
      if (trace[earlier].stream != own || of.first != graph) return false;
      if (!std::ranges::all_of(of.second, passed)) return false;
      found.emplace_back(earlier, block);
      return true;
    });
  }
  return found;
}

Bytes Sum(const Ran& trace, const Found& found) {
  Bytes sum = 0;
  for (const auto& [block, by] : found) sum += RoundedSize(trace[block]) * (1 + by.index());
  return sum;
}

// Of all graphs: each found block's bytes, as often as its finder's id says.
Bytes Sum(const Facts& facts, PolicyKind kind) {
  Bytes sum = 0;
  const PolicyReplay replay =
      ReplayTrace(facts, kind, {.config = {}, .timeline = true, .missed = false, .bound = false});
  for (const GraphReplay& graph : replay.graphs) {
    Bytes held = 0;  // freed, and not found
    for (const TimelinePoint& point : graph.timeline) {
      const Bytes now = point.active - point.allocated;
      const auto malloc = std::ranges::find(facts.trace.blocks, point.seq, &Block::allocated);
      if (malloc != facts.trace.blocks.end()) {
        const auto id = static_cast<size_t>(malloc - facts.trace.blocks.begin());
        sum += (held - now) * (1 + id);
      }
      held = now;
    }
  }
  return sum;
}

TEST_CASE("blocks come back to the mallocs that a walk over the graph finds") {
  uint64_t reclaimed = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    const Ran trace = RandomTrace(
        seed, {.max_steps = 80, .rewinds = seed % 4 == 0, .nested = false, .memory = true});
    const Facts facts(trace);
    CAPTURE(seed);
    const Found found = FindSlowly(facts, false);
    reclaimed += found.size();
    REQUIRE(Sum(trace, found) == Sum(facts, PolicyKind::kPyTorch));
    REQUIRE(Sum(trace, FindSlowly(facts, true)) == Sum(facts, PolicyKind::kPyTorchV1));
  }
  CHECK(reclaimed > 200);  // that the traces have such blocks at all
}

}  // namespace
}  // namespace graphkit
