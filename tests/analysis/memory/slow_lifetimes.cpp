#include "tests/analysis/memory/slow_lifetimes.h"

#include <algorithm>

#include "tests/analysis/order/slow_frontier.h"

namespace graphkit {

SlowBlockOrder::SlowBlockOrder(const Ran& trace, const SlowOrder& order, MarkerRule rule)
    : trace_(trace), rule_(rule), order_(order), frontiers_(trace) {
  for (size_t i = 0; i < trace.blocks.size(); ++i) lives_.push_back(Find(BlockId(i)));
}

bool SlowBlockOrder::OpaqueNodeWhileLive(const Block& block, GraphId graph) const {
  Seq end = block.free_requested;
  bool captured = false;
  for (const Capture& capture : trace_.captures) {
    if (capture.graph != graph) continue;
    end = std::min(end, capture.end);
    captured = true;
  }
  for (const NodeId id : trace_.graph_nodes) {
    const Node& node = trace_[id];
    if (node.kind != NodeKind::kKernel || node.accesses.count != 0) continue;
    if (node.kernel.valid() && trace_[node.kernel].has_layout) continue;
    const bool then = !captured || (node.seq > block.allocated && node.seq < end);
    if (then && RootOf(trace_, node.graph) == graph) return true;
  }
  return false;
}

// All that has ended where the block was allocated has ended when the node starts.
bool SlowBlockOrder::StartCovers(NodeId node, const Life& life) const {
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    const NodeId other(i);
    const bool same = trace_[other].graph == life.graph;
    if (same && order_.Before(other, life.alloc) && !order_.Before(other, node)) return false;
  }
  return true;
}

void SlowBlockOrder::AddFreeMarkers(BlockId id, Life* life) {
  const Block& block = trace_[id];
  std::vector<StreamId> streams = {block.stream};
  if (block.free_stream.valid()) streams.push_back(block.free_stream);
  for (const BlockStream& use : trace_.block_streams) {
    if (use.block == id && use.seq < block.free_requested) streams.push_back(use.stream);
  }
  for (const StreamId stream : streams) {
    if (!stream.valid()) {
      life->dies = false;
      continue;
    }
    const SlowFrontier& frontier = frontiers_.Of(stream, block.free_requested);
    if (frontier.graph != life->graph) life->dies = false;
    for (const FrontierEntry& entry : frontier.entries) life->markers.push_back(entry.node);
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      const Node& node = trace_.nodes[i];
      const bool while_live = block.allocated < node.seq && node.seq < block.free_requested;
      if (node.stream != stream || !while_live || !trace_.graph_nodes.Has(NodeId(i))) continue;
      if (RootOf(trace_, node.graph) == life->graph) life->markers.emplace_back(i);
    }
  }
}

// The free node, all that touches the block, and all from which edges of any kind lead to the free.
void SlowBlockOrder::AddFreeNodeMarkers(BlockId id, Life* life) const {
  const Block& block = trace_[id];
  life->markers = life->touches;
  life->markers.push_back(block.free_node);
  const SlowOrder launch(trace_, EdgeRule::kAllFull);
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    const NodeId node(i);
    if (!trace_.graph_nodes.Has(node) || !launch.EndsBefore(node, block.free_node)) continue;
    if (block.alloc_node.valid() && !order_.Before(block.alloc_node, node)) continue;
    if (!block.alloc_node.valid() && trace_[node].seq <= block.allocated) continue;
    life->markers.push_back(node);
  }
}

SlowBlockOrder::Life SlowBlockOrder::Find(BlockId id) {
  const Block& block = trace_[id];
  Life life;
  life.graph = block.graph;
  // The memory of an allocation node that never ran isn't there.
  if (block.alloc_node.valid() && !trace_.graph_nodes.Has(block.alloc_node)) life.graph = {};
  const bool backs_segment = std::any_of(trace_.segments.begin(), trace_.segments.end(),
                                         [&](const Segment& s) { return s.block == id; });
  life.inside = life.graph.valid() && !backs_segment;
  if (!life.inside) return life;
  life.dies =
      block.freed() && (!block.free_node.valid() || trace_.graph_nodes.Has(block.free_node));
  life.by_streams = rule_ == MarkerRule::kAtFree || OpaqueNodeWhileLive(block, life.graph);
  if (block.stream.valid()) life.alloc = frontiers_.Of(block.stream, block.allocated).entries;
  if (block.alloc_node.valid()) {
    life.alloc.clear();
    for (const EdgeId id : trace_.graph_edges) {
      const Edge& edge = trace_[id];
      if (edge.to != block.alloc_node) continue;
      life.alloc.push_back({edge.from, edge.from_port, static_cast<uint8_t>(edge.type)});
    }
  }
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    const Node& node = trace_.nodes[i];
    if (!trace_.graph_nodes.Has(NodeId(i))) continue;
    for (uint32_t a = 0; a < node.accesses.count; ++a) {
      if (trace_.accesses[node.accesses.first + a].block != id) continue;
      if (RootOf(trace_, node.graph) == life.graph) {
        life.touches.emplace_back(i);
      } else {
        life.dies = false;
      }
    }
  }
  life.first = life.touches;
  if (life.by_streams && !block.alloc_node.valid()) {
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      const Node& node = trace_.nodes[i];
      if (node.stream != block.stream || node.seq < block.allocated) continue;
      if (!trace_.graph_nodes.Has(NodeId(i))) continue;
      if (node.seq > block.free_requested) break;
      if (StartCovers(NodeId(i), life)) break;
      life.first.emplace_back(i);
    }
  }
  if (!life.by_streams) {
    life.markers = life.touches;
    if (life.markers.empty() && block.alloc_node.valid()) life.markers = {block.alloc_node};
  } else if (block.free_node.valid()) {
    AddFreeNodeMarkers(id, &life);
  } else if (block.freed()) {
    AddFreeMarkers(id, &life);
  }
  if (life.by_streams && rule_ == MarkerRule::kLastUse) {
    life.markers.insert(life.markers.end(), life.touches.begin(), life.touches.end());
    if (life.markers.empty() && block.alloc_node.valid()) life.markers = {block.alloc_node};
  }
  return life;
}

Seq SlowBlockOrder::LastSeq(BlockId id) const {
  const Life& life = lives_[id.index()];
  if (life.by_streams) return trace_[id].free_requested;
  return life.markers.empty() ? trace_[id].allocated : 0;
}

bool SlowBlockOrder::MarkedBefore(const Life& x, NodeId node) const {
  const auto before = [&](NodeId marker) { return order_.Before(marker, node); };
  if (!std::all_of(x.markers.begin(), x.markers.end(), before)) return false;
  if (!x.by_streams && !x.markers.empty()) return true;
  if (!StartCovers(node, x)) return false;
  return !x.by_streams || std::all_of(x.first.begin(), x.first.end(), [&](NodeId first) {
    return StartCovers(first, x) || before(first);
  });
}

bool SlowBlockOrder::Before(BlockId x_id, BlockId y_id) const {
  const Life& x = lives_[x_id.index()];
  const Life& y = lives_[y_id.index()];
  if (x_id == y_id || !x.inside || x.graph != y.graph || !x.dies) return false;
  if (LastSeq(x_id) >= trace_[y_id].allocated) return false;
  for (const NodeId node : y.first) {
    if (StartCovers(node, y)) continue;
    if (LastSeq(x_id) >= trace_[node].seq || !MarkedBefore(x, node)) return false;
  }
  // The allocation point: what is after it is asked by the frontier.
  const auto before = [&](NodeId node) { return order_.Before(node, y.alloc); };
  if (!std::all_of(x.markers.begin(), x.markers.end(), before)) return false;
  if (!x.by_streams && !x.markers.empty()) return true;
  for (size_t i = 0; i < trace_.nodes.size(); ++i) {
    if (trace_.nodes[i].graph != x.graph) continue;
    if (order_.Before(NodeId(i), x.alloc) && !before(NodeId(i))) return false;
  }
  return !x.by_streams || std::all_of(x.first.begin(), x.first.end(), [&](NodeId first) {
    return StartCovers(first, x) || before(first);
  });
}

}  // namespace graphkit
