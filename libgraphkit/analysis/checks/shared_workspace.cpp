// shared-workspace: memory that several graphs write, launched without order.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"
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
  for (const Touch& touch : facts.lives.Touches(id)) {
    const AccessMode mode = facts.trace.accesses[touch.access].mode;
    const GraphId root = facts.roots[facts.trace[touch.node].graph.index()];
    if (mode == AccessMode::kRead || launches[root.index()].empty()) continue;
    auto user = std::find_if(users.begin(), users.end(),
                             [&](const User& other) { return other.graph == root; });
    if (user == users.end()) user = users.insert(users.end(), {root, touch.node});
    user->surely_writes = user->surely_writes || mode != AccessMode::kUnknown;
  }
  return users;
}

struct Shared {
  User first;
  User second;
  LaunchPair launches;
};

void Describe(const Trace& trace, const Shared& shared, Finding* finding) {
  const auto& [first, second, launches] = shared;
  finding->graph = second.graph;
  finding->nodes = {first.node, second.node};
  finding->severity =
      first.surely_writes && second.surely_writes ? Severity::kError : Severity::kNote;
  finding->assumes = Assumption::kArguments;
  finding->message = NameOf(trace, first.graph) + " and " + NameOf(trace, second.graph) +
                     (finding->severity == Severity::kError ? " both write " : " may both write ") +
                     ListOf(finding->blocks) + " (" + FormatBytes(finding->bytes) +
                     "), and were launched without order";
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
}

}  // namespace

std::vector<Finding> FindSharedWorkspaces(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.size() < 2) return {};
  const auto launches = LaunchesByGraph(trace);
  const auto launched = std::count_if(launches.begin(), launches.end(),
                                      [](const auto& of_graph) { return !of_graph.empty(); });
  if (launched < 2) return {};
  std::optional<LaunchOrder> order;
  std::map<std::pair<GraphId, GraphId>, std::optional<LaunchPair>> unordered;
  std::map<std::tuple<GraphId, GraphId, bool>, std::pair<Shared, Finding>> found;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const std::vector<User> users = UsersOf(facts, BlockId(i), launches);
    for (size_t b = 1; b < users.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        const auto [pair, fresh] = unordered.try_emplace({users[a].graph, users[b].graph});
        if (fresh) {
          if (!order) order.emplace(trace);
          const auto& ofa = launches[users[a].graph.index()];
          const auto& ofb = launches[users[b].graph.index()];
          pair->second = FindUnordered(*order, trace, ofa, ofb);
          if (!pair->second) {
            pair->second = FindUnordered(*order, trace, ofb, ofa);
            if (pair->second) std::swap(pair->second->first, pair->second->second);
          }
        }
        if (!pair->second) continue;
        const bool sure = users[a].surely_writes && users[b].surely_writes;
        auto& [shared, finding] = found[{users[a].graph, users[b].graph, sure}];
        if (finding.blocks.empty()) shared = {users[a], users[b], *pair->second};
        finding.blocks.emplace_back(i);
        finding.bytes += RoundedSize(trace.blocks[i]);
      }
    }
  }
  std::vector<Finding> findings;
  for (auto& [key, entry] : found) {
    Describe(trace, entry.first, &entry.second);
    findings.push_back(std::move(entry.second));
  }
  return findings;
}

}  // namespace graphkit
