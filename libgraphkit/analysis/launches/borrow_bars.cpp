#include <algorithm>
#include <map>
#include <tuple>

#include "libgraphkit/analysis/launches/borrow.h"
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

class BarFinder {
 public:
  BarFinder(const Facts& facts, MarkerRule rule)
      : facts_(facts),
        trace_(facts.trace),
        rule_(rule),
        writes_(facts),
        backs_(BacksSegment(facts.trace)),
        by_address_(facts, backs_),
        pool_of_(facts.trace.blocks.size()) {}

  BorrowBars Find() {
    const std::vector<SegmentId> segments = SegmentsOfBlocks(trace_);
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      if (facts_.lives().blocks[i].root.valid()) BarBlock(BlockId(i));
      pool_of_[i] = segments[i] ? trace_[segments[i]].pool : trace_.blocks[i].pool;
    }
    FindStrays();
    FindOutside();
    std::ranges::sort(bars_.strays, {}, [](const StrayBytes& stray) {
      return std::tuple(stray.pool, stray.bytes.begin, stray.bytes.end, stray.root, stray.found);
    });
    const auto twice = std::unique(bars_.strays.begin(), bars_.strays.end());
    bars_.strays.erase(twice, bars_.strays.end());
    for (const StrayBytes& stray : bars_.strays) BarStray(stray);
    std::ranges::stable_sort(bars_.blocks, {}, &BarredBlock::block);
    return std::move(bars_);
  }

 private:
  void Bar(BlockId block, std::span<const Interval<Bytes>> ranges, BorrowBar why) {
    for (const Interval<Bytes>& bytes : ranges) bars_.blocks.push_back({block, bytes, why, true});
  }

  void BarBlock(BlockId id) {
    const BlockLife& life = facts_.lives()[id];
    const bool promised = rule_ == MarkerRule::kLastUse && !life.escaped;
    const bool leaves = !life.freed || (life.foreign && !promised);
    const BorrowBar left = life.freed ? BorrowBar::kOtherStream : BorrowBar::kOutput;
    if (leaves) bars_.blocks.push_back({id, {0, trace_[id].size}, left});
    for (const FirstWrites::OfGraph& of : writes_.Of(id)) {
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
    const Block& block = trace_[access.block];
    const Address begin = block.address + std::min(access.offset, block.size);
    Address end = begin;
    by_address_.In({begin, begin + 1}, [&](BlockId there, Interval<Bytes>) {
      end = std::max(end, trace_[there].address + trace_[there].size);
    });
    *inside = end > begin;
    if (access.length != kLengthUnknown) return {begin, begin + access.length};
    const bool segment = backs_[access.block.index()];
    return {begin, segment && *inside ? end : block.address + block.size};
  }

  // A launch finds there what blocks of other graphs, that were freed or came later, leave.
  void FindStrays() {
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      for (const Access& access : trace_.accesses.Of(trace_.nodes[i].accesses)) {
        if (access.block.index() >= backs_.size() || !backs_[access.block.index()]) continue;
        StrayBytes stray{.pool = pool_of_[access.block.index()]};
        stray.root = facts_.roots()[trace_.nodes[i].graph.index()];
        stray.bytes = BytesOf(access, &stray.inside);
        bars_.strays.push_back(stray);
        if (access.mode != AccessMode::kWrite) AddFound(NodeId(i), stray);
      }
    }
  }

  void AddFound(NodeId node, StrayBytes stray) {
    std::vector<Range> left = {stray.bytes};
    by_address_.In(stray.bytes, [&](BlockId block, Interval<Bytes> bytes) {
      if (facts_.lives()[block].root != stray.root) return;
      std::vector<Interval<Bytes>> unwritten = {bytes};
      writes_.TakeOutWritten(block, stray.root, node, &unwritten);
      const Address begin = trace_[block].address;
      std::vector<Interval<Bytes>> written = {bytes};
      for (const Interval<Bytes>& part : unwritten) TakeOut(part, &written);
      for (const Interval<Bytes>& part : written) {
        TakeOut(Range{begin + part.begin, begin + part.end}, &left);
      }
    });
    stray.found = true;
    for (const Range& part : left) {
      stray.bytes = part;
      bars_.strays.push_back(stray);
    }
  }

  // Accesses of work outside of graphs: blocks that were freed by then, or none.
  void FindOutside() {
    // Of the work that reached some bytes the last one; by whether a block lay there.
    std::map<std::tuple<bool, Address, Address>, StrayBytes> last;
    for (const EagerWork& work : trace_.works) {
      for (const Access& access : trace_.accesses.Of(work.accesses)) {
        if (access.block.index() >= trace_.blocks.size()) continue;
        StrayBytes stray{.pool = pool_of_[access.block.index()], .seq = work.seq};
        stray.bytes = BytesOf(access, &stray.inside);
        const bool there =
            !backs_[access.block.index()] && trace_[access.block].free_completed > work.seq;
        last[{there, stray.bytes.begin, stray.bytes.end}] = stray;  // works come in their order
      }
    }
    for (const auto& [key, stray] : last) {
      if (!std::get<0>(key)) bars_.strays.push_back(stray);
      by_address_.In(stray.bytes, [&, at = stray.seq](BlockId block, Interval<Bytes> bytes) {
        if (trace_[block].free_requested > at) return;
        bars_.blocks.push_back({block, bytes, BorrowBar::kOutside, true});
      });
    }
  }

  void BarStray(const StrayBytes& stray) {
    if (!stray.root.valid()) return;
    by_address_.In(stray.bytes, [&](BlockId block, Interval<Bytes> bytes) {
      if (!stray.found && facts_.lives()[block].root == stray.root) return;
      bars_.blocks.push_back({block, bytes, BorrowBar::kOtherGraph, true});
    });
  }

  const Facts& facts_;
  const Trace& trace_;
  const MarkerRule rule_;
  const FirstWrites writes_;
  const std::vector<bool> backs_;
  const ByAddress by_address_;
  std::vector<PoolId> pool_of_;  // by block: its own, or that of the segment that it backs
  BorrowBars bars_;
};

}  // namespace

BorrowBars FindBorrowBars(const Facts& facts, MarkerRule rule) {
  return BarFinder(facts, rule).Find();
}

}  // namespace graphkit
