#include "libgraphkit/analysis/launches/spoilt_reads.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {
namespace {

struct SpoilFinder {
  std::vector<SpoiltRead> FindAll() {
    ForEachBlock([&](BlockId id, GraphId graph) {
      if (!ReadersOf(id, graph).empty()) handed_on.emplace_back(id, graph);
    });
    if (handed_on.empty()) return {};
    ForEachBlock([&](BlockId id, GraphId graph) {
      by_pool[trace[id].pool].Add(AddressesOf(trace[id]), graph);
    });
    for (auto& [pool, used] : by_pool) used.Sort();
    for (const auto& [block, owner] : handed_on) Judge(block, owner);
    return std::move(found);
  }

  // Of private pools, and launched graphs.
  void ForEachBlock(const auto& visit) const {
    for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
      if (!Launched(GraphId(graph))) continue;
      for (const BlockId id : facts.blocks()[graph]) {
        if (KindOf(trace, trace[id].pool) == PoolKind::kPrivate) visit(id, GraphId(graph));
      }
    }
  }

  bool Launched(GraphId graph) const { return !facts.launches()[graph.index()].empty(); }

  // The other graphs that may read a graph's block.
  std::set<GraphId> ReadersOf(BlockId id, GraphId owner) const {
    std::set<GraphId> readers;
    const auto other = [&](NodeId node) { return facts.RootOf(node) != owner; };
    if (std::ranges::none_of(facts.lives().Touches(id), other)) return readers;
    ForEachAccess(trace, facts.lives(), id, [&](NodeId node, const Access& access) {
      const GraphId root = facts.RootOf(node);
      if (access.mode != AccessMode::kWrite && root != owner && Launched(root))
        readers.insert(root);
    });
    return readers;
  }

  void Judge(BlockId id, GraphId owner) {
    constexpr size_t kMostSteps = 100'000'000;
    const std::set<GraphId> readers = ReadersOf(id, owner);
    std::set<GraphId> writers;
    by_pool[trace[id].pool].Visit(AddressesOf(trace[id]), [&](Interval<Address>, GraphId graph) {
      if (graph != owner) writers.insert(graph);
    });
    if (writers.empty() || steps > kMostSteps) return;
    std::map<uint32_t, GraphId> launches;  // of all of them, in order
    const auto add = [&](GraphId graph) {
      for (const uint32_t launch : facts.launches()[graph.index()]) launches[launch] = graph;
    };
    add(owner);
    for (const GraphId graph : readers) add(graph);
    for (const GraphId graph : writers) add(graph);
    steps += launches.size();
    Follow({.left = id, .owner = owner}, readers, writers, launches);
  }

  void Follow(const SpoiltRead& of, const std::set<GraphId>& readers,
              const std::set<GraphId>& writers, const std::map<uint32_t, GraphId>& launches) {
    bool made = false;
    GraphId spoiler;
    std::set<std::pair<GraphId, GraphId>> told;
    for (const auto& [launch, graph] : launches) {
      if (graph == of.owner) {
        made = true;
        spoiler = {};
        continue;
      }
      if (spoiler.valid() && readers.contains(graph) && told.insert({spoiler, graph}).second)
        found.push_back({of.left, of.owner, spoiler, graph, launch});
      if (made && writers.contains(graph)) spoiler = graph;
    }
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  std::map<PoolId, RangeIndex<GraphId>> by_pool = {};
  std::vector<std::pair<BlockId, GraphId>> handed_on = {};
  size_t steps = 0;  // launches that were looked at
  std::vector<SpoiltRead> found = {};
};

}  // namespace

std::vector<SpoiltRead> FindSpoiltReads(const Facts& facts) { return SpoilFinder{facts}.FindAll(); }

}  // namespace graphkit
