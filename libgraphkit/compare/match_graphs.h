// Which graph of one trace is which of another.
#pragma once

#include <utility>
#include <vector>

#include "libgraphkit/compare/graph_view.h"

namespace graphkit {

struct GraphMatching {
  std::vector<std::pair<GraphId, GraphId>> pairs = {};
  std::vector<GraphId> removed = {}, added = {};
};

// Matches the graphs that stand alone: by name; of one name first those that are equal, then the
// others, in order. Graphs without nodes are left out.
GraphMatching MatchGraphs(const Trace& before, const std::vector<GraphView>& before_views,
                          const Trace& after, const std::vector<GraphView>& after_views);

}  // namespace graphkit
