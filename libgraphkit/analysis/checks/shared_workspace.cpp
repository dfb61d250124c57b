// shared-workspace: memory that several graphs write, launched without order; blocks of both, or
// the pool that they share.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// A launched graph that touches a block, and may write it.
struct User {
  GraphId graph;
  NodeId node;
  bool surely_writes = false;
  std::vector<Interval<Bytes>> writes = {};  // of the block, or may
};

bool WriteTheSame(const User& a, const User& b) {
  return std::ranges::any_of(a.writes, [&](const Interval<Bytes>& bytes) {
    return std::ranges::any_of(b.writes, [&](const auto& other) { return Overlaps(bytes, other); });
  });
}

// `users`: those of the block.
void FindUsers(const Facts& facts, BlockId id, std::vector<User>* users) {
  users->clear();
  const auto root_of = [&](NodeId node) { return facts.RootOf(node); };
  const std::span<const Touch> touches = facts.lives().Touches(id);
  const auto elsewhere = [&](const Touch& touch) {
    return root_of(touch.node) != root_of(touches[0].node);
  };
  if (std::ranges::none_of(touches, elsewhere)) return;  // mostly; then there is one at most
  ForEachAccess(facts.trace, facts.lives(), id, [&](NodeId node, const Access& access) {
    const GraphId root = root_of(node);
    if (access.mode == AccessMode::kRead || facts.launches()[root.index()].empty()) return;
    auto user =
        std::ranges::find_if(*users, [&](const User& other) { return other.graph == root; });
    if (user == users->end()) user = users->insert(users->end(), {root, node});
    user->surely_writes = user->surely_writes || access.mode != AccessMode::kUnknown;
    const Bytes end = access.offset + std::min(access.length, kLengthUnknown - access.offset);
    const Interval<Bytes> bytes{access.offset, end};
    if (std::ranges::find(user->writes, bytes) == user->writes.end()) user->writes.push_back(bytes);
  });
}

// Two users whose launches aren't ordered, and the blocks that both touch.
struct SharedBlocks {
  User first;
  User second;
  LaunchPair launches;
  Finding finding = {};
};

Finding Describe(const Trace& trace, SharedBlocks shared) {
  const auto& [first, second, launches, found] = shared;
  Finding* finding = &shared.finding;
  finding->graph = second.graph;
  finding->nodes = {first.node, second.node};
  finding->severity =
      first.surely_writes && second.surely_writes ? Severity::kError : Severity::kNote;
  finding->assumes = Assumption::kArguments;
  finding->message = NameOf(trace, first.graph) + " and " + NameOf(trace, second.graph) +
                     (finding->severity == Severity::kError ? " both write " : " may both write ") +
                     BlocksText(*finding) + ", and were launched without order";
  finding->advice =
      "give each graph a workspace of its own (for cuBLAS: one handle and stream for each), or "
      "order the launches";
  finding->evidence.push_back({.text = LaunchText(trace, launches.first, first.graph),
                               .nodes = {first.node},
                               .blocks = finding->blocks,
                               .stack = trace[finding->blocks.front()].stack});
  finding->evidence.push_back(
      {.text = LaunchText(trace, launches.second, second.graph) + " isn't ordered with it",
       .nodes = {second.node}});
  if (launches.by_threads) DoubtThreads(finding);
  return std::move(shared.finding);
}

// Launches of two graphs, in either order, of which the later one isn't after the earlier one's
// end; found once for each pair.
class UnorderedGraphs {
 public:
  explicit UnorderedGraphs(const Facts& facts) : facts_(facts) {}

  std::optional<LaunchPair> Of(GraphId a, GraphId b) {
    const auto [pair, fresh] = known_.try_emplace({a, b});
    if (!fresh) return pair->second;
    const auto &of_a = facts_.launches()[a.index()], &of_b = facts_.launches()[b.index()];
    pair->second = FindUnordered(facts_.launch_order(), facts_.trace, of_a, of_b);
    if (pair->second && !pair->second->by_threads) return pair->second;
    const auto swapped = FindUnordered(facts_.launch_order(), facts_.trace, of_b, of_a);
    if (swapped && (!pair->second || !swapped->by_threads)) {
      pair->second = {swapped->second, swapped->first, swapped->by_threads};
    }
    return pair->second;
  }

 private:
  const Facts& facts_;
  std::map<std::pair<GraphId, GraphId>, std::optional<LaunchPair>> known_;
};

// Bytes that two graphs of one pool allocate at the same addresses.
class SharedPools {
 public:
  SharedPools(const Facts& facts, UnorderedGraphs* unordered)
      : facts_(facts), trace_(facts.trace), unordered_(*unordered) {}

  // One for each pool: of the two graphs that share the most.
  std::vector<Finding> FindPairs() {
    std::vector<Finding> findings;
    for (const auto& [pool, graphs] : LaunchedByPool()) {
      Finding finding;
      size_t compared = 0, pairs = 0;
      for (size_t b = 1; b < graphs.size(); ++b) {
        for (size_t a = 0; a < b && compared < kMostPairs; ++a, ++compared) {
          const auto pair = unordered_.Of(graphs[a], graphs[b]);
          if (pair && TakeLarger(pool, graphs[a], graphs[b], *pair, &finding)) ++pairs;
        }
      }
      if (pairs == 0) continue;
      if (pairs > 1)
        finding.message += "; so were " + Count(pairs - 1, "more pair") + " of its graphs";
      findings.push_back(std::move(finding));
    }
    return findings;
  }

 private:
  static constexpr size_t kMostPairs = 1000;  // of graphs that share a pool

  std::map<PoolId, std::vector<GraphId>> LaunchedByPool() const {
    std::map<PoolId, std::vector<GraphId>> by_pool;
    for (size_t graph = 0; graph < facts_.blocks().size(); ++graph) {
      if (facts_.launches()[graph].empty()) continue;
      PoolId last;
      for (const BlockId block : facts_.blocks()[graph]) {
        const PoolId pool = trace_[block].pool;
        if (pool == last || !pool.valid() || trace_[pool].kind != PoolKind::kPrivate) continue;
        last = pool;
        std::vector<GraphId>& graphs = by_pool[pool];
        if (graphs.empty() || graphs.back() != GraphId(graph)) graphs.emplace_back(graph);
      }
    }
    return by_pool;
  }

  // The graph's touched blocks of the pool, by address.
  std::vector<BlockId> BlocksOf(GraphId graph, PoolId pool) const {
    std::vector<BlockId> blocks;
    for (const BlockId block : facts_.blocks()[graph.index()]) {
      if (trace_[block].pool == pool && !facts_.lives().Touches(block).empty()) {
        blocks.push_back(block);
      }
    }
    std::ranges::sort(blocks, {}, [&](BlockId id) { return trace_[id].address; });
    return blocks;
  }

  // False: they share nothing.
  bool TakeLarger(PoolId pool, GraphId a, GraphId b, const LaunchPair& launches,
                  Finding* finding) const {
    const std::vector<BlockId> of_a = BlocksOf(a, pool), of_b = BlocksOf(b, pool);
    Address counted = 0;  // up to here
    Bytes bytes = 0, most = 0;
    std::pair<BlockId, BlockId> largest;
    for (const BlockId x : of_a) {
      const Address begin = trace_[x].address, end = begin + trace_[x].size;
      for (const BlockId y : of_b) {
        if (trace_[y].address >= end) break;
        const Address from = std::max(begin, trace_[y].address);
        const Address to = std::min(end, trace_[y].address + trace_[y].size);
        if (from >= to) continue;
        if (to - from > most) most = to - from, largest = {x, y};
        if (to > counted) bytes += to - std::max(from, counted), counted = to;
      }
    }
    if (bytes > finding->bytes) *finding = Describe(pool, {a, b}, largest, launches, bytes);
    return bytes > 0;
  }

  Finding Describe(PoolId pool, std::pair<GraphId, GraphId> graphs,
                   std::pair<BlockId, BlockId> largest, const LaunchPair& launches,
                   Bytes bytes) const {
    Finding finding;
    finding.severity = Severity::kError;
    finding.graph = graphs.second;
    finding.bytes = bytes;
    finding.blocks = {largest.first, largest.second};
    finding.message = NameOf(trace_, graphs.first) + " and " + NameOf(trace_, graphs.second) +
                      " both work in " + FormatBytes(bytes) + " of " + "pool " +
                      std::to_string(pool.value) +
                      ", which they share, and were launched without order";
    finding.advice = "give graphs that may run at once a pool each, or order the launches";
    finding.evidence = {
        {.text = LaunchText(trace_, launches.first, graphs.first)},
        {.text = LaunchText(trace_, launches.second, graphs.second) + " isn't ordered with it"},
        AllocatedThere(facts_, largest.first),
        AllocatedThere(facts_, largest.second)};
    if (launches.by_threads) DoubtThreads(&finding);
    return finding;
  }

  const Facts& facts_;
  const Trace& trace_;
  UnorderedGraphs& unordered_;
};

}  // namespace

std::vector<Finding> FindSharedWorkspaces(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.size() < 2) return {};
  const auto launched = std::ranges::count_if(
      facts.launches(), [](const auto& of_graph) { return !of_graph.empty(); });
  if (launched < 2) return {};
  UnorderedGraphs unordered(facts);
  std::map<std::tuple<GraphId, GraphId, bool>, SharedBlocks> found;
  std::vector<User> users;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    FindUsers(facts, BlockId(i), &users);
    for (size_t b = 1; b < users.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (!WriteTheSame(users[a], users[b])) continue;
        const auto pair = unordered.Of(users[a].graph, users[b].graph);
        if (!pair) continue;
        const bool sure = users[a].surely_writes && users[b].surely_writes;
        const auto at = found.try_emplace({users[a].graph, users[b].graph, sure},
                                          SharedBlocks{users[a], users[b], *pair});
        AddBlock(trace, BlockId(i), &at.first->second.finding);
      }
    }
  }
  std::vector<Finding> findings = SharedPools(facts, &unordered).FindPairs();
  for (auto& [key, shared] : found) findings.push_back(Describe(trace, std::move(shared)));
  return findings;
}

}  // namespace graphkit
