#include "libgraphkit/analysis/order/graph_difference.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {
namespace {

using What = GraphDifference::What;

// Of a copy's end that is a block, the memory that it is in.
const char* MemoryOf(const Trace& trace, BlockId block) {
  const PoolId pool = trace[block].pool;
  const PoolKind kind = pool.valid() ? trace[pool].kind : PoolKind::kDevice;
  if (kind == PoolKind::kHost) return "pinned host memory";
  return kind == PoolKind::kManaged ? "managed memory" : "device memory";
}

// The accesses of a node that read, or write.
const char* EndOf(const Trace& trace, NodeId node, AccessMode mode) {
  for (const Access& access : trace.accesses.Of(trace[node].accesses)) {
    if (access.mode == mode) return MemoryOf(trace, access.block);
  }
  for (const HostEnd& end : HostEndsAt(trace, trace[node].seq)) {
    if (end.mode == mode) return "pageable host memory";
  }
  return nullptr;
}

Bytes AllocatedBytes(const Trace& trace, NodeId node) {
  const BlockId block = trace[node].block;
  return block.valid() ? trace[block].size : 0;
}

std::string InsteadText(const Trace& trace, NodeId old, NodeId now) {
  return NameOf(trace, now) + " stands where the exec has " + NameOf(trace, old);
}

}  // namespace

std::string CopyText(const Trace& trace, NodeId node) {
  const char* from = EndOf(trace, node, AccessMode::kRead);
  const char* to = EndOf(trace, node, AccessMode::kWrite);
  std::string text;
  if (from != nullptr) text = std::string("from ") + from;
  if (to != nullptr) text += (text.empty() ? "to " : " to ") + std::string(to);
  return text;
}

GraphDifference GraphDifferences::First(GraphId old, Seq old_at, GraphId now, Seq now_at,
                                        NodeId blamed) {
  std::vector<NodeId> live_old, live_now;
  const std::span<const NodeId> had = places_.NodesAt(old, old_at, &live_old);
  const std::span<const NodeId> has = places_.NodesAt(now, now_at, &live_now);
  GraphDifference shape = InShape({had, old_at}, {has, now_at});
  if (shape.what != What::kNothing) return shape;
  const auto at = std::ranges::find(has, blamed);
  const auto first = static_cast<uint32_t>(at == has.end() ? 0 : at - has.begin());
  for (uint32_t i = 0; i < has.size(); ++i) {
    const uint32_t place = i == 0 ? first : i <= first ? i - 1 : i;
    GraphDifference found = InPair(place, had[place], has[place]);
    if (found.what != What::kNothing) return found;
    for (uint32_t body = 0;; ++body) {
      const GraphId inner_old = places_.Held(had[place], body);
      const GraphId inner_now = places_.Held(has[place], body);
      if (!inner_old.valid() || !inner_now.valid()) break;
      found = First(inner_old, old_at, inner_now, now_at, blamed);
      if (found.what != What::kNothing) return found;
    }
    if (i == 0 && at != has.end()) break;  // CUDA names the node; nothing recorded differs in it
  }
  return {};
}

GraphDifference GraphDifferences::InShape(NodesAt old_nodes, NodesAt now_nodes) {
  const std::span<const NodeId> old = old_nodes.nodes, now = now_nodes.nodes;
  const size_t both = std::min(old.size(), now.size());
  for (uint32_t i = 0; i < both; ++i) {
    if (trace_[old[i]].kind != trace_[now[i]].kind)
      return {What::kKind, i, old[i], now[i], InsteadText(trace_, old[i], now[i])};
    if (!SameEdges(old_nodes, now_nodes, i)) {
      return {What::kEdges, i, old[i], now[i],
              NameOf(trace_, now[i]) + " depends on other nodes than " + NameOf(trace_, old[i]) +
                  " of the exec"};
    }
  }
  const auto place = static_cast<uint32_t>(both);
  if (old.size() > both)
    return {What::kNode, place, old[both], {}, NameOf(trace_, old[both]) + " has no counterpart"};
  if (now.size() > both)
    return {What::kNode, place, {}, now[both], NameOf(trace_, now[both]) + " is new"};
  return {};
}

bool GraphDifferences::SameEdges(NodesAt old, NodesAt now, uint32_t place) {
  const auto places = [&](NodesAt of) {
    std::vector<std::tuple<size_t, bool, uint8_t>> from;
    for (const InEdge& edge : edges_.Into(of.nodes[place], of.at)) {
      const auto at = std::ranges::lower_bound(of.nodes, edge.from);
      from.emplace_back(static_cast<size_t>(at - of.nodes.begin()), edge.full, edge.from_port);
    }
    std::ranges::sort(from);
    return from;
  };
  return places(old) == places(now);
}

GraphDifference GraphDifferences::InPair(uint32_t place, NodeId old, NodeId now) const {
  const Trace& trace = trace_;
  const auto found = [&](What what, std::string text) {
    return GraphDifference{what, place, old, now, std::move(text)};
  };
  switch (trace[now].kind) {
    case NodeKind::kKernel:
      if (trace[old].kernel == trace[now].kernel) break;
      return found(What::kKernel, InsteadText(trace, old, now));
    case NodeKind::kMemcpy: {
      const std::string was = CopyText(trace, old), is = CopyText(trace, now);
      if (was == is) break;
      return found(What::kCopy, NameOf(trace, now) + " copies " + is + ", and " +
                                    NameOf(trace, old) + " of the exec " + was);
    }
    case NodeKind::kMemAlloc: {
      const Bytes was = AllocatedBytes(trace, old), is = AllocatedBytes(trace, now);
      if (was == is) break;
      return found(What::kSize, NameOf(trace, now) + " allocates " + FormatBytes(is) + ", and " +
                                    NameOf(trace, old) + " of the exec " + FormatBytes(was));
    }
    default:
      break;
  }
  return {};
}

}  // namespace graphkit
