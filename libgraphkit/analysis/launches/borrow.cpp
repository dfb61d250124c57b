#include "libgraphkit/analysis/launches/borrow.h"

#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/memory/first_writes.h"
#include "libgraphkit/model/segment_memory.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

// Blocks of captures by address, to find those that lie in some bytes.
class ByAddress {
 public:
  explicit ByAddress(const Facts& facts, const std::vector<bool>& backs) : trace_(facts.trace) {
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      const Block& block = trace_.blocks[i];
      if (backs[i] || !facts.lives().blocks[i].root.valid() || block.address == 0) continue;
      blocks_.emplace_back(i);
      longest_ = std::max(longest_, block.size);
    }
    std::ranges::sort(blocks_, {}, [this](BlockId b) { return trace_[b].address; });
  }

  // With the part of the block that lies there.
  template <typename Visit>
  void In(Range range, Visit visit) const {
    const Address from = range.begin < longest_ ? 0 : range.begin - longest_;
    const auto first = std::ranges::lower_bound(blocks_, from, {},
                                                [this](BlockId b) { return trace_[b].address; });
    for (auto at = first; at != blocks_.end() && trace_[*at].address < range.end; ++at) {
      const Address begin = trace_[*at].address;
      const Range shared{std::max(begin, range.begin),
                         std::min(begin + trace_[*at].size, range.end)};
      if (!shared.empty()) visit(*at, Interval<Bytes>{shared.begin - begin, shared.end - begin});
    }
  }

 private:
  const Trace& trace_;
  std::vector<BlockId> blocks_;
  Bytes longest_ = 0;
};

struct BarFinder {
  BorrowBars Find() {
    const std::vector<SegmentId> segments = SegmentsOfBlocks(trace);
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      if (facts.lives().blocks[i].root.valid()) BarBlock(BlockId(i));
      pool_of[i] = segments[i] ? trace[segments[i]].pool : trace.blocks[i].pool;
    }
    FindStrays();
    FindOutside();
    std::ranges::sort(bars.strays, {}, [](const StrayBytes& stray) {
      return std::tuple(stray.pool, stray.bytes.begin, stray.bytes.end, stray.root, stray.found);
    });
    const auto twice = std::unique(bars.strays.begin(), bars.strays.end());
    bars.strays.erase(twice, bars.strays.end());
    for (const StrayBytes& stray : bars.strays) BarStray(stray);
    std::ranges::stable_sort(bars.blocks, {}, &BarredBlock::block);
    return std::move(bars);
  }

  void Bar(BlockId block, std::span<const Interval<Bytes>> ranges, BorrowBar why) {
    for (const Interval<Bytes>& bytes : ranges) bars.blocks.push_back({block, bytes, why, true});
  }

  void BarBlock(BlockId id) {
    const BlockLife& life = facts.lives()[id];
    const bool promised = rule == MarkerRule::kLastUse && !life.escaped;
    const bool leaves = !life.freed || (life.foreign && !promised);
    const BorrowBar left = life.freed ? BorrowBar::kOtherStream : BorrowBar::kOutput;
    if (leaves) bars.blocks.push_back({id, {0, trace[id].size}, left});
    for (const FirstWrites::OfGraph& of : writes.Of(id)) {
      if (of.root != life.root) {
        if (life.elsewhere) Bar(id, of.touched, BorrowBar::kOtherGraph);
        continue;
      }
      Bar(id, of.found, BorrowBar::kReadFirst);
      if (leaves) Bar(id, of.kept, left);
    }
  }

  // An access of unknown length ends with its block; where none lay, with the longest one that
  // ever did, or with the segment.
  Range BytesOf(const Access& access, bool* inside) const {
    const Block& block = trace[access.block];
    const Address begin = block.address + std::min(access.offset, block.size);
    Address end = begin;
    by_address.In({begin, begin + 1}, [&](BlockId there, Interval<Bytes>) {
      end = std::max(end, trace[there].address + trace[there].size);
    });
    *inside = end > begin;
    if (access.length != kLengthUnknown) return {begin, begin + access.length};
    const bool segment = backs[access.block.index()];
    return {begin, segment && *inside ? end : block.address + block.size};
  }

  // A launch finds there what blocks of other graphs, that were freed or came later, leave.
  void FindStrays() {
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      for (const Access& access : trace.accesses.Of(trace.nodes[i].accesses)) {
        if (access.block.index() >= backs.size() || !backs[access.block.index()]) continue;
        StrayBytes stray{.pool = pool_of[access.block.index()]};
        stray.root = facts.roots()[trace.nodes[i].graph.index()];
        stray.bytes = BytesOf(access, &stray.inside);
        bars.strays.push_back(stray);
        if (access.mode != AccessMode::kWrite) AddFound(NodeId(i), stray);
      }
    }
  }

  void AddFound(NodeId node, StrayBytes stray) {
    std::vector<Range> left = {stray.bytes};
    by_address.In(stray.bytes, [&](BlockId block, Interval<Bytes> bytes) {
      if (facts.lives()[block].root != stray.root) return;
      std::vector<Interval<Bytes>> unwritten = {bytes};
      writes.TakeOutWritten(block, stray.root, node, &unwritten);
      const Address begin = trace[block].address;
      std::vector<Interval<Bytes>> written = {bytes};
      for (const Interval<Bytes>& part : unwritten) TakeOut(part, &written);
      for (const Interval<Bytes>& part : written) {
        TakeOut(Range{begin + part.begin, begin + part.end}, &left);
      }
    });
    stray.found = true;
    for (const Range& part : left) {
      stray.bytes = part;
      bars.strays.push_back(stray);
    }
  }

  // Accesses of work outside of graphs: blocks that were freed by then, or none.
  void FindOutside() {
    // Of the work that reached some bytes the last one; by whether a block lay there.
    std::map<std::tuple<bool, Address, Address>, StrayBytes> last;
    for (const EagerWork& work : trace.works) {
      for (const Access& access : trace.accesses.Of(work.accesses)) {
        if (access.block.index() >= trace.blocks.size()) continue;
        StrayBytes stray{.pool = pool_of[access.block.index()], .seq = work.seq};
        stray.bytes = BytesOf(access, &stray.inside);
        const bool there =
            !backs[access.block.index()] && trace[access.block].free_completed > work.seq;
        last[{there, stray.bytes.begin, stray.bytes.end}] = stray;  // works come in their order
      }
    }
    for (const auto& [key, stray] : last) {
      if (!std::get<0>(key)) bars.strays.push_back(stray);
      by_address.In(stray.bytes, [&, at = stray.seq](BlockId block, Interval<Bytes> bytes) {
        if (trace[block].free_requested > at) return;
        bars.blocks.push_back({block, bytes, BorrowBar::kOutside, true});
      });
    }
  }

  void BarStray(const StrayBytes& stray) {
    if (!stray.root.valid()) return;
    by_address.In(stray.bytes, [&](BlockId block, Interval<Bytes> bytes) {
      if (!stray.found && facts.lives()[block].root == stray.root) return;
      bars.blocks.push_back({block, bytes, BorrowBar::kOtherGraph, true});
    });
  }

  const Facts& facts;
  const MarkerRule rule;
  const Trace& trace = facts.trace;
  const FirstWrites writes{facts};
  const std::vector<bool> backs = std::vector<bool>(BacksSegment(facts.trace));
  const ByAddress by_address{facts, backs};
  std::vector<PoolId> pool_of = std::vector<PoolId>(
      facts.trace.blocks.size());  // by block: its own, or that of the segment that it backs
  BorrowBars bars = {};
};

// The granules of a block that hold some of its bytes: all that is lent has whole ones.
Range GranulesOf(const Block& block, Interval<Bytes> bytes) {
  const Address begin = block.address + bytes.begin / kBlockGranularity * kBlockGranularity;
  return {begin, block.address + RoundUp(bytes.end, kBlockGranularity)};
}

bool HasDurations(const Trace& trace) {
  return std::ranges::any_of(trace.nodes, [](const Node& node) { return node.duration_ns != 0; });
}

// Finds the free bytes of captures' pools, pool by pool.
class BorrowFinder {
 public:
  BorrowFinder(const Facts& facts, MarkerRule rule)
      : facts_(facts),
        trace_(facts.trace),
        backs_(BacksSegment(facts.trace)),
        bars_(FindBorrowBars(facts, rule)),
        measured_(HasDurations(facts.trace)) {
    for (const GraphId graph : facts.ran()) {
      ran_.push_back(graph.valid() ? facts.roots()[graph.index()] : graph);
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
      if (backs_[i] || block.address == 0) continue;
      const PoolKind kind = KindOf(trace_, block.pool);
      if (kind != PoolKind::kPrivate && kind != PoolKind::kAllocator) continue;
      const GraphId root = facts_.lives().blocks[i].root;
      if (root.valid()) graphs_[block.pool].insert(root);
      blocks_[block.pool].emplace_back(i);
    }
    std::erase_if(blocks_, [this](const auto& of) { return !graphs_.contains(of.first); });
  }

  void GroupByPool() {
    captured_.resize(trace_.graphs.size());
    for (const Capture& capture : trace_.captures) {
      if (!capture.graph.valid() || capture.end == kNever) continue;
      Seq& end = captured_[facts_.roots()[capture.graph.index()].index()];
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
    std::map<std::pair<GraphId, GraphId>, std::pair<BorrowWindow, std::vector<Nanoseconds>>>
        windows;
    std::optional<uint32_t> last;
    first_ = kNever;
    for (const uint32_t i : launches_[pool->pool]) {
      ++pool->launches;
      ++pool->looks;
      const Seq at = trace_.launches[i].seq;
      if (!last) first_ = at;
      if (last) {
        auto& [window, times] = windows[{ran_[*last], ran_[i]}];
        ++window.count;
        if (!facts_.launch_order().Before(*last, i)) ++window.unordered;
        if (const auto time = TimeBetween(*last, i)) times.push_back(*time);
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
    for (auto& [key, of_pair] : windows) {
      auto& [window, times] = of_pair;
      std::tie(window.after, window.before) = key;
      std::ranges::sort(times);
      if (!times.empty()) {
        window.shortest_ns = times.front();
        window.median_ns = times[times.size() / 2];
      }
      pool->windows.push_back(window);
    }
    std::ranges::stable_sort(pool->windows, std::ranges::greater{}, &BorrowWindow::count);
  }

  std::optional<Nanoseconds> TimeBetween(uint32_t first, uint32_t second) const {
    const Nanoseconds from = TimeAt(trace_, trace_.launches[first].seq);
    const Nanoseconds to = TimeAt(trace_, trace_.launches[second].seq);
    if (from == 0 || to == 0) return {};
    const Nanoseconds runs = measured_ ? facts_.shapes()[ran_[first].index()].critical_path_ns : 0;
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
      if (!facts_.lives()[id].root.valid() && EagerBetween(block)) {
        barred.push_back(GranulesOf(block, {0, block.size}));
        pool->barred.push_back({id, {0, block.size}, BorrowBar::kEager});
      }
      for (const BarredBlock& bar : bars_.Of(id)) {
        barred.push_back(GranulesOf(block, bar.bytes));
        const bool listed = !pool->barred.empty() && pool->barred.back().block == id &&
                            pool->barred.back().bytes.end >= bar.bytes.end;
        if (!listed) pool->barred.push_back(bar);
      }
    }
    BarStrays(&barred, pool);
    std::ranges::stable_sort(pool->barred, std::ranges::greater{},
                             [](const BarredBlock& b) { return b.bytes.size(); });
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

  // Accesses of the pool's own graphs there count where they may find something.
  void BarStrays(std::vector<Range>* barred, PoolBorrow* pool) const {
    auto at = std::ranges::lower_bound(bars_.strays, pool->pool, {}, &StrayBytes::pool);
    for (; at != bars_.strays.end() && at->pool == pool->pool; ++at) {
      const StrayBytes& stray = *at;
      const bool own = std::ranges::binary_search(pool->graphs, stray.root);
      if (own != stray.found || (!stray.root.valid() && stray.seq < first_)) continue;
      const Address begin = stray.bytes.begin / kBlockGranularity * kBlockGranularity;
      barred->push_back({begin, RoundUp(stray.bytes.end, kBlockGranularity)});
      if (!stray.inside) pool->barred.push_back({{}, stray.bytes, BorrowBar::kNoBlock, true});
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
  const BorrowBars bars_;
  const bool measured_;       // nodes have durations
  std::vector<GraphId> ran_;  // by launch; root graphs
  std::map<PoolId, std::vector<BlockId>> blocks_;
  std::map<PoolId, std::set<GraphId>> graphs_;
  std::map<PoolId, std::vector<uint32_t>> launches_;
  std::map<PoolId, std::vector<const Segment*>> segments_;
  std::vector<Seq> captured_;  // by root graph: when its last capture had ended
  Seq first_ = 0;              // launch of the pool that is looked at, and the last one
  Seq last_ = 0;
};

}  // namespace

BorrowBars FindBorrowBars(const Facts& facts, MarkerRule rule) {
  return BarFinder{facts, rule}.Find();
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

GraphMemory FindGraphMemory(const Trace& trace) {
  GraphMemory found;
  for (const Block& block : trace.blocks) {
    if (KindOf(trace, block.pool) != PoolKind::kGraph) continue;
    ++found.blocks;
    found.bytes += block.size;
  }
  return found;
}

std::vector<PoolBorrow> FindBorrow(const Facts& facts, MarkerRule rule) {
  return BorrowFinder(facts, rule).Find();
}

}  // namespace graphkit
