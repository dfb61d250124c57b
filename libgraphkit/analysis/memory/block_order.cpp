#include "libgraphkit/analysis/memory/block_order.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

constexpr size_t kSizesTried = 4;    // next larger sizes that are looked at
constexpr size_t kBlocksTried = 16;  // idle blocks of one size that are looked at

bool HandedOut(const Ran& trace, BlockId id) {
  const Block& block = trace[id];
  if (block.alloc_node.valid()) return false;
  const PoolKind kind = KindOf(trace, block.pool);
  return kind == PoolKind::kAllocator || kind == PoolKind::kPrivate;
}

struct Matcher {
  // `overlaps`: of all blocks. Those that are handed out may have others.
  ReuseFacts Match(std::span<const BlockOverlap> overlaps) {
    for (const BlockId block : blocks) {
      if (trace[block].size == 0) continue;
      if (HandedOut(trace, block)) {
        handed_out.push_back(block);
      } else {
        all = false;
      }
    }
    if (all) {
      MarkTaken(overlaps);
    } else {
      MarkTaken(FindOverlaps(trace, handed_out));
    }
    CollectSizes();
    idle_by_size.resize(sizes.size());
    for (size_t i = 0; i < handed_out.size(); ++i) {
      const size_t size = SizeIndex(handed_out[i]);
      if (fresh[i]) Give(handed_out[i], size);
      if (!taken[i] && order.Dies(handed_out[i])) idle_by_size[size].push_back(handed_out[i]);
    }
    std::ranges::stable_sort(facts.pairs, std::greater(), &ReusePair::bytes);
    return std::move(facts);
  }

  // Mostly there are few: more than twice as many as are known are sorted in.
  void CollectSizes() {
    size_t known = 0;
    for (const BlockId block : handed_out) {
      sizes.push_back(RoundedSize(trace[block]));
      if (sizes.size() < 2 * known + kBlocksTried) continue;
      SortUnique(&sizes);
      known = sizes.size();
    }
    SortUnique(&sizes);
  }

  size_t SizeIndex(BlockId block) const {
    return static_cast<size_t>(std::ranges::lower_bound(sizes, RoundedSize(trace[block])) -
                               sizes.begin());
  }

  void MarkTaken(std::span<const BlockOverlap> overlaps) {
    taken.assign(handed_out.size(), false);
    fresh.assign(handed_out.size(), true);
    const auto index = [&](BlockId block) {
      return static_cast<size_t>(std::ranges::lower_bound(handed_out, block) - handed_out.begin());
    };
    for (const BlockOverlap& overlap : overlaps) {
      taken[index(overlap.earlier)] = true;
      fresh[index(overlap.later)] = false;
    }
  }

  void Give(BlockId later, size_t first_size) {
    const size_t last = std::min(sizes.size(), first_size + kSizesTried);
    for (size_t size = first_size; size < last; ++size) {
      std::vector<BlockId>& idle = idle_by_size[size];
      for (size_t tried = 0; tried < std::min(kBlocksTried, idle.size()); ++tried) {
        const size_t at = idle.size() - 1 - tried;
        if (!order.Before(idle[at], later)) continue;
        const Bytes bytes = RoundedSize(trace[later]);
        facts.pairs.push_back({idle[at], later, bytes, order.Assumes(idle[at])});
        facts.bytes += bytes;
        idle.erase(idle.begin() + static_cast<ptrdiff_t>(at));
        return;
      }
    }
  }

  const BlockOrder& order;
  const std::span<const BlockId> blocks;
  const Ran& trace = order.trace();
  std::vector<BlockId> handed_out = {};
  bool all = true;               // no block is left out
  std::vector<bool> taken = {};  // a later block lies where this one lay
  std::vector<bool> fresh = {};  // lies where no earlier block lay
  std::vector<Bytes> sizes = {};
  std::vector<std::vector<BlockId>> idle_by_size = {};  // by size, the latest last
  ReuseFacts facts = {};
};

struct PlacedBlock {
  Address begin;
  BlockId block;
};

// Looks at blocks in groups that lie apart from each other: most are alone.
struct OverlapFinder {
  std::vector<BlockOverlap> FindAll(std::span<const BlockId> blocks) {
    const std::vector<BlockId> sorted = SortByAddress(blocks);
    for (size_t first = 0; first < sorted.size();) {
      const size_t end = EndOfGroup(sorted, first);
      if (end - first > 1) AddGroup(std::span(sorted).subspan(first, end - first));
      first = end;
    }
    SortUnique(&overlaps, [](const BlockOverlap& o) { return std::pair(o.later, o.earlier); });
    return std::move(overlaps);
  }

  Address EndOf(BlockId block) const { return trace[block].address + RoundedSize(trace[block]); }

  // Those with bytes. First by pieces of the addresses, then each piece for itself, so that there
  // isn't a second row of all.
  std::vector<BlockId> SortByAddress(std::span<const BlockId> blocks) const {
    constexpr size_t kBlocksInPiece = 64;  // about, were they spread evenly
    Address low = ~Address{0}, high = 0;
    for (const BlockId id : blocks) {
      const Block& block = trace[id];
      if (block.size == 0) continue;
      low = std::min(low, block.address);
      high = std::max(high, block.address);
    }
    if (low > high) return {};
    unsigned shift = 0;
    while (shift < 63 && (high - low) >> shift > blocks.size() / kBlocksInPiece) ++shift;
    const size_t pieces = ((high - low) >> shift) + 1;
    Grouped by;
    by.Assign(blocks.size(), pieces, [&](size_t i) -> size_t {
      const Block& block = trace[blocks[i]];
      return block.size == 0 ? pieces : (block.address - low) >> shift;
    });
    std::vector<BlockId> sorted;
    sorted.reserve(by.items.size());
    std::vector<PlacedBlock> piece;
    for (size_t i = 0; i < pieces; ++i) {
      piece.clear();
      for (const uint32_t at : by.Of(i)) piece.push_back({trace[blocks[at]].address, blocks[at]});
      if (piece.size() > 1) std::ranges::sort(piece, {}, &PlacedBlock::begin);
      for (const PlacedBlock& placed : piece) sorted.push_back(placed.block);
    }
    return sorted;
  }

  size_t EndOfGroup(std::span<const BlockId> sorted, size_t first) const {
    Address reached = EndOf(sorted[first]);
    size_t end = first + 1;
    for (; end < sorted.size() && trace[sorted[end]].address < reached; ++end)
      reached = std::max(reached, EndOf(sorted[end]));
    return end;
  }

  // The addresses are cut at every block's begin and end; each piece knows who had it last.
  void AddGroup(std::span<const BlockId> group) {
    cuts.clear();
    of_group.assign(group.begin(), group.end());
    for (const BlockId block : group) {
      cuts.push_back(trace[block].address);
      cuts.push_back(EndOf(block));
    }
    SortUnique(&cuts);
    std::ranges::sort(of_group);
    last.assign(cuts.size(), BlockId());
    for (const BlockId block : of_group) TakePieces(block);
  }

  void TakePieces(BlockId block) {
    const Address end = EndOf(block);
    auto piece =
        static_cast<size_t>(std::ranges::lower_bound(cuts, trace[block].address) - cuts.begin());
    BlockId named;
    for (; piece < cuts.size() && cuts[piece] < end; ++piece) {
      if (last[piece].valid() && last[piece] != named) {
        named = last[piece];
        overlaps.push_back({named, block});
      }
      last[piece] = block;
    }
  }

  const Ran& trace;
  std::vector<Address> cuts = {};
  std::vector<BlockId> of_group = {};
  std::vector<BlockId> last = {};
  std::vector<BlockOverlap> overlaps = {};
};

}  // namespace

bool BlockOrder::Dies(BlockId x) const {
  const BlockLife& life = lives_[x];
  if (!life.root.valid() || !life.freed || life.elsewhere) return false;
  return !life.foreign || (rule_ == MarkerRule::kLastUse && !life.escaped);
}

bool BlockOrder::DiesBefore(BlockId x, const OrderPoint& point) const {
  const std::span<const NodeId> markers = lives_.Markers(x, rule_);
  const bool after =
      std::ranges::all_of(markers, [&](NodeId marker) { return order_.Before(marker, point); });
  if (!after || (!markers.empty() && !lives_.ByStreams(x, rule_))) return after;
  return order_.Covers(point, lives_[x].alloc);
}

// True if something at `seq` comes after x as far as calls go: a free counts as a use at its place,
// and so does the allocation of a block that no node touches.
bool BlockOrder::Later(BlockId x, Seq seq) const {
  if (lives_.ByStreams(x, rule_)) return trace_[x].free_requested < seq;
  return !lives_[x].last_use.empty() || trace_[x].allocated < seq;
}

int BlockOrder::ExclusiveBodies(BlockId x, BlockId y) const {
  if (lives_[x].leaves || lives_[y].leaves) return 0;
  return graphkit::ExclusiveBodies(trace_, order_.nesting(), lives_[x].alloc.graph,
                                   lives_[y].alloc.graph);
}

bool BlockOrder::Before(BlockId x, BlockId y) const {
  if (x == y || lives_[x].root != lives_[y].root || !Dies(x)) return false;
  const OrderPoint& alloc = lives_[y].alloc;
  if (lives_[x].alloc.graph != alloc.graph) {
    if (const int bodies = ExclusiveBodies(x, y); bodies != 0) return bodies > 0;
  }
  return Later(x, trace_[y].allocated) && DiesBefore(x, alloc) &&
         std::ranges::all_of(lives_.EarlyNodes(y, rule_), [&](NodeId node) {
           return Later(x, trace_[node].seq) && DiesBefore(x, order_.StartOf(node));
         });
}

bool BlockOrder::DoneBefore(BlockId x, NodeId node) const {
  return Dies(x) && Later(x, trace_[node].seq) && DiesBefore(x, order_.StartOf(node));
}

bool BlockOrder::StartsAfter(BlockId y, NodeId node) const {
  return order_.Before(node, lives_[y].alloc) &&
         std::ranges::all_of(lives_.EarlyNodes(y, rule_),
                             [&](NodeId early) { return order_.Before(node, early); });
}

void BlockOrder::Fetch(BlockId block) const {
  order_.Fetch(lives_[block].alloc);
  for (const NodeId marker : lives_.Markers(block, rule_)) order_.Fetch(marker);
}

Assumption BlockOrder::Assumes(BlockId x) const {
  if (trace_[x].free_node.valid() && rule_ == MarkerRule::kAtFree) return Assumption::kOrder;
  if (lives_.ByStreams(x, rule_)) return Assumption::kTorchStreams;
  return Assumption::kArguments;
}

ReuseFacts FindReuse(const BlockOrder& order, std::span<const BlockId> blocks,
                     std::span<const BlockOverlap> overlaps) {
  return Matcher{order, blocks}.Match(overlaps);
}

std::vector<BlockOverlap> FindOverlaps(const Ran& trace, std::span<const BlockId> blocks) {
  return OverlapFinder{trace}.FindAll(blocks);
}

}  // namespace graphkit
