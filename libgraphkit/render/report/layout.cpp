#include "libgraphkit/render/report/layout.h"

#include <map>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/shape.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/parallel.h"

namespace graphkit {
namespace {

constexpr uint32_t kNodeWidth = 4;
constexpr uint32_t kEventWidth = 1;
constexpr size_t kMostLanes = 64;  // of one graph's nodes without a stream

// Places in the trace that take room on the axis, and where they begin.
class Axis {
 public:
  void Add(Seq seq, uint32_t width) {
    if (seq != kNever) ticks_.push_back({seq, width});
  }
  // Where ticks lie close together, as mostly, it is noted for each place what lies before it.
  void Finish() {
    constexpr size_t kSparse = 8;  // more places than that for each tick
    if (ticks_.empty()) return;
    const auto [first, last] = std::ranges::minmax(ticks_, {}, &Tick::seq);
    const size_t places = size_t{last.seq} - first.seq + 1;
    if (places / kSparse <= ticks_.size()) {
      first_ = first.seq;
      before_.assign(places + 1, 0);
      for (const Tick& tick : ticks_) before_[tick.seq - first_ + 1] += tick.width_or_x;
      std::partial_sum(before_.begin(), before_.end(), before_.begin());
      width_ = before_.back();
      std::exchange(ticks_, {});
      return;
    }
    std::ranges::sort(ticks_, {}, &Tick::seq);
    uint32_t x = 0;
    for (Tick& tick : ticks_) {
      const uint32_t width = tick.width_or_x;
      tick.width_or_x = x;
      x += width;
    }
    width_ = x;
  }
  // Where what happened at `seq` begins; the end of the axis for what came later or never.
  uint32_t At(Seq seq) const {
    if (!before_.empty()) {
      if (seq <= first_) return 0;
      return seq - first_ < before_.size() ? before_[seq - first_] : width_;
    }
    const auto found = std::ranges::lower_bound(ticks_, seq, {}, &Tick::seq);
    return found == ticks_.end() ? width_ : found->width_or_x;
  }
  uint32_t width() const { return width_; }

 private:
  struct Tick {
    Seq seq;
    uint32_t width_or_x;
  };
  std::vector<Tick> ticks_;
  Seq first_ = 0;
  std::vector<uint32_t> before_;  // from first_ on; empty: see ticks_
  uint32_t width_ = 0;
};

// Lanes of nodes without a stream: a node goes on behind one that it depends on, where that is the
// last of its lane.
struct ExplicitLanes {
  // The place among the graph's lanes.
  size_t Take(NodeId node) {
    std::vector<NodeId>& last = last_of[facts.trace[node].graph];
    size_t lane = last.size();
    for (const InEdge& edge : facts.in_edges().Of(node.index())) {
      const auto found = std::ranges::find(last, edge.from);
      if (found != last.end()) lane = static_cast<size_t>(found - last.begin());
      if (lane < last.size()) break;
    }
    if (lane == last.size() && lane < kMostLanes) last.emplace_back();
    lane %= last.size();
    last[lane] = node;
    return lane;
  }

  const Facts& facts;
  std::map<GraphId, std::vector<NodeId>> last_of = {};
};

class ViewMaker {
 public:
  ViewMaker(const Facts& facts, GraphId root)
      : trace_(facts.trace), whole_(!root), explicit_{facts} {
    view_.root = root;
  }

  ReportView Make(std::span<const uint32_t> nodes, const std::vector<BlockId>& blocks) {
    for (const uint32_t node : nodes) axis_.Add(trace_.nodes[node].seq, kNodeWidth);
    for (const BlockId block : blocks) {
      axis_.Add(trace_[block].allocated, kEventWidth);
      axis_.Add(trace_[block].free_requested, kEventWidth);
    }
    if (whole_) {
      for (const Launch& launch : trace_.launches) axis_.Add(launch.seq, kNodeWidth);
    }
    axis_.Finish();
    view_.width = axis_.width();
    view_.nodes.reserve(nodes.size());
    for (const uint32_t node : nodes) PlaceNode(NodeId(node));
    if (whole_) PlaceLaunches();
    PlaceBlocks(blocks);
    PutOwnLanesFirst();
    if (whole_) {
      for (const Seq seq : PlacesOfEvents(trace_, {})) view_.events.push_back(axis_.At(seq));
    }
    return std::move(view_);
  }

 private:
  // `title` is asked for the first node of a lane only.
  template <typename Title>
  uint32_t Lane(GraphId graph, StreamId stream, size_t of_graph, Title title) {
    const auto key = std::tuple(graph, stream, of_graph);
    const auto [found, fresh] = lanes_.emplace(key, static_cast<uint32_t>(view_.lanes.size()));
    if (fresh) view_.lanes.push_back({title(), graph, stream});
    return found->second;
  }

  // Lanes of embedded graphs are named after them.
  std::string LaneTitle(GraphId graph, const std::string& name) const {
    if (graph == view_.root) return name;
    return "↳ " + GraphTitle(trace_, graph) + (name == "lane 0" ? "" : ", " + name);
  }

  uint32_t NodeLane(NodeId id) {
    const Node& node = trace_[id];
    const auto stream_title = [&] { return StreamTitle(trace_, node.stream); };
    if (whole_ && node.stream) return Lane({}, node.stream, 0, stream_title);
    if (whole_) return Lane(node.graph, {}, 0, [&] { return GraphTitle(trace_, node.graph); });
    if (node.stream) {
      return Lane(node.graph, node.stream, 0,
                  [&] { return LaneTitle(node.graph, stream_title()); });
    }
    const size_t lane = explicit_.Take(id);
    return Lane(node.graph, {}, lane,
                [&] { return LaneTitle(node.graph, "lane " + std::to_string(lane)); });
  }

  void PlaceNode(NodeId id) { view_.nodes.push_back({id, axis_.At(trace_[id].seq), NodeLane(id)}); }

  // Lanes of embedded graphs go below those of the graph that holds them.
  void PutOwnLanesFirst() {
    const std::vector<uint32_t> order = IndicesBy(view_.lanes.size(), [&](uint32_t lane) {
      return !whole_ && view_.lanes[lane].graph != view_.root;
    });
    std::vector<uint32_t> place(order.size());
    std::vector<ReportLane> lanes;
    for (const uint32_t lane : order) {
      place[lane] = static_cast<uint32_t>(lanes.size());
      lanes.push_back(std::move(view_.lanes[lane]));
    }
    view_.lanes = std::move(lanes);
    for (auto& node : view_.nodes) node.lane = place[node.lane];
    for (auto& launch : view_.launches) launch.lane = place[launch.lane];
  }

  void PlaceLaunches() {
    for (size_t i = 0; i < trace_.launches.size(); ++i) {
      const Launch& launch = trace_.launches[i];
      view_.launches.push_back({LaunchId(i), axis_.At(launch.seq), Lane({}, launch.stream, 0, [&] {
                                  return StreamTitle(trace_, launch.stream);
                                })});
    }
  }

  void PlaceBlocks(const std::vector<BlockId>& blocks) {
    CompactMemory memory = CompactAddresses(trace_, blocks, whole_);
    view_.blocks.reserve(blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Block& block = trace_[blocks[i]];
      view_.blocks.push_back({blocks[i], axis_.At(block.allocated), axis_.At(block.free_requested),
                              axis_.At(block.free_completed), memory.offsets[i]});
    }
    view_.bands = std::move(memory.bands);
    view_.extent = memory.extent;
  }

  const Ran& trace_;
  bool whole_;
  Axis axis_;
  ExplicitLanes explicit_;
  std::map<std::tuple<GraphId, StreamId, size_t>, uint32_t> lanes_;
  ReportView view_;
};

void AddPolicy(const PolicyReplay& policy, ReportView& view) {
  const auto graph = std::ranges::lower_bound(policy.graphs, view.root, {}, &GraphReplay::graph);
  if (graph == policy.graphs.end() || graph->graph != view.root) return;
  size_t blocks = 0;
  for (const ReplayedPool& pool : graph->pools) blocks += pool.arena.size();
  view.policy.reserve(blocks);
  for (const ReplayedPool& pool : graph->pools) {
    Bytes size = 0;
    for (const PlacedBlock& block : pool.arena) {
      view.policy.push_back({block.block, view.policy_extent + block.offset});
      size = std::max(size, block.offset + block.size);
    }
    view.policy_bands.push_back({pool.pool, {}, view.policy_extent, size});
    view.policy_extent += size;
  }
  std::ranges::sort(view.policy, {}, &PolicyPlace::block);
}

struct Range {
  SegmentId segment;
  PoolId pool;
  Address begin = 0;
  Address end = 0;
  Bytes offset = 0;
};

// None: the trace has no such segment.
SegmentId SegmentOf(const Ran& trace, const Block& block) {
  return block.segment.index() < trace.segments.size() ? block.segment : SegmentId();
}

// The index of a block.
struct Placed {
  SegmentId segment;
  uint32_t index;
  Address address;
};

// Blocks by segment and address; those outside segments last.
std::vector<Placed> ByAddress(const Ran& trace, std::span<const BlockId> blocks) {
  std::vector<Placed> sorted;
  sorted.reserve(blocks.size());
  for (const BlockId id : blocks) {
    const Block& block = trace[id];
    sorted.push_back(
        {SegmentOf(trace, block), static_cast<uint32_t>(sorted.size()), block.address});
  }
  std::ranges::sort(sorted, {}, [](const Placed& placed) {
    return std::tuple(placed.segment, placed.address, placed.index);
  });
  return sorted;
}

void Extend(const Ran& trace, const Block& block, std::vector<Range>& ranges) {
  const Address end = block.address + AllocatedSize(block);
  const SegmentId segment = SegmentOf(trace, block);
  const bool same = !ranges.empty() && ranges.back().segment == segment &&
                    (segment || (ranges.back().end >= block.address));
  if (!same) ranges.push_back({segment, block.pool, block.address, end});
  ranges.back().end = std::max(ranges.back().end, end);
}

}  // namespace

std::vector<ReportView> LayOutReport(const Facts& facts, const PolicyReplay* policy) {
  const Ran& trace = facts.trace;
  std::vector<uint32_t> nodes;
  for (const NodeId id : trace.graph_nodes) nodes.push_back(id.value);
  const Grouped by_root =
      Group(nodes, trace.graphs.size(), [&](uint32_t node) { return facts.RootOf(NodeId(node)); });
  std::vector<std::vector<NodeId>> paths = LongestPaths(trace, facts.in_edges());
  std::vector<GraphId> roots;
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (facts.roots()[i] == GraphId(i)) roots.emplace_back(i);
  }
  std::vector<ReportView> views(roots.size());
  ParallelFor(roots.size(), ThreadsFor(trace), [&](size_t i) {
    const size_t root = roots[i].index();
    std::vector<uint32_t> own;
    own.reserve(by_root.Of(root).size());
    for (const uint32_t item : by_root.Of(root)) own.push_back(nodes[item]);
    views[i] = ViewMaker(facts, roots[i]).Make(own, facts.blocks()[root]);
    views[i].path = std::move(paths[root]);
    if (policy != nullptr) AddPolicy(*policy, views[i]);
  });
  std::vector<BlockId> all;  // but the memory that segments are made of
  for (size_t i = 0; i < trace.blocks.size(); ++i)
    if (!facts.lives().backs_segment[i]) all.emplace_back(i);
  const bool one = views.size() == 1 && views[0].blocks.size() == all.size();
  if (!one) views.push_back(ViewMaker(facts, {}).Make(nodes, all));
  return views;
}

CompactMemory CompactAddresses(const Ran& trace, std::span<const BlockId> blocks,
                               bool whole_segments) {
  std::vector<Range> ranges;
  std::vector<uint32_t> range_of(blocks.size());
  for (const Placed& placed : ByAddress(trace, blocks)) {
    Extend(trace, trace[blocks[placed.index]], ranges);
    range_of[placed.index] = static_cast<uint32_t>(ranges.size() - 1);
  }
  for (Range& range : ranges) {
    if (!whole_segments || !range.segment) continue;
    const Segment& segment = trace[range.segment];
    range.begin = std::min(range.begin, segment.address);
    range.end = std::max(range.end, segment.address + segment.size);
  }
  const std::vector<uint32_t> order = IndicesBy(
      ranges.size(), [&](uint32_t i) { return std::pair(ranges[i].pool, ranges[i].begin); });
  CompactMemory memory;
  memory.bands.reserve(ranges.size());
  memory.offsets.reserve(blocks.size());
  for (const uint32_t i : order) {
    Range& range = ranges[i];
    range.offset = memory.extent;
    memory.bands.push_back({range.pool, range.segment, memory.extent, range.end - range.begin});
    memory.extent += range.end - range.begin;
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Range& range = ranges[range_of[i]];
    memory.offsets.push_back(range.offset + trace[blocks[i]].address - range.begin);
  }
  return memory;
}

}  // namespace graphkit
