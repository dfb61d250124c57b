// Memory that launches without order both write: blocks, and private pools.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/unordered_uses.h"

namespace graphkit {
namespace {

// A launched graph that uses memory: it may write a block, or its blocks lie in a pool.
struct User {
  GraphId graph;
  NodeId node = {};  // the first that does
  bool surely_writes = true;
  std::vector<Interval<Address>> ranges = {};  // apart, by begin; of a block: from its begin
  std::set<Bytes> begins = {};  // of a block: it writes there, or is given a pointer to non-const
};

// Of two users of a block.
Severity GradeOf(const User& a, const User& b) {
  if (a.surely_writes && b.surely_writes) return Severity::kError;
  const auto in_b = [&](Bytes begin) { return b.begins.contains(begin); };
  return std::ranges::any_of(a.begins, in_b) ? Severity::kWarning : Severity::kNote;
}

// Two users of the same bytes, and launches of them of which the later one isn't after the end of
// the earlier one; indices in the users.
struct UnorderedUsers {
  size_t first = 0;
  size_t second = 0;
  LaunchPair launches;  // of the first, of the second
};

std::vector<UnorderedUsers> FindUnordered(const Facts& facts, std::span<const User> users) {
  std::vector<UserOfBytes> sweep;
  for (const User& user : users) {
    UserOfBytes& of = sweep.emplace_back(UserOfBytes{user.graph});
    for (const Interval<Address>& range : user.ranges)
      of.used.push_back({range, {user.surely_writes}});
  }
  std::set<std::tuple<size_t, size_t, bool>> known;
  std::vector<UnorderedUsers> apart;
  UseSweep(facts, sweep, [&](const UseOfBytes& earlier, const UseOfBytes& later) {
    const bool by_threads = facts.launch_order().BeforeByThreads(earlier.at, later.at);
    UnorderedUsers pair{earlier.user, later.user, {earlier.at.index, later.at.index, by_threads}};
    if (pair.first > pair.second) {
      std::swap(pair.first, pair.second);
      std::swap(pair.launches.first, pair.launches.second);
    }
    if (known.insert({pair.first, pair.second, by_threads}).second) apart.push_back(pair);
  }).Run();
  return apart;
}

// Those of a block, if launches of them may run at once.
std::vector<User> FindUsers(const Facts& facts, BlockId id, const KernelSet& plain_pointers,
                            const std::vector<bool>& several_execs) {
  const auto root_of = [&](NodeId node) { return facts.RootOf(node); };
  const std::span<const NodeId> touches = facts.lives().Touches(id);
  const auto elsewhere = [&](const NodeId touch) {
    return root_of(touch) != root_of(touches[0]) || several_execs[root_of(touch).index()];
  };
  if (std::ranges::none_of(touches, elsewhere)) return {};  // mostly
  std::vector<User> users;
  std::unordered_map<GraphId, size_t> number;
  ForEachAccess(facts.trace, facts.lives(), id, [&](NodeId node, const Access& access) {
    const GraphId root = root_of(node);
    if (access.mode == AccessMode::kRead || facts.launches()[root.index()].empty()) return;
    const ChangedNode* changed = FindChanged(facts.trace, node);
    if (changed != nullptr && changed->varies) return;  // launches may write elsewhere
    const auto [at, fresh] = number.try_emplace(root, users.size());
    if (fresh) users.push_back({root, node, false});
    User& user = users[at->second];
    user.surely_writes = user.surely_writes || access.mode != AccessMode::kUnknown;
    user.ranges.push_back(BytesOf(access, facts.trace[id].size));
    if (access.mode != AccessMode::kUnknown || AlwaysRuns(facts.trace, node, plain_pointers))
      user.begins.insert(access.offset);
  });
  for (User& user : users) user.ranges = Union(std::move(user.ranges));
  return users;
}

// The first two of some users whose launches aren't ordered, and the blocks that all of them use.
struct SharedBlocks {
  User first;
  User second;
  LaunchPair launches;
  size_t graphs = 0;
  Finding finding = {};
};

// Of graphs, two of which are named: "; so were 3 more of its graphs".
std::string FurtherText(size_t graphs, std::string_view which) {
  if (graphs <= 2) return {};
  return (graphs == 3 ? "; so was 1 more of "
                      : "; so were " + std::to_string(graphs - 2) + " more of ") +
         std::string(which);
}

Finding Describe(const Facts& facts, SharedBlocks shared) {
  const Ran& trace = facts.trace;
  const auto& [first, second, launches, graphs, found] = shared;
  Finding* finding = &shared.finding;
  finding->graph = second.graph;
  const bool one = first.graph == second.graph;
  finding->nodes = {first.node, second.node};
  if (one) finding->nodes.pop_back();
  finding->severity = GradeOf(first, second);
  finding->assumes = Assumption::kArguments;
  const char* write = finding->severity == Severity::kError ? "both write" : "may both write";
  finding->message = (one ? Say(trace, "two execs of {} {} {}, and were launched without order",
                                first.graph, write, BlocksText(*finding))
                          : Say(trace, "{} and {} {} {}, and were launched without order",
                                first.graph, second.graph, write, BlocksText(*finding))) +
                     FurtherText(graphs, "the graphs that use this memory");
  finding->advice =
      "give each graph a workspace of its own (for cuBLAS: one handle and stream for each), or "
      "order the launches";
  finding->evidence = {
      LaunchedThere(trace, launches.first, first.graph),
      LaunchedThere(trace, launches.second, second.graph, " isn't ordered with it"),
      CapturedThere(trace, first.node), CapturedThere(trace, second.node),
      AllocatedThere(facts, finding->blocks.front())};
  if (one) finding->evidence.erase(finding->evidence.begin() + 3);
  if (launches.by_threads) DoubtThreads(finding);
  return std::move(shared.finding);
}

// Blocks that graphs without order write; of graphs that use several, all in one finding.
struct SharedWorkspaces {
  void Add(BlockId block) {
    const std::vector<User> users = FindUsers(facts, block, plain_pointers, several_execs);
    if (users.empty()) return;
    std::vector<UnorderedUsers> apart = FindUnordered(facts, users);
    std::stable_partition(apart.begin(), apart.end(),
                          [](const UnorderedUsers& pair) { return pair.first != pair.second; });
    for (const Severity grade : {Severity::kError, Severity::kWarning, Severity::kNote}) {
      std::set<size_t> without_order;
      for (const bool by_threads : {false, true})
        without_order = AddGrade(block, users, apart, grade, by_threads, without_order);
    }
  }

  // The pairs of one grade that only threads order, or nothing, but for those between members of
  // `known`; their members.
  std::set<size_t> AddGrade(BlockId block, std::span<const User> users,
                            std::span<const UnorderedUsers> apart, Severity grade, bool by_threads,
                            const std::set<size_t>& known) {
    std::set<size_t> members;
    const UnorderedUsers* first = nullptr;
    for (const UnorderedUsers& pair : apart) {
      const auto& [a, b, launches] = pair;
      if (GradeOf(users[a], users[b]) != grade || launches.by_threads != by_threads) continue;
      if (known.contains(a) && known.contains(b)) continue;
      if (a == b && members.contains(a)) continue;
      if (first == nullptr) first = &pair;
      members.insert({a, b});
    }
    if (first != nullptr) AddBlock(block, users, *first, members, grade);
    return members;
  }

  void AddBlock(BlockId block, std::span<const User> users, const UnorderedUsers& pair,
                const std::set<size_t>& members, Severity grade) {
    std::vector<GraphId> graphs;
    for (const size_t member : members) graphs.push_back(users[member].graph);
    const auto at = found.try_emplace(
        {std::move(graphs), grade, pair.launches.by_threads},
        SharedBlocks{users[pair.first], users[pair.second], pair.launches, members.size()});
    graphkit::AddBlock(facts.trace, block, &at.first->second.finding);
  }

  const Facts& facts;
  KernelSet plain_pointers{facts.trace, TakesPlainPointers};
  std::vector<bool> several_execs = BySeveralExecs(facts);
  // By the graphs, how sure it is that they write, and whether only threads order them.
  std::map<std::tuple<std::vector<GraphId>, Severity, bool>, SharedBlocks> found = {};
};

// Of ranges that are apart, by begin.
Bytes BytesInBoth(std::span<const Interval<Address>> some,
                  std::span<const Interval<Address>> others) {
  Bytes bytes = 0;
  auto other = others.begin();
  if (some.size() == 1)
    other = std::ranges::upper_bound(others, some[0].begin, {}, &Interval<Address>::end);
  for (auto own = some.begin(); own != some.end() && other != others.end();) {
    bytes += Common(*own, *other).size();
    own->end < other->end ? static_cast<void>(++own) : static_cast<void>(++other);
  }
  return bytes;
}

// Bytes that two graphs of one pool allocate at the same addresses.
struct SharedPools {
  // One for each pool: of the two graphs that share the most.
  std::vector<Finding> FindPairs() {
    std::vector<Finding> findings;
    for (const auto& [pool, graphs] : GraphsByPool(facts)) {
      std::vector<User> users;
      for (const GraphId graph : graphs) {
        if (facts.launches()[graph.index()].empty()) continue;
        users.push_back({.graph = graph, .ranges = RangesOf(graph, pool)});
      }
      std::set<size_t> members;
      Bytes most = 0;
      UnorderedUsers largest;
      for (const UnorderedUsers& pair : FindUnordered(facts, users)) {
        if (pair.first == pair.second) continue;  // found by block
        members.insert({pair.first, pair.second});
        const Bytes bytes = BytesInBoth(users[pair.first].ranges, users[pair.second].ranges);
        if (bytes > most) most = bytes, largest = pair;
      }
      if (members.empty()) continue;
      findings.push_back(
          Describe(pool, users[largest.first], users[largest.second], largest.launches, most));
      findings.back().message += FurtherText(members.size(), "its graphs");
    }
    return findings;
  }

  // The graph's touched blocks of the pool.
  std::vector<BlockId> BlocksOf(GraphId graph, PoolId pool) const {
    std::vector<BlockId> blocks;
    for (const BlockId block : facts.blocks()[graph.index()]) {
      if (trace[block].pool == pool && !facts.lives().Touches(block).empty()) {
        blocks.push_back(block);
      }
    }
    return blocks;
  }

  std::vector<Interval<Address>> RangesOf(GraphId graph, PoolId pool) const {
    std::vector<Interval<Address>> ranges;
    for (const BlockId block : BlocksOf(graph, pool)) ranges.push_back(AddressesOf(trace[block]));
    return Union(std::move(ranges));
  }

  // Of a graph's blocks the one with the most bytes in some ranges.
  BlockId MostIn(std::span<const Interval<Address>> ranges, GraphId graph, PoolId pool) const {
    BlockId best;
    Bytes most = 0;
    for (const BlockId block : BlocksOf(graph, pool)) {
      const Interval<Address> own = AddressesOf(trace[block]);
      const Bytes bytes = BytesInBoth(std::span(&own, 1), ranges);
      if (bytes > most) most = bytes, best = block;
    }
    return best;
  }

  Finding Describe(PoolId pool, const User& first, const User& second, const LaunchPair& launches,
                   Bytes bytes) const {
    const BlockId of_first = MostIn(second.ranges, first.graph, pool);
    const Interval<Address> there = AddressesOf(trace[of_first]);
    const std::pair largest{of_first, MostIn(std::span(&there, 1), second.graph, pool)};
    Finding finding{.severity = Severity::kError,
                    .bytes = bytes,
                    .graph = second.graph,
                    .blocks = {largest.first, largest.second}};
    finding.message =
        Say(trace,
            "{} and {} both work in {} of pool {}, which they share, and were launched "
            "without order",
            first.graph, second.graph, FormatBytes(bytes), pool.value);
    finding.advice = "give graphs that may run at once a pool each, or order the launches";
    finding.evidence = {
        LaunchedThere(trace, launches.first, first.graph),
        LaunchedThere(trace, launches.second, second.graph, " isn't ordered with it"),
        AllocatedThere(facts, largest.first), AllocatedThere(facts, largest.second)};
    if (launches.by_threads) DoubtThreads(&finding);
    return finding;
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
};

}  // namespace

// shared-workspace: memory that several graphs write, launched without order; blocks of both, or
// the pool that they share.
std::vector<Finding> FindSharedWorkspaces(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (trace.launches.size() < 2) return {};
  if (OneAfterTheOther(trace, facts.launch_order(), false)) return {};
  std::vector<Finding> findings = SharedPools{facts}.FindPairs();
  SharedWorkspaces workspaces{facts};
  for (size_t i = 0; i < trace.blocks.size(); ++i) workspaces.Add(BlockId(i));
  for (auto& [key, shared] : workspaces.found)
    findings.push_back(Describe(facts, std::move(shared)));
  return findings;
}

}  // namespace graphkit
