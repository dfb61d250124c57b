#include "libgraphkit/compare/match_graphs.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "libgraphkit/compare/common_subsequence.h"

namespace graphkit {

namespace {

struct Named {
  std::vector<GraphId> before, after;
};

std::map<std::string_view, Named> ByName(const Trace& before,
                                         const std::vector<GraphView>& before_views,
                                         const Trace& after,
                                         const std::vector<GraphView>& after_views) {
  std::map<std::string_view, Named> by_name;
  const auto collect = [&by_name](const Trace& trace, const std::vector<GraphView>& views,
                                  std::vector<GraphId> Named::*list) {
    for (size_t i = 0; i < views.size(); ++i) {
      if (trace.graphs[i].parent || views[i].size() == 0) continue;
      (by_name[trace[trace.graphs[i].name]].*list).push_back(GraphId(i));
    }
  };
  collect(before, before_views, &Named::before);
  collect(after, after_views, &Named::after);
  return by_name;
}

std::vector<uint64_t> Hashes(const std::vector<GraphId>& graphs,
                             const std::vector<GraphView>& views) {
  std::vector<uint64_t> hashes;
  for (const GraphId graph : graphs) hashes.push_back(GraphHash(views[graph.index()]));
  return hashes;
}

// Takes the matched ones out; `places` rise.
void Drop(std::vector<GraphId>& graphs, const std::vector<uint32_t>& places) {
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    graphs.erase(graphs.begin() + *place);
  }
}

void MatchNamed(Named named, const std::vector<GraphView>& before_views,
                const std::vector<GraphView>& after_views, GraphMatching& matching) {
  std::vector<uint32_t> from, to;
  for (const auto& [i, j] :
       CommonSubsequence(Hashes(named.before, before_views), Hashes(named.after, after_views))) {
    matching.pairs.push_back({named.before[i], named.after[j]});
    from.push_back(i);
    to.push_back(j);
  }
  Drop(named.before, from);
  Drop(named.after, to);
  const size_t both = std::min(named.before.size(), named.after.size());
  for (size_t i = 0; i < both; ++i) matching.pairs.push_back({named.before[i], named.after[i]});
  matching.removed.insert(matching.removed.end(), named.before.begin() + both, named.before.end());
  matching.added.insert(matching.added.end(), named.after.begin() + both, named.after.end());
}

}  // namespace

GraphMatching MatchGraphs(const Trace& before, const std::vector<GraphView>& before_views,
                          const Trace& after, const std::vector<GraphView>& after_views) {
  GraphMatching matching;
  for (auto& [name, named] : ByName(before, before_views, after, after_views)) {
    MatchNamed(named, before_views, after_views, matching);
  }
  std::ranges::sort(matching.pairs);
  std::ranges::sort(matching.removed);
  std::ranges::sort(matching.added);
  return matching;
}

}  // namespace graphkit
