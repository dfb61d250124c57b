#include "libgraphkit/analysis/memory/freed_blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/names/call_site.h"

namespace graphkit {
namespace {

// Of a segment: where the next block will be allocated, looking backwards.
class NextOwners {
 public:
  // From here on the bytes are allocated at `seq` next, which is before what was said so far.
  void Put(Address begin, Address end, Seq seq) {
    if (begin >= end) return;
    auto at = pieces_.upper_bound(begin);
    if (at != pieces_.begin() && std::prev(at)->second.end > begin) {
      const Piece over = std::prev(at)->second;
      std::prev(at)->second.end = begin;
      if (over.end > end) pieces_.emplace(end, over);
    }
    at = pieces_.lower_bound(begin);
    while (at != pieces_.end() && at->first < end) {
      const Piece over = at->second;
      at = pieces_.erase(at);
      if (over.end > end) pieces_.emplace(end, over);
    }
    pieces_.emplace(begin, Piece{end, seq});
  }

  Seq First(Address begin, Address end, uint64_t* looks) const {
    Seq first = kNever;
    auto at = pieces_.upper_bound(begin);
    if (at != pieces_.begin()) --at;
    for (; at != pieces_.end() && at->first < end; ++at, ++*looks) {
      if (at->second.end > begin) first = std::min(first, at->second.seq);
    }
    return first;
  }

 private:
  struct Piece {
    Address end = 0;
    Seq seq = 0;
  };
  std::map<Address, Piece> pieces_;
};

class FateFinder {
 public:
  FateFinder(const MemoryFacts& facts, std::span<const FreedBlock> freed)
      : facts_(facts), trace_(facts.trace), freed_(freed), fates_(freed.size()) {}

  std::vector<FreedFate> Find(uint64_t* looks) {
    if (!freed_.empty()) {
      FindHandedOut();
      FindReplaced();
    }
    if (looks != nullptr) *looks = looks_;
    return std::move(fates_);
  }

 private:
  // Blocks allocated by the same code that are alike.
  using Site = std::tuple<bool, uint32_t, uint32_t, uint32_t>;
  using Kind = std::tuple<Bytes, PoolId, StreamId, Site>;

  template <typename Value>
  std::vector<size_t> Sorted(Value value) const {
    std::vector<size_t> order(freed_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, value);
    return order;
  }

  // Backwards, so that the last one to claim some bytes is the first after the free.
  void FindHandedOut() {
    std::map<SegmentId, NextOwners> owners;
    for (const FreedBlock& freed : freed_) {
      const SegmentId segment = trace_[freed.block].segment;
      if (segment.valid()) owners[segment];
    }
    const std::vector<size_t> order =
        Sorted([&](size_t i) { return trace_[freed_[i].block].free_requested; });
    size_t others = trace_.blocks.size();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const Block& block = trace_[freed_[*at].block];
      for (; others > 0; --others) {
        const Block& other = trace_.blocks[others - 1];
        if (other.allocated <= block.free_requested) break;
        ++looks_;
        const auto own = owners.find(other.segment);
        if (own == owners.end() || other.graph.valid()) continue;
        own->second.Put(other.address, other.address + other.size, other.allocated);
      }
      if (!block.segment.valid()) continue;
      const Seq first =
          owners[block.segment].First(block.address, block.address + block.size, &looks_);
      fates_[*at].handed_out = first < freed_[*at].at;
    }
  }

  // Forwards, with what is alive of each kind that is asked for.
  void FindReplaced() {
    std::map<Kind, std::set<std::pair<Seq, BlockId>>> alive;
    for (const FreedBlock& freed : freed_) alive[KindOf(freed.block)];
    const std::vector<uint32_t> frees = BlocksBySeq(trace_, &Block::free_requested);
    const std::vector<size_t> order = Sorted([&](size_t i) { return freed_[i].at; });
    size_t made = 0;
    auto gone = frees.begin();
    const auto with = [&](BlockId id, auto change) {
      ++looks_;
      if (facts_.lives()[id].root.valid()) return;
      const auto of_kind = alive.find(KindOf(id));
      if (of_kind != alive.end()) change(&of_kind->second, std::pair(trace_[id].allocated, id));
    };
    for (const size_t i : order) {
      const Seq at = freed_[i].at;
      for (; made < trace_.blocks.size() && trace_.blocks[made].allocated < at; ++made) {
        with(BlockId(made), [](auto* blocks, const auto& block) { blocks->insert(block); });
      }
      for (; gone != frees.end() && trace_.blocks[*gone].free_requested < at; ++gone) {
        with(BlockId(*gone), [](auto* blocks, const auto& block) { blocks->erase(block); });
      }
      fates_[i].replaced_by = Replacement(freed_[i].block, alive.at(KindOf(freed_[i].block)));
    }
  }

  // The new one may be made before the old one goes, as `x = load()` does: after the last launch
  // before the free.
  BlockId Replacement(BlockId id, const std::set<std::pair<Seq, BlockId>>& alive) {
    const Block& old = trace_[id];
    const auto launch =
        std::ranges::lower_bound(trace_.launches, old.free_requested, {}, &Launch::seq);
    const Seq since =
        std::max(old.allocated,
                 launch == trace_.launches.begin() ? old.free_requested : std::prev(launch)->seq);
    ++looks_;
    const auto first = alive.upper_bound({since, BlockId()});
    if (first == alive.end() || std::next(first) != alive.end()) return {};
    return trace_[first->second].address != old.address ? first->second : BlockId();
  }

  Kind KindOf(BlockId id) {
    const Block& block = trace_[id];
    return {block.size, block.pool, block.stream, SiteOf(block.stack)};
  }

  Site SiteOf(StackId stack) {
    const auto [at, is_new] = sites_.try_emplace(stack);
    if (is_new) {
      const auto own = CallSiteOf(trace_, stack).own;
      at->second = {false, stack.value, 0, 0};
      if (own) {
        const StackFrame& frame = trace_.stack_frames[*own];
        at->second = {true, frame.function.value, frame.file.value, frame.line};
      }
    }
    return at->second;
  }

  const MemoryFacts& facts_;
  const Trace& trace_;
  std::span<const FreedBlock> freed_;
  std::vector<FreedFate> fates_;
  std::map<StackId, Site> sites_;
  uint64_t looks_ = 0;
};

}  // namespace

std::vector<FreedFate> FindFates(const MemoryFacts& facts, std::span<const FreedBlock> freed,
                                 uint64_t* looks) {
  return FateFinder(facts, freed).Find(looks);
}

}  // namespace graphkit
