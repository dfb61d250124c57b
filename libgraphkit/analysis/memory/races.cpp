#include "libgraphkit/analysis/memory/races.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_set>

#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {
namespace {

constexpr size_t kAllPairs = 64;       // touches of a block up to which every pair is looked at
constexpr size_t kSearched = 10'000;   // nodes looked at for a consumer that isn't next to the pair
constexpr size_t kMostSearches = 100;  // such searches

struct Use {
  NodeId node;
  RaceKind kind = RaceKind::kAccess;
  Access access;
  bool sure = true;
};

bool Reads(const Use& use) { return use.access.mode == AccessMode::kRead; }
bool Writes(const Use& use) {
  return use.access.mode == AccessMode::kWrite || use.access.mode == AccessMode::kReadWrite;
}

struct RaceFinder {
  std::vector<Race> FindAll() {
    if (facts.partial_edges()) all_full = BuildOrder(trace, EdgeRule::kAllFull);
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      CollectUses(BlockId(i));
      if (all_uses.size() < 2) continue;
      const auto root_of = [&](const Use& use) { return facts.RootOf(use.node); };
      for (std::span<const Use> left = all_uses; !left.empty(); left = left.subspan(uses.size())) {
        const auto end = std::ranges::upper_bound(left, root_of(left.front()), {}, root_of);
        uses = {left.begin(), end};
        FindInGraph(BlockId(i));
      }
    }
    return std::move(races);
  }

  void FindInGraph(BlockId block) {
    if (uses.size() < 2 || OnOneChain()) return;
    first_of_graph = races.size();
    if (uses.size() <= kAllPairs) {
      AllPairs(block);
    } else if (!OneAfterTheOther()) {
      LastOfChains(block);
    }
  }

  // Graphs in graphs have a chain each, and mostly use a block in turn all the same.
  bool OneAfterTheOther() const {
    std::vector<NodeId> line;
    for (const Use& use : uses) {
      const auto at = std::ranges::partition_point(
          line, [&](NodeId other) { return Ordered(other, use.node); });
      if (at != line.end() && *at == use.node) continue;
      if (at != line.end() && !Ordered(use.node, *at)) return false;
      line.insert(at, use.node);
    }
    return true;
  }

  void CollectUses(BlockId id) {
    all_uses.clear();
    const Block& block = trace[id];
    ForEachAccess(trace, facts.lives(), id, [&](NodeId user, const Access& access) {
      const Node& node = trace[user];
      if (node.kind == NodeKind::kMemAlloc || node.kind == NodeKind::kMemFree) return;
      if (!trace.graph_nodes.Has(user) || Unfinished(user)) return;
      if (AlwaysRuns(trace, user, numbers_only)) return;
      all_uses.push_back({user, RaceKind::kAccess, access, SureAccess(trace, node.kernel, access)});
    });
    if (all_uses.empty()) return;
    const Access all{.block = id, .mode = AccessMode::kWrite, .length = block.size};
    for (const auto& [node, kind] : {std::pair(block.alloc_node, RaceKind::kAlloc),
                                     std::pair(block.free_node, RaceKind::kFree)}) {
      if (!node.valid() || !trace.graph_nodes.Has(node) || Unfinished(node)) continue;
      all_uses.push_back({node, kind, all});
    }
    const auto place = [&](const Use& use) { return std::pair(facts.RootOf(use.node), use.node); };
    if (!std::ranges::is_sorted(all_uses, {}, place)) std::ranges::stable_sort(all_uses, {}, place);
  }

  bool Unfinished(NodeId node) const {
    return node.index() < unfinished.size() && unfinished[node.index()];
  }

  // On one chain without partial edges all is ordered: most blocks.
  bool OnOneChain() const {
    if (facts.partial_edges()) return false;
    const uint32_t chain = facts.order().PlaceOf(uses.front().node).chain;
    return std::ranges::all_of(
        uses, [&](const Use& use) { return facts.order().PlaceOf(use.node).chain == chain; });
  }

  void AllPairs(BlockId block) {
    for (size_t later = 1; later < uses.size(); ++later) {
      for (size_t earlier = 0; earlier < later; ++earlier) Compare(block, earlier, later);
    }
  }

  // If the last of a chain is before a node, so are all before it: only they are compared, the last
  // of each mode.
  void LastOfChains(BlockId block) {
    std::map<std::pair<uint32_t, AccessMode>, size_t> reads, others;  // by chain
    for (size_t later = 0; later < uses.size(); ++later) {
      for (const auto& [chain, last] : others) Compare(block, last, later);
      const bool reading = Reads(uses[later]);
      for (auto last = reads.begin(); !reading && last != reads.end(); ++last)
        Compare(block, last->second, later);
      const uint32_t chain = facts.order().PlaceOf(uses[later].node).chain;
      (reading ? reads : others)[{chain, uses[later].access.mode}] = later;
    }
  }

  void Compare(BlockId block, size_t earlier, size_t later) {
    const Use& a = uses[earlier];
    const Use& b = uses[later];
    if (a.node == b.node || (Reads(a) && Reads(b))) return;
    const Ternary overlap = Overlap(a.access, b.access);
    if (overlap == Ternary::kNo) return;
    if (Ordered(a.node, b.node) || Ordered(b.node, a.node)) return;
    if (ExclusiveBodies(trace, facts.nesting(), trace[a.node].graph, trace[b.node].graph) != 0)
      return;
    Race race{.block = block, .earlier = a.node, .later = b.node};
    race.kind = a.kind == RaceKind::kAccess ? b.kind : a.kind;
    race.sure = a.sure && b.sure;
    race.overlapping = HowSure(a, b, overlap);
    race.same_pointer = a.access.offset == b.access.offset && (MayWrite(a) || MayWrite(b));
    race.typed = SaysWhatItReads(a.node) && SaysWhatItReads(b.node);
    race.ordered_if_full =
        all_full && (all_full->Before(a.node, b.node) || all_full->Before(b.node, a.node));
    if (race.ordered_if_full) race.surely_unordered = SurelyUnordered(a.node, b.node);
    if (Known(race)) return;
    if (race.ordered_if_full) FindLostEdge(&race);
    races.push_back(race);
  }

  bool Ordered(NodeId a, NodeId b) const {
    if (facts.order().Before(a, b)) return true;
    return WaitsFor(trace, b) == Ternary::kYes && facts.order().EndsBefore(a, b);
  }

  bool SurelyUnordered(NodeId a, NodeId b) const {
    const Order& hopeful = facts.hopeful_order();
    const auto ordered = [&](NodeId from, NodeId to) {
      return hopeful.Before(from, to) ||
             (WaitsFor(trace, to) != Ternary::kNo && hopeful.EndsBefore(from, to));
    };
    return !ordered(a, b) && !ordered(b, a);
  }

  // It writes, or is given a pointer to non-const.
  bool MayWrite(const Use& use) const {
    if (use.access.mode != AccessMode::kUnknown) return Writes(use);
    return AlwaysRuns(trace, use.node, plain_pointers);
  }

  // Non-const pointers are why a C++ kernel may write; a name that isn't mangled says nothing.
  bool SaysWhatItReads(NodeId node) const {
    if (trace[node].kind != NodeKind::kKernel) return true;
    const ChangedNode* changed = FindChanged(trace, node);
    if (changed != nullptr && changed->kernels_vary) return false;
    const KernelId kernel = trace[node].kernel;
    return kernel.index() < trace.kernels.size() && trace[trace[kernel].name].starts_with("_Z");
  }

  static Overlapping HowSure(const Use& a, const Use& b, Ternary overlap) {
    const bool writes = Writes(a) || Writes(b);
    if (writes && overlap == Ternary::kYes) return Overlapping::kCertain;
    if (writes || Reads(a) || Reads(b)) return Overlapping::kLikely;
    return Overlapping::kUnknown;
  }

  // True if the block has a race of the same sort in the same graph already.
  bool Known(const Race& race) const {
    const auto sort_of = [&](const Race& r) {
      return std::tuple(r.kind, r.overlapping, r.ordered_if_full, r.surely_unordered, r.typed,
                        r.same_pointer, r.sure);
    };
    return std::ranges::any_of(std::span(races).subspan(first_of_graph),
                               [&](const Race& other) { return sort_of(other) == sort_of(race); });
  }

  // Where order by completion is lost on the way from one node of a race to the other: a node that
  // starts before the one before it has ended, which would come after the race's first.
  void FindLostEdge(Race* lost_by) {
    const Race& race = *lost_by;
    const bool forwards = all_full->Before(race.earlier, race.later);
    const NodeId from = forwards ? race.earlier : race.later;
    const NodeId to = forwards ? race.later : race.earlier;
    const Ternary wanted = race.surely_unordered ? Ternary::kNo : Ternary::kUnknown;
    const Order& way = race.surely_unordered ? *all_full : facts.hopeful_order();
    const Order& so_far = race.surely_unordered ? facts.hopeful_order() : facts.order();
    std::vector<NodeId> open = {to};
    std::unordered_set<uint32_t> seen = {to.value};
    const size_t limit = searches++ < kMostSearches ? kSearched : 1;
    for (size_t at = 0; at < open.size() && at < limit; ++at) {
      for (const InEdge& edge : facts.in_edges().Of(open[at].index())) {
        const bool lost = !edge.full && WaitsFor(trace, open[at]) == wanted;
        if (lost && so_far.EndsBefore(from, edge.from)) {
          lost_by->consumer = open[at];
          lost_by->producer = edge.from;
          return;
        }
        if (!way.EndsBefore(from, edge.from)) continue;
        if (seen.insert(edge.from.value).second) open.push_back(edge.from);
      }
    }
    lost_by->consumer = to;
  }

  const MemoryFacts& facts;
  const Ran& trace = facts.trace;
  KernelSet numbers_only{facts.trace, TakesNumbersOnly};
  KernelSet plain_pointers{facts.trace, TakesPlainPointers};
  std::vector<bool> unfinished = std::vector<bool>(FindUnfinished(facts.trace));  // by node
  std::optional<Order> all_full = {};  // full-edge order, where there are partial edges
  std::vector<Use> all_uses = {};      // of a block
  std::span<const Use> uses = {};      // of them those of one root graph
  std::vector<Race> races = {};
  size_t first_of_graph = 0;
  size_t searches = 0;
};

}  // namespace

std::vector<Race> FindRaces(const MemoryFacts& facts) { return RaceFinder{facts}.FindAll(); }

}  // namespace graphkit
