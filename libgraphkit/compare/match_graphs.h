// Which graph of one trace is which of another.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "libgraphkit/model/graph_content.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

struct GraphMatching {
  std::vector<std::pair<GraphId, GraphId>> pairs = {};
  std::vector<GraphId> removed = {}, added = {};
};

struct ComparedTrace {
  const Trace& trace;
  const std::map<GraphId, const GraphSummary*>& summaries;
  std::vector<GraphContent> contents;  // of each graph of the trace
};

// Matches the graphs that stand alone, by content, then by name, then in order
// (match_contents.h). Graphs without nodes are left out.
GraphMatching MatchGraphs(const ComparedTrace& before, const ComparedTrace& after);

}  // namespace graphkit
