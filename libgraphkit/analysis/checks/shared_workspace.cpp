// shared-workspace: memory that several graphs write, launched without order.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/order/launches.h"

namespace graphkit {
namespace {

// A launched graph that touches a block, and may write it.
struct User {
  GraphId graph;
  NodeId node;
  bool surely_writes = false;
};

std::vector<User> UsersOf(const Facts& facts, BlockId id,
                          const std::vector<std::vector<uint32_t>>& launches) {
  std::vector<User> users;
  ForEachAccess(facts.trace, facts.lives, id, [&](NodeId node, const Access& access) {
    const GraphId root = facts.roots[facts.trace[node].graph.index()];
    if (access.mode == AccessMode::kRead || launches[root.index()].empty()) return;
    auto user = std::ranges::find_if(users, [&](const User& other) { return other.graph == root; });
    if (user == users.end()) user = users.insert(users.end(), {root, node});
    user->surely_writes = user->surely_writes || access.mode != AccessMode::kUnknown;
  });
  return users;
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
  return std::move(shared.finding);
}

// Launches of two graphs, in either order, of which the later one isn't after the earlier one's
// end; found once for each pair.
class UnorderedGraphs {
 public:
  UnorderedGraphs(const Trace& trace, const std::vector<std::vector<uint32_t>>& launches)
      : trace_(trace), launches_(launches) {}

  std::optional<LaunchPair> Of(GraphId a, GraphId b) {
    const auto [pair, fresh] = known_.try_emplace({a, b});
    if (!fresh) return pair->second;
    if (!order_) order_.emplace(trace_);
    const auto &of_a = launches_[a.index()], &of_b = launches_[b.index()];
    pair->second = FindUnordered(*order_, trace_, of_a, of_b);
    if (pair->second) return pair->second;
    const auto swapped = FindUnordered(*order_, trace_, of_b, of_a);
    if (swapped) pair->second = {swapped->second, swapped->first};
    return pair->second;
  }

 private:
  const Trace& trace_;
  const std::vector<std::vector<uint32_t>>& launches_;
  std::optional<LaunchOrder> order_;
  std::map<std::pair<GraphId, GraphId>, std::optional<LaunchPair>> known_;
};

}  // namespace

std::vector<Finding> FindSharedWorkspaces(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.size() < 2) return {};
  const auto launches = LaunchesByGraph(trace);
  const auto launched =
      std::ranges::count_if(launches, [](const auto& of_graph) { return !of_graph.empty(); });
  if (launched < 2) return {};
  UnorderedGraphs unordered(trace, launches);
  std::map<std::tuple<GraphId, GraphId, bool>, SharedBlocks> found;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const std::vector<User> users = UsersOf(facts, BlockId(i), launches);
    for (size_t b = 1; b < users.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        const auto pair = unordered.Of(users[a].graph, users[b].graph);
        if (!pair) continue;
        const bool sure = users[a].surely_writes && users[b].surely_writes;
        const auto at = found.try_emplace({users[a].graph, users[b].graph, sure},
                                          SharedBlocks{users[a], users[b], *pair});
        AddBlock(trace, BlockId(i), &at.first->second.finding);
      }
    }
  }
  std::vector<Finding> findings;
  for (auto& [key, shared] : found) findings.push_back(Describe(trace, std::move(shared)));
  return findings;
}

}  // namespace graphkit
