// Edits of graphs after execs were made of them, and the versions that follow (ran.h). Of a graph
// that was edited after an exec was made of it, those versions count that launches ran; without
// launches, those that execs have.
#pragma once

#include <compare>
#include <vector>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// An exec takes over a graph: it is instantiated, or updated.
struct GraphFix {
  GraphId root;
  Seq seq = 0;
  ExecId exec;
  bool launched = false;  // before the next one
  auto operator<=>(const GraphFix&) const = default;
};

// Where a graph was edited after it was first fixed.
struct GraphEdit {
  GraphId root;
  Seq seq = 0;
  auto operator<=>(const GraphEdit&) const = default;
};

// Sorted; mostly there are none.
std::vector<GraphEdit> FindLateEdits(const Trace& trace);
// Sets Ran::versions, and shows all.
void SetVersions(const std::vector<GraphEdit>& edits, std::vector<GraphFix> fixes, Ran* ran);

}  // namespace graphkit
