#include "libgraphkit/analysis/reuse.h"

#include <algorithm>

#include "libgraphkit/analysis/usage.h"

namespace graphkit {
namespace {

constexpr size_t kSizesTried = 4;    // next larger sizes that are looked at
constexpr size_t kBlocksTried = 16;  // idle blocks of one size that are looked at

bool HandedOut(const Trace& trace, BlockId id) {
  const Block& block = trace[id];
  if (!block.pool.valid() || block.alloc_node.valid()) return false;
  const PoolKind kind = trace[block.pool].kind;
  return kind == PoolKind::kAllocator || kind == PoolKind::kPrivate;
}

class Matcher {
 public:
  Matcher(const BlockOrder& order, std::span<const BlockId> blocks)
      : order_(order), trace_(order.trace()) {
    for (const BlockId block : blocks) {
      if (HandedOut(trace_, block) && trace_[block].size > 0) blocks_.push_back(block);
    }
  }

  ReuseFacts Match() {
    MarkTaken();
    for (const BlockId block : blocks_) sizes_.push_back(RoundedSize(trace_[block]));
    std::sort(sizes_.begin(), sizes_.end());
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
    idle_.resize(sizes_.size());
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const size_t size = SizeIndex(blocks_[i]);
      if (fresh_[i]) Give(blocks_[i], size);
      if (!taken_[i] && order_.Dies(blocks_[i])) idle_[size].push_back(blocks_[i]);
    }
    std::stable_sort(facts_.pairs.begin(), facts_.pairs.end(),
                     [](const ReusePair& a, const ReusePair& b) { return a.bytes > b.bytes; });
    return std::move(facts_);
  }

 private:
  size_t SizeIndex(BlockId block) const {
    return static_cast<size_t>(
        std::lower_bound(sizes_.begin(), sizes_.end(), RoundedSize(trace_[block])) -
        sizes_.begin());
  }

  void MarkTaken() {
    taken_.assign(blocks_.size(), false);
    fresh_.assign(blocks_.size(), true);
    const auto index = [&](BlockId block) {
      return static_cast<size_t>(std::lower_bound(blocks_.begin(), blocks_.end(), block) -
                                 blocks_.begin());
    };
    for (const Overlap& overlap : FindOverlaps(trace_, blocks_)) {
      taken_[index(overlap.earlier)] = true;
      fresh_[index(overlap.later)] = false;
    }
  }

  void Give(BlockId later, size_t first_size) {
    const size_t last = std::min(sizes_.size(), first_size + kSizesTried);
    for (size_t size = first_size; size < last; ++size) {
      std::vector<BlockId>& idle = idle_[size];
      for (size_t tried = 0; tried < std::min(kBlocksTried, idle.size()); ++tried) {
        const size_t at = idle.size() - 1 - tried;
        if (!order_.Before(idle[at], later)) continue;
        const Bytes bytes = RoundedSize(trace_[later]);
        facts_.pairs.push_back({idle[at], later, bytes, order_.Assumes(idle[at])});
        facts_.bytes += bytes;
        idle.erase(idle.begin() + static_cast<ptrdiff_t>(at));
        return;
      }
    }
  }

  const BlockOrder& order_;
  const Trace& trace_;
  std::vector<BlockId> blocks_;
  std::vector<bool> taken_;  // a later block lies where this one lay
  std::vector<bool> fresh_;  // lies where no earlier block lay
  std::vector<Bytes> sizes_;
  std::vector<std::vector<BlockId>> idle_;  // by size, the latest last
  ReuseFacts facts_;
};

}  // namespace

ReuseFacts FindReuse(const BlockOrder& order, std::span<const BlockId> blocks) {
  return Matcher(order, blocks).Match();
}

// The addresses are cut at every block's begin and end; each piece knows who had it last.
std::vector<Overlap> FindOverlaps(const Trace& trace, std::span<const BlockId> blocks) {
  std::vector<Address> cuts;
  cuts.reserve(2 * blocks.size());
  for (const BlockId block : blocks) {
    if (trace[block].size == 0) continue;
    cuts.push_back(trace[block].address);
    cuts.push_back(trace[block].address + RoundedSize(trace[block]));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<BlockId> last(cuts.size());
  std::vector<Overlap> overlaps;
  for (const BlockId block : blocks) {
    const Address end = trace[block].address + RoundedSize(trace[block]);
    if (trace[block].size == 0) continue;
    size_t piece = static_cast<size_t>(
        std::lower_bound(cuts.begin(), cuts.end(), trace[block].address) - cuts.begin());
    const auto first = static_cast<ptrdiff_t>(overlaps.size());
    BlockId named;
    for (; piece < cuts.size() && cuts[piece] < end; ++piece) {
      if (last[piece].valid() && last[piece] != named) {
        named = last[piece];
        overlaps.push_back({named, block});
      }
      last[piece] = block;
    }
    std::sort(overlaps.begin() + first, overlaps.end(),
              [](const Overlap& a, const Overlap& b) { return a.earlier < b.earlier; });
    overlaps.erase(std::unique(overlaps.begin() + first, overlaps.end()), overlaps.end());
  }
  return overlaps;
}

}  // namespace graphkit
