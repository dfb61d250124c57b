#include "libgraphkit/analysis/memory/borrow.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

#include "libgraphkit/analysis/host_time.h"
#include "libgraphkit/analysis/order/launches.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

Range RangeOf(const Block& block) {
  return {block.address, block.address + RoundUp(block.size, kBlockGranularity)};
}

// Whether what touches the block first only reads it.
bool ReadFirst(const Facts& facts, BlockId block) {
  const auto touches = facts.lives.Touches(block);
  if (touches.empty()) return false;
  bool read = false;
  for (const Access& access : facts.trace.accesses.Of(facts.trace[touches[0].node].accesses)) {
    if (access.block != block) continue;
    if (access.mode != AccessMode::kRead) return false;
    read = true;
  }
  return read;
}

std::optional<BorrowBar> BarOf(const Facts& facts, const BlockOrder& order, BlockId block) {
  const BlockLife& life = facts.lives[block];
  if (life.elsewhere) return BorrowBar::kOtherGraph;
  if (ReadFirst(facts, block)) return BorrowBar::kReadFirst;
  if (!life.freed) return BorrowBar::kOutput;
  if (!order.Dies(block)) return BorrowBar::kOtherStream;
  return {};
}

// Blocks of captures by address, to find those that lie in some bytes.
class ByAddress {
 public:
  explicit ByAddress(const Facts& facts) : trace_(facts.trace) {
    const std::vector<bool> backs = BacksSegment(trace_);
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      const Block& block = trace_.blocks[i];
      if (backs[i] || !facts.lives.blocks[i].root.valid() || block.address == 0) continue;
      blocks_.emplace_back(i);
      longest_ = std::max(longest_, RangeOf(block).size());
    }
    std::ranges::sort(blocks_, {}, [this](BlockId b) { return trace_[b].address; });
  }

  template <typename Visit>
  void In(Range range, Visit visit) const {
    const Address from = range.begin < longest_ ? 0 : range.begin - longest_;
    const auto first = std::ranges::lower_bound(blocks_, from, {},
                                                [this](BlockId b) { return trace_[b].address; });
    for (auto at = first; at != blocks_.end() && trace_[*at].address < range.end; ++at) {
      if (Overlaps(RangeOf(trace_[*at]), range)) visit(*at);
    }
  }

 private:
  const Trace& trace_;
  std::vector<BlockId> blocks_;
  Bytes longest_ = 0;
};

// What work outside of graphs touches: blocks that were freed by then, in the bytes that it may
// reach. Its end isn't known where it has none: then it is taken to stay within them.
void BarOutside(const Facts& facts, std::vector<std::optional<BorrowBar>>* bars) {
  const Trace& trace = facts.trace;
  std::map<std::pair<Address, Address>, Seq> last;  // of the work that reached some bytes
  for (const EagerWork& work : trace.works) {
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      if (access.block.index() >= trace.blocks.size()) continue;
      const Address begin = trace[access.block].address + access.offset;
      const Bytes length = access.length == kLengthUnknown ? 1 : access.length;
      last[{begin, begin + length}] = work.seq;  // works come in their order
    }
  }
  if (last.empty()) return;
  const ByAddress by_address(facts);
  for (const auto& [range, seq] : last) {
    by_address.In({range.first, range.second}, [&, at = seq](BlockId block) {
      std::optional<BorrowBar>& bar = (*bars)[block.index()];
      if (!bar && trace[block].free_requested <= at) bar = BorrowBar::kOutside;
    });
  }
}

// What nodes touch of segments in bytes where no block lay then: of blocks of other graphs that
// were freed, or came later. Their launches find there what is left by these graphs.
void BarStrayTouches(const Facts& facts, std::vector<std::optional<BorrowBar>>* bars) {
  const Trace& trace = facts.trace;
  const std::vector<bool> backs = BacksSegment(trace);
  if (std::ranges::find(backs, true) == backs.end()) return;
  std::set<std::tuple<Address, Address, GraphId>> strays;  // by bytes, and the graph
  for (const Node& node : trace.nodes) {
    for (const Access& access : trace.accesses.Of(node.accesses)) {
      if (access.block.index() >= backs.size() || !backs[access.block.index()]) continue;
      const Address begin = trace[access.block].address + access.offset;
      const Bytes length = access.length == kLengthUnknown ? 1 : access.length;
      strays.emplace(begin, begin + length, facts.roots[node.graph.index()]);
    }
  }
  if (strays.empty()) return;
  const ByAddress by_address(facts);
  for (const auto& [begin, end, graph] : strays) {
    by_address.In({begin, end}, [&, root = graph](BlockId block) {
      std::optional<BorrowBar>& bar = (*bars)[block.index()];
      if (!bar && facts.lives[block].root != root) bar = BorrowBar::kOtherGraph;
    });
  }
}

// Empty: no node has a duration.
std::vector<Shape> MeasuredShapes(const Trace& trace) {
  const auto measured = [](const Node& node) { return node.duration_ns != 0; };
  if (std::ranges::none_of(trace.nodes, measured)) return {};
  return FindShapes(trace, FindInEdges(trace));
}

// What the pools of captures come to, pool by pool.
class Finder {
 public:
  Finder(const Facts& facts, MarkerRule rule)
      : facts_(facts),
        trace_(facts.trace),
        backs_(BacksSegment(facts.trace)),
        bars_(FindBorrowBars(facts, rule)),
        order_(facts.trace),
        shapes_(MeasuredShapes(facts.trace)) {
    RunGraphs run(trace_);
    for (const Launch& launch : trace_.launches) {
      const GraphId graph = run.Of(launch);
      ran_.push_back(graph.valid() ? facts.roots[graph.index()] : graph);
    }
    FindPools();
    GroupByPool();
  }

  std::vector<PoolBorrow> Find() {
    std::vector<PoolBorrow> found;
    for (auto& [pool, blocks] : blocks_) {
      PoolBorrow one{.pool = pool};
      const std::set<GraphId>& graphs = graphs_[pool];
      one.graphs.assign(graphs.begin(), graphs.end());
      FindWindows(&one);
      FindFree(blocks, &one);
      found.push_back(std::move(one));
    }
    return found;
  }

 private:
  void FindPools() {
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      const Block& block = trace_.blocks[i];
      if (backs_[i] || block.address == 0 || !block.pool.valid()) continue;
      const PoolKind kind = trace_[block.pool].kind;
      if (kind != PoolKind::kPrivate && kind != PoolKind::kAllocator) continue;
      const GraphId root = facts_.lives.blocks[i].root;
      if (root.valid()) graphs_[block.pool].insert(root);
      blocks_[block.pool].emplace_back(i);
    }
    std::erase_if(blocks_, [this](const auto& of) { return !graphs_.contains(of.first); });
  }

  void GroupByPool() {
    captured_.resize(trace_.graphs.size());
    for (const Capture& capture : trace_.captures) {
      if (!capture.graph.valid() || capture.end == kNever) continue;
      Seq& end = captured_[facts_.roots[capture.graph.index()].index()];
      end = std::max(end, capture.end);
    }
    std::vector<std::vector<PoolId>> pools(trace_.graphs.size());
    for (const auto& [pool, graphs] : graphs_) {
      for (const GraphId graph : graphs) pools[graph.index()].push_back(pool);
    }
    for (uint32_t i = 0; i < ran_.size(); ++i) {
      if (!ran_[i].valid()) continue;
      for (const PoolId pool : pools[ran_[i].index()]) launches_[pool].push_back(i);
    }
    for (const Segment& segment : trace_.segments) {
      if (segment.address != 0) segments_[segment.pool].push_back(&segment);
    }
  }

  // Launches of the pool's graphs, one after the other.
  void FindWindows(PoolBorrow* pool) {
    std::map<std::pair<GraphId, GraphId>, BorrowWindow> windows;
    std::map<std::pair<GraphId, GraphId>, std::vector<Nanoseconds>> times;
    std::optional<uint32_t> last;
    first_ = kNever;
    for (const uint32_t i : launches_[pool->pool]) {
      ++pool->launches;
      ++pool->looks;
      const Seq at = trace_.launches[i].seq;
      if (!last) first_ = at;
      if (last) {
        const std::pair key(ran_[*last], ran_[i]);
        BorrowWindow& window = windows[key];
        ++window.count;
        if (!order_.Before(*last, i)) ++window.unordered;
        if (const auto time = TimeBetween(*last, i)) times[key].push_back(*time);
      }
      last = i;
      last_ = at;
    }
    // Where nothing was launched: when the last capture into the pool had ended.
    if (!last) {
      first_ = last_ = 0;
      for (const GraphId graph : pool->graphs) last_ = std::max(last_, captured_[graph.index()]);
      first_ = last_;
      pool->looks += pool->graphs.size();
    }
    for (auto& [key, window] : windows) {
      window.after = key.first;
      window.before = key.second;
      std::vector<Nanoseconds>& of = times[key];
      std::ranges::sort(of);
      if (!of.empty()) {
        window.shortest = of.front();
        window.median = of[of.size() / 2];
      }
      pool->windows.push_back(window);
    }
    std::ranges::stable_sort(pool->windows, std::ranges::greater{}, &BorrowWindow::count);
  }

  std::optional<Nanoseconds> TimeBetween(uint32_t first, uint32_t second) const {
    const Nanoseconds from = TimeAt(trace_, trace_.launches[first].seq);
    const Nanoseconds to = TimeAt(trace_, trace_.launches[second].seq);
    if (from == 0 || to == 0) return {};
    const Nanoseconds runs = shapes_.empty() ? 0 : shapes_[ran_[first].index()].critical_path_ns;
    return to < from + runs ? 0 : to - from - runs;
  }

  bool EagerBetween(const Block& block) const {
    return block.allocated <= last_ && block.free_completed > first_;
  }

  void FindFree(const std::vector<BlockId>& blocks, PoolBorrow* pool) {
    std::vector<Range> barred;
    for (const BlockId id : blocks) {
      const Block& block = trace_[id];
      if (block.allocated <= last_ && block.free_completed > last_) pool->in_use += block.size;
      std::optional<BorrowBar> bar = bars_[id.index()];
      if (!facts_.lives[id].root.valid() && EagerBetween(block)) bar = BorrowBar::kEager;
      if (!bar) continue;
      barred.push_back(RangeOf(block));
      pool->barred.push_back({id, *bar});
    }
    std::ranges::stable_sort(pool->barred, std::ranges::greater{},
                             [this](const BarredBlock& b) { return trace_[b.block].size; });
    std::ranges::sort(barred, {}, &Range::begin);
    Address reached = 0;  // segments overlap where the trace lost what freed one
    size_t over = 0;
    for (const Range& segment : SegmentsOf(pool)) {
      pool->reserved += segment.size();
      const Range rest{std::max(segment.begin, reached), segment.end};
      for (; over < barred.size() && barred[over].end <= rest.begin; ++over) ++pool->looks;
      pool->looks += Subtract(rest, std::span(barred).subspan(over), &pool->free);
      reached = std::max(reached, segment.end);
    }
  }

  std::vector<Range> SegmentsOf(PoolBorrow* pool) {
    std::vector<Range> found;
    for (const Segment* segment : segments_[pool->pool]) {
      ++pool->looks;
      const bool there = segment->allocated <= last_ && segment->freed > last_;
      if (there) found.push_back({segment->address, segment->address + segment->size});
    }
    std::ranges::sort(found, {}, &Range::begin);
    return found;
  }

  // `barred`: by begin; they may overlap, as blocks that lay there in turn do. How many of them
  // were looked at.
  static size_t Subtract(Range segment, std::span<const Range> barred, std::vector<Range>* free) {
    Address reached = segment.begin;
    size_t looks = 0;
    for (const Range& bar : barred) {
      if (bar.begin >= segment.end) break;
      ++looks;
      if (bar.end <= reached) continue;
      if (bar.begin > reached) free->push_back({reached, bar.begin});
      reached = bar.end;
    }
    if (reached < segment.end) free->push_back({reached, segment.end});
    return looks;
  }

  const Facts& facts_;
  const Trace& trace_;
  const std::vector<bool> backs_;
  const std::vector<std::optional<BorrowBar>> bars_;
  const LaunchOrder order_;
  const std::vector<Shape> shapes_;  // by graph; empty: nothing was measured
  std::vector<GraphId> ran_;         // by launch; root graphs
  std::map<PoolId, std::vector<BlockId>> blocks_;
  std::map<PoolId, std::set<GraphId>> graphs_;
  std::map<PoolId, std::vector<uint32_t>> launches_;
  std::map<PoolId, std::vector<const Segment*>> segments_;
  std::vector<Seq> captured_;  // by root graph: when its last capture had ended
  Seq first_ = 0;              // launch of the pool that is looked at, and the last one
  Seq last_ = 0;
};

}  // namespace

const char* BorrowBarName(BorrowBar bar) {
  constexpr const char* kNames[] = {"other graph",  "read first",   "output",
                                    "other stream", "used outside", "allocated outside"};
  return kNames[static_cast<size_t>(bar)];
}

Bytes PoolBorrow::free_bytes() const {
  return std::accumulate(free.begin(), free.end(), Bytes{0},
                         [](Bytes sum, const Range& range) { return sum + range.size(); });
}

Bytes PoolBorrow::largest() const {
  Bytes most = 0;
  for (const Range& range : free) most = std::max(most, range.size());
  return most;
}

std::vector<std::optional<BorrowBar>> FindBorrowBars(const Facts& facts, MarkerRule rule) {
  const BlockOrder order = facts.Blocks(rule);
  std::vector<std::optional<BorrowBar>> bars(facts.trace.blocks.size());
  for (size_t i = 0; i < bars.size(); ++i) {
    if (facts.lives.blocks[i].root.valid()) bars[i] = BarOf(facts, order, BlockId(i));
  }
  BarStrayTouches(facts, &bars);
  BarOutside(facts, &bars);
  return bars;
}

GraphMemory FindGraphMemory(const Trace& trace) {
  GraphMemory found;
  for (const Block& block : trace.blocks) {
    if (!block.pool.valid() || trace[block.pool].kind != PoolKind::kGraph) continue;
    ++found.blocks;
    found.bytes += block.size;
  }
  return found;
}

std::vector<PoolBorrow> FindBorrow(const Facts& facts, MarkerRule rule) {
  return Finder(facts, rule).Find();
}

}  // namespace graphkit
