// Pairs the graphs of two runs. Threads capture in another order in every run, so
// that the order says least:
//
//     1. the same content and name
//     2. the same content
//     3. the same name, and part of the content: the most alike first
//     4. the same name, in order
//
// Graphs of the same content are interchangeable: those with the same figures go together first,
// then the least with the least, so that one that changed is left for one that isn't there any
// more.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

struct ComparedGraph {
  using Figures = std::array<std::optional<uint64_t>, 10>;  // nothing: unknown

  std::string_view name = {};
  const GraphContent* content = nullptr;  // null: unknown; never alike
  Figures figures{};
};

struct GraphPairs {
  static constexpr uint32_t kNone = 0xffffffffu;

  std::vector<uint32_t> after;   // of each graph before: its place after, or kNone
  std::vector<uint32_t> before;  // and back
};

// Near linear in the number of graphs. The result depends on nothing but the arguments.
GraphPairs MatchContents(std::span<const ComparedGraph> before,
                         std::span<const ComparedGraph> after);

struct GraphMatching {
  std::vector<std::pair<GraphId, GraphId>> pairs = {};
  std::vector<GraphId> removed = {}, added = {};
};

struct ComparedTrace {
  const Trace& trace;
  const std::map<GraphId, const GraphSummary*>& summaries;
  std::vector<GraphContent> contents;  // of each graph of the trace
};

// Matches the graphs that stand alone, by content, then by name, then in order, as
// MatchContents does. Graphs without nodes are left out.
GraphMatching MatchGraphs(const ComparedTrace& before, const ComparedTrace& after);

}  // namespace graphkit
