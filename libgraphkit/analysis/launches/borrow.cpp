#include "libgraphkit/analysis/launches/borrow.h"

#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/launches/strays.h"
#include "libgraphkit/analysis/memory/first_writes.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

struct BarFinder {
  BorrowBars Find() {
    const std::vector<SegmentId> segments = SegmentsOfBlocks(trace);
    std::vector<bool> captured(trace.pools.size());
    for (const auto& [i, block] : Enumerate(trace.blocks)) {
      pool_of[i] = segments[i] ? trace[segments[i]].pool : block.pool;
      if (!facts.lives().blocks[i].root.valid()) continue;
      BarBlock(BlockId(i));
      if (backs[i] || block.address == 0) continue;
      if (block.pool.valid()) captured[block.pool.index()] = true;
    }
    for (PoolId& pool : pool_of) {
      if (pool.valid() && !captured[pool.index()]) pool = {};
    }
    for (const Segment& segment : trace.segments) {
      if (segment.pool.valid() && captured[segment.pool.index()])
        segments_of_captures.Add(AddressesOf(segment), segment.pool);
    }
    segments_of_captures.Sort();
    FindStrays();
    FindOutside();
    SortUnique(&bars.strays, [](const StrayBytes& stray) {
      return std::tuple(stray.pool, stray.bytes.begin, stray.bytes.end, stray.root, stray.block,
                        stray.found);
    });
    for (const StrayBytes& stray : bars.strays) BarStray(stray);
    std::ranges::stable_sort(bars.blocks, {}, &BarredBlock::block);
    return std::move(bars);
  }

  // Blocks of captures in some bytes, with the part of each that lies there.
  template <typename Visit>
  void ForEachBlockIn(Range range, Visit visit) const {
    accesses.ForEachBlockIn(range, [&](BlockId block, Range both) {
      const Address begin = trace[block].address;
      if (IsCaptured(block)) visit(block, Interval<Bytes>{both.begin - begin, both.end - begin});
    });
  }
  bool IsCaptured(BlockId block) const { return facts.lives()[block].root.valid(); }
  bool IsInside(Address at) const {
    bool inside = false;
    ForEachBlockIn({at, at + 1}, [&](BlockId, Interval<Bytes>) { inside = true; });
    return inside;
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

  // True if a block was handed out outside of captures, by a pool that captures allocate in.
  bool IsEager(BlockId id) const {
    return !backs[id.index()] && !IsCaptured(id) && trace[id].address != 0;
  }

  // A launch finds there what blocks of other graphs, that were freed or came later, leave, or what
  // the program put there.
  void FindStrays() {
    for (const NodeId id : trace.graph_nodes) {
      for (const Access& access : trace.accesses.Of(trace[id].accesses)) {
        const BlockId block = access.block;
        if (block.index() >= backs.size() || (!backs[block.index()] && !IsEager(block))) continue;
        StrayBytes stray = StrayAt(access);
        stray.root = facts.RootOf(id);
        if (IsEager(block)) stray.block = block;
        AddStray(stray);
        stray.found = true;
        for (const Range& part : accesses.FoundBy(id, access)) {
          stray.bytes = part;
          AddStray(stray);
        }
      }
    }
  }
  // Memory of another pool may have been where a pool of captures has segments now.
  void AddStray(StrayBytes stray) {
    if (stray.pool.valid()) return bars.strays.push_back(stray);
    segments_of_captures.Visit(stray.bytes, [&](Range, PoolId pool) {
      stray.pool = pool;
      bars.strays.push_back(stray);
    });
  }
  StrayBytes StrayAt(const Access& access) const {
    StrayBytes stray{.pool = pool_of[access.block.index()], .bytes = accesses.BytesOf(access)};
    stray.inside = IsInside(stray.bytes.begin);
    return stray;
  }

  // Accesses of work outside of graphs to blocks of captures, and to where no block lay: of the
  // work that reached some bytes the last one.
  void FindOutside() {
    std::map<std::pair<Address, Address>, StrayBytes> last;
    for (const EagerWork& work : trace.works) {
      for (const Access& access : trace.accesses.Of(work.accesses)) {
        if (access.block.index() >= trace.blocks.size()) continue;
        const bool freed = trace[access.block].free_completed <= work.seq;
        if (IsEager(access.block) && !freed) continue;
        StrayBytes stray = StrayAt(access);
        stray.seq = work.seq;
        last[{stray.bytes.begin, stray.bytes.end}] = stray;  // works come in their order
      }
    }
    for (const auto& [key, stray] : last) {
      AddStray(stray);
      ForEachBlockIn(stray.bytes, [&, at = stray.seq](BlockId block, Interval<Bytes> bytes) {
        if (trace[block].free_requested > at || FirstLaunch(facts.lives()[block].root) > at) return;
        bars.blocks.push_back({block, bytes, BorrowBar::kOutside, true});
      });
    }
  }

  Seq FirstLaunch(GraphId root) const {
    const std::vector<uint32_t>& launches = facts.launches()[root.index()];
    return launches.empty() ? kNever : trace.launches[launches.front()].seq;
  }

  void BarStray(const StrayBytes& stray) {
    if (!stray.root.valid() || stray.block.valid()) return;
    ForEachBlockIn(stray.bytes, [&](BlockId block, Interval<Bytes> bytes) {
      const bool own = facts.lives()[block].root == stray.root;
      if (own && !stray.found) return;
      const BorrowBar why = own ? BorrowBar::kReadFirst : BorrowBar::kOtherGraph;
      bars.blocks.push_back({block, bytes, why, true});
    });
  }

  const Facts& facts;
  const MarkerRule rule;
  const Ran& trace = facts.trace;
  const FirstWrites writes{facts};
  const std::vector<bool>& backs = facts.lives().backs_segment;
  const StrayAccesses accesses{facts, writes};
  RangeIndex<PoolId> segments_of_captures = {};
  std::vector<PoolId> pool_of = std::vector<PoolId>(
      facts.trace.blocks.size());  // by block: its own, or that of the segment that it backs
  BorrowBars bars = {};
};

// Finds the free bytes of captures' pools, pool by pool.
struct BorrowFinder {
  std::vector<PoolBorrow> Find() {
    for (const GraphId graph : facts.ran())
      ran.push_back(graph.valid() ? facts.roots()[graph.index()] : graph);
    FindPools();
    FindCaptureEnds();
    GroupByPool();
    std::vector<PoolBorrow> found;
    for (auto& [pool, blocks] : pool_blocks) {
      PoolBorrow one{.pool = pool};
      const std::set<GraphId>& graphs = pool_graphs[pool];
      one.graphs.assign(graphs.begin(), graphs.end());
      FindWindows(&one);
      FindFree(blocks, &one);
      found.push_back(std::move(one));
    }
    return found;
  }

  void FindPools() {
    for (const auto& [i, block] : Enumerate(trace.blocks)) {
      if (facts.lives().backs_segment[i] || block.address == 0) continue;
      const PoolKind kind = KindOf(trace, block.pool);
      if (kind != PoolKind::kPrivate && kind != PoolKind::kAllocator) continue;
      const GraphId root = facts.lives().blocks[i].root;
      if (root.valid()) pool_graphs[block.pool].insert(root);
      pool_blocks[block.pool].emplace_back(i);
    }
    std::erase_if(pool_blocks, [this](const auto& of) { return !pool_graphs.contains(of.first); });
  }

  void FindCaptureEnds() {
    captured.resize(trace.graphs.size());
    for (const Capture& capture : trace.captures) {
      if (!capture.graph.valid() || capture.end == kNever) continue;
      Seq& end = captured[facts.roots()[capture.graph.index()].index()];
      end = std::max(end, capture.end);
    }
  }

  void GroupByPool() {
    std::vector<std::vector<PoolId>> pools(trace.graphs.size());
    for (const auto& [pool, graphs] : pool_graphs) {
      for (const GraphId graph : graphs) pools[graph.index()].push_back(pool);
    }
    std::vector<Seq> last_of(trace.execs.size());  // launch
    for (uint32_t i = 0; i < ran.size(); ++i) {
      const ExecId exec = trace.launches[i].exec;
      if (exec.index() < last_of.size()) last_of[exec.index()] = trace.launches[i].seq;
      if (!ran[i].valid()) continue;
      for (const PoolId pool : pools[ran[i].index()]) launches[pool].push_back(i);
    }
    for (const ExecGraph& of : trace.exec_graphs) {
      if (!of.graph.valid()) continue;
      for (const PoolId pool : pools[facts.roots()[of.graph.index()].index()])
        last_of_execs[pool] = std::max(last_of_execs[pool], last_of[of.exec.index()]);
    }
    for (const Segment& segment : trace.segments) {
      if (segment.address != 0) segments[segment.pool].push_back(&segment);
    }
  }

  // Launches of the pool's graphs, one after the other.
  void FindWindows(PoolBorrow* pool) {
    std::map<std::pair<GraphId, GraphId>, std::pair<BorrowWindow, std::vector<Nanoseconds>>>
        windows;
    const std::vector<uint32_t>& all = launches[pool->pool];
    pool->launches = all.size();
    pool->looks += all.size();
    for (size_t i = 1; i < all.size(); ++i) {
      const uint32_t before = all[i - 1], after = all[i];
      auto& [window, times] = windows[{ran[before], ran[after]}];
      ++window.count;
      if (!facts.launch_order().Before(before, after)) ++window.unordered;
      if (const auto time = TimeBetween(before, after)) times.push_back(*time);
    }
    first_launch = all.empty() ? 0 : trace.launches[all.front()].seq;
    last_launch = all.empty() ? 0 : trace.launches[all.back()].seq;
    // Where nothing was launched: when the last capture into the pool had ended.
    if (all.empty()) {
      for (const GraphId graph : pool->graphs)
        last_launch = std::max(last_launch, captured[graph.index()]);
      first_launch = last_launch;
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
    const Nanoseconds from = TimeAt(trace, trace.launches[first].seq);
    const Nanoseconds to = TimeAt(trace, trace.launches[second].seq);
    if (from == 0 || to == 0) return {};
    const Nanoseconds runs = measured ? facts.shapes()[ran[first].index()].critical_path_ns : 0;
    return to < from + runs ? 0 : to - from - runs;
  }

  // Also after an exec that ran a graph of the pool was updated to another one.
  bool EagerBetween(const Block& block, Seq last) const {
    return (block.allocated <= last || !block.freed()) && block.free_completed > first_launch;
  }

  void FindFree(const std::vector<BlockId>& blocks, PoolBorrow* pool) {
    std::vector<BarredBlock> all;
    const Seq last = std::max(last_launch, last_of_execs[pool->pool]);
    for (const BlockId id : blocks) {
      const Block& block = trace[id];
      if (block.allocated <= last_launch && block.free_completed > last_launch)
        pool->in_use += block.size;
      if (!facts.lives()[id].root.valid() && EagerBetween(block, last))
        all.push_back({id, {0, block.size}, BorrowBar::kEager});
      const auto of_block = bars.Of(id);
      all.insert(all.end(), of_block.begin(), of_block.end());
    }
    AddStrays(pool, &all);
    const std::vector<Range> segments_there = SegmentsOf(pool);
    ListBarred(segments_there, all, pool);
    std::vector<Range> barred;
    for (const BarredBlock& bar : all) barred.push_back(GranulesOf(bar));
    std::ranges::sort(barred, {}, &Range::begin);
    Address reached = 0;  // segments overlap where the trace lost what freed one
    size_t over = 0;
    for (const Range& segment : segments_there) {
      pool->reserved += segment.size();
      const Range rest{std::max(segment.begin, reached), segment.end};
      for (; over < barred.size() && barred[over].end <= rest.begin; ++over) ++pool->looks;
      pool->looks += Subtract(rest, std::span<const Range>(barred).subspan(over), &pool->free);
      reached = std::max(reached, segment.end);
    }
  }

  // The granules of a block that hold some of its bytes: all that is lent has whole ones.
  Range GranulesOf(const BarredBlock& bar) const {
    const Address block = bar.block.valid() ? trace[bar.block].address : 0;
    return {block + bar.bytes.begin / kBlockGranularity * kBlockGranularity,
            block + RoundUp(bar.bytes.end, kBlockGranularity)};
  }

  // Each byte of the pool's segments once, with the first reason.
  void ListBarred(std::span<const Range> segments_there, std::span<const BarredBlock> all,
                  PoolBorrow* pool) const {
    IntervalMap<bool> left;
    for (const Range& segment : segments_there) left.Add(segment, true);
    for (const BarredBlock& bar : all) {
      const Address block = bar.block.valid() ? trace[bar.block].address : 0;
      const Range bytes{block + bar.bytes.begin, block + bar.bytes.end};
      for (const auto& [range, there] : left.Remove(bytes)) {
        const Range part = Common(range, bytes);
        pool->barred.push_back(bar);
        pool->barred.back().bytes = {part.begin - block, part.end - block};
      }
    }
    std::ranges::stable_sort(pool->barred, std::ranges::greater{},
                             [](const BarredBlock& b) { return b.bytes.size(); });
  }

  // Accesses of the pool's own graphs there count where they may find something, and those of work
  // outside of graphs from the first launch on.
  void AddStrays(PoolBorrow* pool, std::vector<BarredBlock>* all) const {
    auto at = std::ranges::lower_bound(bars.strays, pool->pool, {}, &StrayBytes::pool);
    for (; at != bars.strays.end() && at->pool == pool->pool; ++at) {
      const StrayBytes& stray = *at;
      const bool outside = !stray.root.valid();
      const bool own = std::ranges::binary_search(pool->graphs, stray.root);
      if (own != stray.found || (outside && stray.seq < first_launch)) continue;
      const bool nowhere = !stray.inside && !stray.block.valid();
      const BorrowBar why = outside   ? BorrowBar::kOutside
                            : nowhere ? BorrowBar::kNoBlock
                            : own     ? BorrowBar::kReadFirst
                                      : BorrowBar::kOtherGraph;
      const Address begin = stray.block.valid() ? trace[stray.block].address : 0;
      all->push_back(
          {stray.block, {stray.bytes.begin - begin, stray.bytes.end - begin}, why, true});
    }
  }

  std::vector<Range> SegmentsOf(PoolBorrow* pool) {
    std::vector<Range> found;
    for (const Segment* segment : segments[pool->pool]) {
      ++pool->looks;
      const bool there = segment->allocated <= last_launch && segment->freed > last_launch;
      if (there) found.push_back(AddressesOf(*segment));
    }
    std::ranges::sort(found, {}, &Range::begin);
    return found;
  }

  const Facts& facts;
  const MarkerRule rule;
  const Ran& trace = facts.trace;
  const BorrowBars bars = FindBorrowBars(facts, rule);
  const bool measured = std::ranges::any_of(trace.nodes, &Node::duration_ns);
  std::vector<GraphId> ran = {};  // by launch; root graphs
  std::map<PoolId, std::vector<BlockId>> pool_blocks = {};
  std::map<PoolId, std::set<GraphId>> pool_graphs = {};
  std::map<PoolId, std::vector<uint32_t>> launches = {};
  std::map<PoolId, std::vector<const Segment*>> segments = {};
  std::map<PoolId, Seq> last_of_execs = {};  // launch of those that ever ran graphs of a pool
  std::vector<Seq> captured = {};            // by root graph: when its last capture had ended
  Seq first_launch = 0;  // launch of the pool that is looked at, and the last one
  Seq last_launch = 0;
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
  return free.empty() ? 0 : std::ranges::max(free, {}, &Range::size).size();
}

GraphMemory FindGraphMemory(const Ran& trace) {
  GraphMemory found;
  for (const Block& block : trace.blocks) {
    if (KindOf(trace, block.pool) != PoolKind::kGraph) continue;
    ++found.blocks;
    found.bytes += block.size;
  }
  return found;
}

std::vector<PoolBorrow> FindBorrow(const Facts& facts, MarkerRule rule) {
  return BorrowFinder{facts, rule}.Find();
}

}  // namespace graphkit
