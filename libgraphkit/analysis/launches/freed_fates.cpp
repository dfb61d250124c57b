#include "libgraphkit/analysis/launches/freed_fates.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {
namespace {

struct FateFinder {
  std::vector<FreedFate> Find(uint64_t* looks) {
    if (!all.empty()) {
      FindHandedOut();
      FindReplaced();
    }
    if (looks != nullptr) *looks = looked;
    return std::move(fates);
  }

  // Blocks allocated by the same code that are alike.
  using Site = std::tuple<bool, uint32_t, uint32_t, uint32_t>;
  using Kind = std::tuple<Bytes, PoolId, StreamId, Site>;
  using Occupant = std::tuple<SegmentId, Address, BlockId>;

  // Backwards, so that the last one to claim some bytes is the first after the free.
  void FindHandedOut() {
    std::map<SegmentId, IntervalMap<Seq>> owners;  // by address: when it is allocated next
    for (const FreedBlock& freed : all) {
      const SegmentId segment = trace[freed.block].segment;
      if (segment.valid()) owners[segment];
    }
    const auto from = [&](size_t i) {
      return std::max(trace[all[i].block].free_requested, all[i].written);
    };
    const std::vector<uint32_t> order = IndicesBy(all.size(), from);
    size_t others = trace.blocks.size();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const Block& block = trace[all[*at].block];
      for (; others > 0; --others) {
        const Block& other = trace.blocks[others - 1];
        if (other.allocated <= from(*at)) break;
        ++looked;
        const auto own = owners.find(other.segment);
        if (own == owners.end() || other.graph.valid()) continue;
        own->second.Add(AddressesOf(other), other.allocated);
      }
      if (!block.segment.valid()) continue;
      const auto later = [&](const IntervalMap<Seq>::Entry& next) {
        return ++looked, next.value >= all[*at].at;
      };
      fates[*at].handed_out = !owners[block.segment].Visit(AddressesOf(block), later);
    }
  }

  static void Put(const auto& item, bool comes, auto* alive) {
    if (comes) alive->insert(item);
    if (!comes) alive->erase(item);
  }

  // Forwards, with what is alive of each kind that is asked for.
  void FindReplaced() {
    std::map<Kind, std::set<std::pair<Seq, BlockId>>> alive;
    std::map<std::pair<Kind, Address>, uint32_t> places;  // how many of them are there
    std::set<SegmentId> segments;
    for (const FreedBlock& freed : all) {
      segments.insert(trace[freed.block].segment);
      const Kind kind = KindOf(freed.block);
      alive[kind];
      places[{kind, trace[freed.block].address}];
    }
    const std::vector<uint32_t> frees = BlocksBySeq(trace, &Block::free_requested);
    const std::vector<uint32_t> order = IndicesBy(all.size(), [&](size_t i) { return all[i].at; });
    size_t made = 0;
    auto gone = frees.begin();
    const auto change = [&](BlockId id, bool comes) {
      ++looked;
      if (facts.lives()[id].root.valid()) return;
      const Block& block = trace[id];
      if (segments.contains(block.segment)) {
        longest = std::max(longest, block.size);
        Put(Occupant(block.segment, block.address, id), comes, &occupants);
      }
      const Kind kind = KindOf(id);
      const auto of_kind = alive.find(kind);
      if (of_kind == alive.end()) return;
      Put(std::pair(block.allocated, id), comes, &of_kind->second);
      const auto place = places.find({kind, block.address});
      if (place != places.end()) place->second += comes ? 1 : ~0u;
    };
    for (const size_t i : order) {
      const Seq at = all[i].at;
      for (; made < trace.blocks.size() && trace.blocks[made].allocated < at; ++made)
        change(BlockId(made), true);
      for (; gone != frees.end() && trace.blocks[*gone].free_requested < at; ++gone)
        change(BlockId(*gone), false);
      const Kind kind = KindOf(all[i].block);
      fates[i].replaced_by = Replacement(all[i].block, alive.at(kind));
      fates[i].occupied = Occupied(trace[all[i].block]);
      fates[i].remade = places.at({kind, trace[all[i].block].address}) != 0;
    }
  }

  bool Occupied(const Block& block) {
    const Address from = block.address - std::min(block.address, longest);
    auto at = occupants.lower_bound({block.segment, from, BlockId(size_t{0})});
    for (; block.segment.valid() && at != occupants.end(); ++at, ++looked) {
      const Block& other = trace[std::get<BlockId>(*at)];
      if (other.segment != block.segment || other.address >= block.address + block.size) break;
      if (other.address + other.size > block.address) return true;
    }
    return false;
  }

  // The new one may be made before the old one goes, as `x = load()` does: after the last launch
  // before the free.
  BlockId Replacement(BlockId id, const std::set<std::pair<Seq, BlockId>>& alive) {
    const Block& old = trace[id];
    const auto launch =
        std::ranges::lower_bound(trace.launches, old.free_requested, {}, &Launch::seq);
    const Seq since =
        std::max(old.allocated,
                 launch == trace.launches.begin() ? old.free_requested : std::prev(launch)->seq);
    ++looked;
    const auto first = alive.upper_bound({since, BlockId()});
    if (first == alive.end() || std::next(first) != alive.end()) return {};
    return trace[first->second].address != old.address ? first->second : BlockId();
  }

  Kind KindOf(BlockId id) {
    const Block& block = trace[id];
    return {block.size, block.pool, block.stream, SiteOf(block.stack)};
  }

  Site SiteOf(StackId stack) {
    const auto [at, is_new] = sites.try_emplace(stack);
    if (is_new) {
      const auto own = CallSiteOf(trace, stack).own;
      at->second = {false, stack.value, 0, 0};
      if (own) {
        const StackFrame& frame = trace.stack_frames[*own];
        at->second = {true, frame.function.value, frame.file.value, frame.line};
      }
    }
    return at->second;
  }

  const MemoryFacts& facts;
  const std::span<const FreedBlock> all;
  const Ran& trace = facts.trace;
  std::vector<FreedFate> fates = std::vector<FreedFate>(all.size());
  std::map<StackId, Site> sites = {};
  std::set<Occupant> occupants = {};  // alive, not of graphs
  Bytes longest = 0;                  // of these
  uint64_t looked = 0;
};

}  // namespace

std::vector<FreedFate> FindFates(const MemoryFacts& facts, std::span<const FreedBlock> freed,
                                 uint64_t* looks) {
  return FateFinder{facts, freed}.Find(looks);
}

}  // namespace graphkit
