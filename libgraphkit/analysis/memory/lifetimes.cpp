#include "libgraphkit/analysis/memory/lifetimes.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "libgraphkit/analysis/memory/still_running.h"
#include "libgraphkit/analysis/order/frontier.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// True if a kernel is given more than a word at once, and it isn't an array of pointers.
bool TakesStructures(const Ran& trace, KernelId kernel) {
  constexpr uint32_t kWord = 8;
  const Slice params = trace[kernel].params;
  for (uint32_t i = 0; i < params.count; ++i) {
    const uint32_t size = trace.kernel_params[params.first + i].size;
    if (size <= kWord) continue;
    // std::array<char*, N> and at::detail::Array<char*, N>, as they are mangled.
    const std::string words = std::to_string(size / kWord) + "E";
    const std::string_view name = trace[trace[kernel].name];
    const bool pointers = name.find("arrayIPcLm" + words) != name.npos ||
                          name.find("ArrayIPcLi" + words) != name.npos;
    if (!pointers) return true;
  }
  return false;
}

std::vector<bool> FindStructures(const Ran& trace) {
  std::vector<bool> takes;
  for (size_t i = 0; i < trace.kernels.size(); ++i)
    takes.push_back(TakesStructures(trace, KernelId(i)));
  return takes;
}

struct LifetimeFinder {
  Lifetimes FindAll() {
    lives.blocks.resize(trace.blocks.size());
    lives.backs_segment = BacksSegment(trace);
    FindEnds();
    FindOpaque();
    GroupTouches();
    const Grouped recorded = Group(trace.block_streams, trace.blocks.size(),
                                   [](const BlockStream& use) { return use.block; });
    size_t block = 0;
    for (const uint32_t freed : BlocksBySeq(trace, &Block::free_requested)) {
      const Seq seq = trace.blocks[freed].free_requested;
      for (; block < trace.blocks.size() && trace.blocks[block].allocated <= seq; ++block)
        Allocate(BlockId(block));
      Free(BlockId(freed), recorded.Of(freed));
    }
    for (; block < trace.blocks.size(); ++block) Allocate(BlockId(block));
    DropStrayWords();
    for (size_t i = 0; i < trace.blocks.size(); ++i) Finish(BlockId(i));
    return std::move(lives);
  }

  static constexpr size_t kMostRunning = 64;
  static constexpr uint32_t kMostEarly = (1u << 27) - 1;

  struct Point {
    uint32_t version = BlockId::kNone;
    OrderPoint point;
  };

  void FindEnds() {
    const size_t graphs = trace.graphs.size();
    roots = FindRoots(trace);
    ends.assign(graphs, 0);
    for (const Capture& capture : trace.captures) {
      if (!capture.graph.valid()) continue;
      Seq& end = ends[roots[capture.graph.index()].index()];
      end = std::max(end, capture.end);
    }
    runs.assign(graphs, true);
    for (const Graph& graph : trace.graphs) {
      if (graph.original.valid()) runs[roots[graph.original.index()].index()] = false;
    }
    for (const ExecGraph& of : trace.exec_graphs) {
      if (of.graph.valid()) runs[roots[of.graph.index()].index()] = true;
    }
  }
  GraphId Root(GraphId graph) const {
    return graph.index() < roots.size() ? roots[graph.index()] : GraphId();
  }

  void FindOpaque() {
    opaque_nodes.resize(trace.graphs.size());
    for (const NodeId id : trace.graph_nodes) {
      const Node& node = trace[id];
      if (node.accesses_complete && trace.changed_nodes.empty()) continue;
      if (!MayTouchAnything(trace, id)) continue;
      opaque_nodes[Root(node.graph).index()].push_back(node.seq);
    }
  }
  bool OpaqueBetween(GraphId root, Seq begin, Seq end) const {
    const std::vector<Seq>& opaque = opaque_nodes[root.index()];
    const auto at = std::ranges::upper_bound(opaque, begin);
    return at != opaque.end() && *at < end;
  }

  // Too many nodes that may still run, and nothing is proved of the block: false.
  bool AddMarker(NodeId node, BlockLife* life) {
    markers.push_back(node);
    if (markers.size() > kMostRunning) life->foreign = true;
    return markers.size() <= kMostRunning;
  }

  // Nodes that may use a block and still run when `end` starts, although edges lead from it there:
  //
  //     alloc ── use ┄programmatic┄▸ next ── free      the free waits for next, which doesn't wait
  //
  // Edges of a graph without streams need not be in the order of their nodes' making.
  void AddStillRunning(const Block& block, NodeId end, BlockLife* life) {
    const size_t first = markers.size();
    const auto running = [&] { return std::span(markers).subspan(first); };
    const auto leads_there = [&](NodeId node) {
      return order.EndsBefore(node, end) ||
             std::ranges::any_of(running(), [&](NodeId r) { return order.EndsBefore(node, r); });
    };
    for (bool more = true; more;) {
      more = false;
      for (const LooseEdge& edge : still_running.LooseEdges(trace[end].graph)) {
        if (!Uses(block, edge.from) || order.EndsBefore(edge.from, end)) continue;
        if (!leads_there(edge.to) || Contains(running(), edge.from)) continue;
        if (!AddMarker(edge.from, life)) return;
        more = true;
      }
    }
  }
  static bool Contains(std::span<const NodeId> nodes, NodeId node) {
    return std::ranges::find(nodes, node) != nodes.end();
  }

  // True if a node runs after the block's allocation.
  bool Uses(const Block& block, NodeId node) const {
    if (block.alloc_node.valid()) return order.Before(block.alloc_node, node);
    return trace[node].seq > block.allocated;
  }

  // A free node ends what is complete when it starts. What isn't ends by itself: recorded uses, and
  // what runs behind edges that prove no completion.
  void AddFreeNode(BlockId id, BlockLife* life) {
    const NodeId free = trace[id].free_node;
    for (const NodeId touch : lives.Touches(id)) {
      if (Root(trace[touch].graph) != life->root) continue;
      const NodeId node = OutOfLoops(touch, life->alloc.graph);
      if (node == free || order.EndsBefore(node, free) || IsWord(touch, id)) continue;
      if (!AddMarker(node, life)) break;
    }
    for (NodeId end = free; still_running.HasLooseEdges() && end.valid() && !life->foreign;
         end = trace[trace[end].graph].parent) {
      AddStillRunning(trace[id], end, life);
    }
    markers.push_back(free);
  }

  // Nodes that a stream ran while the block lived and that need not have ended before where it
  // stands: programmatic launches, what lies before a rewind, and the last node of all.
  void AddRunning(StreamId stream, const Block& block, BlockLife* life) {
    const auto nodes = still_running.NodesBetween(stream, block.allocated, block.free_requested);
    if (!nodes.empty() && Root(trace[nodes.back()].graph) == life->root) {
      markers.push_back(nodes.back());
    }
    const std::span<const NodeId> running = still_running.OnStream(stream);
    auto at = std::ranges::lower_bound(running, block.free_requested, {},
                                       [&](NodeId node) { return trace[node].seq; });
    while (at != running.begin() && trace[*--at].seq > block.allocated) {
      if (Root(trace[*at].graph) == life->root && !AddMarker(*at, life)) return;
    }
  }

  void GroupTouches() {
    std::vector<uint32_t>& first = lives.first_touch;
    first.assign(trace.blocks.size() + 2, 0);
    ForEachTouch([&](NodeId, BlockId block) { ++first[block.index() + 2]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    lives.touches.resize(first.back());
    ForEachTouch([&](NodeId node, BlockId block) {  // goes from a block's begin to its end
      lives.touches[first[block.index() + 1]++] = node;
    });
    first.pop_back();
  }

  template <typename Visit>
  void ForEachTouch(Visit visit) {
    for (const NodeId id : trace.graph_nodes) {
      for (const Access& access : trace.accesses.Of(trace[id].accesses)) {
        if (access.block.index() < trace.blocks.size()) visit(id, access.block);
      }
    }
  }

  OrderPoint PointOf(StreamId stream) {
    const StreamFrontier& frontier = replay.Of(stream);
    Point& known = points[stream.index()];
    if (known.version != frontier.version) {
      known = {frontier.version, order.PointAfter(frontier.graph, frontier.entries)};
    }
    return known.point;
  }

  void Allocate(BlockId id) {
    const Block& block = trace[id];
    BlockLife& life = lives.blocks[id.index()];
    if (lives.backs_segment[id.index()]) return;
    if (block.alloc_node.valid() && !trace.graph_nodes.Has(block.alloc_node)) return;
    const GraphId graph = block.alloc_node.valid() ? trace[block.alloc_node].graph : block.graph;
    life.root = Root(graph);
    if (!graph.valid()) return;
    replay.AdvanceTo(block.allocated);
    life.alloc = {.graph = graph};
    if (block.alloc_node.valid()) {
      life.alloc = order.StartOf(block.alloc_node);
    } else if (Root(replay.Of(block.stream).graph) == life.root) {
      life.alloc = PointOf(block.stream);
    }
    starts.clear();
    AddEarly(id);
    if (starts.size() > kMostEarly) throw std::length_error("too many early nodes of a block");
    life.early = starts.size() & kMostEarly;
    AddUnordered(block, life.alloc);
    life.starts = List(starts);
  }

  NodeList List(std::span<const NodeId> nodes) {
    if (nodes.empty()) return {};
    if (nodes.size() == 1 && nodes[0].value < NodeList::kRun) return {nodes[0]};
    const Slice run{static_cast<uint32_t>(lives.nodes.size()), static_cast<uint32_t>(nodes.size())};
    lives.nodes.insert(lives.nodes.end(), nodes.begin(), nodes.end());
    lives.runs.push_back(run);
    return {NodeId(NodeList::kRun + lives.runs.size() - 1)};
  }

  void AddEarly(BlockId id) {
    const BlockLife& life = lives[id];
    for (const NodeId touch : lives.Touches(id)) {
      const OrderPoint start = order.StartOf(touch);
      if (Root(start.graph) != life.root || order.Covers(start, life.alloc)) continue;
      if (!IsWord(touch, id)) starts.push_back(touch);
    }
  }

  // True if a node has the block's address only in words of structures.
  bool IsWord(NodeId node, BlockId id) const {
    const Node of = trace[node];
    if (of.kernel.index() >= structures.size() || !structures[of.kernel.index()]) return false;
    return std::ranges::none_of(trace.accesses.Of(of.accesses), [&](const Access& access) {
      return access.block == id && access.mode != AccessMode::kUnknown;
    });
  }

  // True if a node runs after the block's allocation and before its free.
  bool Lives(NodeId touch, const BlockLife& life) const {
    if (!order.Covers(order.StartOf(touch), life.alloc)) return false;
    if (!life.freed || life.foreign) return true;
    const NodeId node = OutOfLoops(touch, life.alloc.graph);
    return std::ranges::any_of(lives.Nodes(life.at_free), [&](const NodeId marker) {
      return node == marker || order.EndsBefore(node, marker);
    });
  }

  // What lies in a structure beside the pointers that the kernel uses is left over from earlier
  // launches, and any block may lie there by now. A use has waited for the block's allocation, and
  // its free waits for it.
  void DropStrayWords() {
    if (std::ranges::find(structures, true) == structures.end()) return;
    size_t kept = 0;
    for (size_t i = 0; i < lives.blocks.size(); ++i) {
      const BlockId id(i);
      const BlockLife& life = lives.blocks[i];
      const uint32_t begin = std::exchange(lives.first_touch[i], static_cast<uint32_t>(kept));
      for (uint32_t at = begin; at < lives.first_touch[i + 1]; ++at) {
        const NodeId touch = lives.touches[at];
        const bool own = life.root.valid() && Root(trace[touch].graph) == life.root;
        if (!own || !IsWord(touch, id) || Lives(touch, life)) lives.touches[kept++] = touch;
      }
    }
    lives.first_touch.back() = static_cast<uint32_t>(kept);
    lives.touches.resize(kept);
  }

  // A node that hangs on its stream by a programmatic edge, or that follows a rewind, runs before
  // the stream's earlier nodes have ended: it may touch what was allocated between, and isn't after
  // the allocation point.
  void AddUnordered(const Block& block, const OrderPoint& alloc) {
    if (block.alloc_node.valid()) return;
    const Seq end = block.freed() ? block.free_requested + 1 : kNever;
    for (const NodeId node : still_running.NodesBetween(block.stream, block.allocated, end)) {
      const OrderPoint start = order.StartOf(node);
      if (start.graph != alloc.graph || order.Covers(start, alloc)) break;
      starts.push_back(node);
    }
  }

  // The nodes after which a stream stands.
  void AddFrontier(StreamId stream, const Block& block, BlockLife* life) {
    const StreamFrontier& frontier = replay.Of(stream);
    if (Root(frontier.graph) != life->root) {
      life->foreign = true;
      return;
    }
    for (const FrontierEntry& entry : frontier.entries) markers.push_back(entry.node);
    AddRunning(stream, block, life);
  }

  void Free(BlockId id, std::span<const uint32_t> recorded) {
    const Block& block = trace[id];
    BlockLife& life = lives.blocks[id.index()];
    if (!life.root.valid()) return;
    markers.clear();
    const bool by_node = block.free_node.valid();
    const bool never_ran = by_node && !trace.graph_nodes.Has(block.free_node);
    if (by_node && !never_ran && Root(trace[block.free_node].graph) == life.root) {
      life.freed = true;
      AddFreeNode(id, &life);
    } else if (!never_ran && block.free_requested < ends[life.root.index()]) {
      life.freed = true;
      replay.AdvanceTo(block.free_requested);
      AddFrontier(block.stream, block, &life);
      if (block.free_stream.valid() && block.free_stream != block.stream) {
        AddFrontier(block.free_stream, block, &life);
      }
      for (const uint32_t use : recorded) {
        const BlockStream& other = trace.block_streams[use];
        if (other.seq < block.free_requested && other.stream != block.stream) {
          AddFrontier(other.stream, block, &life);
        }
      }
    }
    const std::span<const NodeId> early = lives.EarlyNodes(id, MarkerRule::kAtFree);
    markers.insert(markers.end(), early.begin(), early.end());
    life.at_free = KeepLast();
  }

  // Of markers, those that don't end before another one.
  NodeList KeepLast() {
    if (markers.size() <= 1) return List(markers);
    order.EndBeforeOthers(markers, &ends_earlier);
    size_t kept = 0;
    for (size_t i = 0; i < markers.size(); ++i) {
      if (!ends_earlier[i]) markers[kept++] = markers[i];
    }
    markers.resize(kept);
    return List(markers);
  }

  // A node inside a loop runs again after whatever else is in the loop: from outside the loop, it
  // is the loop that touches the block.
  NodeId OutOfLoops(NodeId node, GraphId graph) const {
    const NodeId loop = order.nesting().LoopApart(trace[node].graph, graph);
    return loop.valid() ? loop : node;
  }

  // Of the nodes that touch a block, the last one on each chain: the others end before it.
  void LastOnChains(BlockId id) {
    last_nodes.clear();
    last_of_chain.resize(order.chains(), kNone);
    for (const NodeId touch : lives.Touches(id)) {
      const NodeId node = OutOfLoops(touch, lives[id].alloc.graph);
      const ChainPlace place = order.PlaceOf(node);
      if (place.chain >= order.chains()) continue;
      uint32_t& at = last_of_chain[place.chain];
      if (at == kNone) {
        at = static_cast<uint32_t>(last_nodes.size());
        last_nodes.push_back({place.chain, place.seq, node});
      } else if (last_nodes[at].seq < place.seq) {
        last_nodes[at] = {place.chain, place.seq, node};
      }
    }
    markers.clear();
    for (const LastNode& last : last_nodes) {
      markers.push_back(last.node);
      last_of_chain[last.chain] = kNone;
    }
  }

  void Finish(BlockId id) {
    BlockLife& life = lives.blocks[id.index()];
    if (!life.root.valid()) return;
    for (const NodeId touch : lives.Touches(id)) {
      const GraphId root = Root(trace[touch].graph);
      if (root != life.root && runs[root.index()]) life.elsewhere = true;
      if (!order.nesting().Holds(life.alloc.graph, trace[touch].graph)) life.leaves = true;
    }
    const Seq end = std::min(trace[id].free_requested, ends[life.root.index()]);
    const bool captured = ends[life.root.index()] != 0;  // otherwise its nodes are in any order
    life.escaped = captured ? OpaqueBetween(life.root, trace[id].allocated, end)
                            : !opaque_nodes[life.root.index()].empty();
    LastOnChains(id);
    // Known uses count beside those that its streams promise.
    if (life.escaped) {
      const std::span<const NodeId> at_free = lives.Nodes(life.at_free);
      markers.insert(markers.end(), at_free.begin(), at_free.end());
    }
    if (markers.empty() && trace[id].alloc_node.valid()) {
      markers.push_back(trace[id].alloc_node);
    }
    life.last_use = KeepLast();
  }

  // Of the nodes of a chain that touch a block.
  struct LastNode {
    uint32_t chain;
    uint32_t seq;
    NodeId node;
  };

  const Ran& trace;
  Order& order;
  FrontierReplay replay{trace, WholeTrace(trace)};
  StillRunning still_running{trace, order};
  std::vector<Point> points = std::vector<Point>(trace.streams.size());  // by stream
  std::vector<GraphId> roots = {};
  std::vector<Seq> ends = {};   // by root graph: where its last capture ended
  std::vector<bool> runs = {};  // by root graph: it may be launched, not only embedded elsewhere
  std::vector<std::vector<Seq>> opaque_nodes =
      {};  // by root graph: of nodes that may touch anything
  std::vector<bool> structures = FindStructures(trace);  // by kernel: it takes some
  std::vector<NodeId> starts = {};
  std::vector<NodeId> markers = {};
  std::vector<bool> ends_earlier = {};  // of them: before another one
  std::vector<LastNode> last_nodes = {};
  static constexpr uint32_t kNone = 0xffffffff;
  std::vector<uint32_t> last_of_chain = {};  // by chain: its place in last_nodes
  Lifetimes lives = {};
};

}  // namespace

bool SureAccess(const Ran& trace, KernelId kernel, const Access& access) {
  return access.mode != AccessMode::kUnknown || !kernel.valid() || !TakesStructures(trace, kernel);
}

bool OnlyMayTouch(const Ran& trace, NodeId node, BlockId block) {
  bool any = false;
  for (const Access& access : trace.accesses.Of(trace[node].accesses)) {
    if (access.block != block) continue;
    if (SureAccess(trace, trace[node].kernel, access)) return false;
    any = true;
  }
  return any;
}

std::vector<uint32_t> BlocksBySeq(const Ran& trace, Seq Block::*seq) {
  return SortBySeq(trace.blocks.size(), [&](size_t i) { return trace.blocks[i].*seq; });
}

std::vector<bool> BacksSegment(const Ran& trace) {
  std::vector<bool> backs;
  for (const SegmentId segment : SegmentsOfBlocks(trace)) backs.push_back(segment.valid());
  return backs;
}

Lifetimes FindLifetimes(const Ran& trace, Order* order) {
  return LifetimeFinder{trace, *order}.FindAll();
}

}  // namespace graphkit
