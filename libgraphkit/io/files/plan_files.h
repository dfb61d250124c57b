// The files that planning starts from, and the one that it writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/estimate.h"
#include "libgraphkit/model/plan_problem.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Reads a plan back (docs/planning.md): what `graphkit plan trace.json` wrote.
//
// A file may be wrong in any way. What is read holds together: each placement lies in an arena that
// is there and within its peak, each arena has as many blocks as it says, and nothing wraps.
// PlanFits tells if it is a plan of a certain trace
// (libgraphkit/alloc/judge/validate.h). The proofs are left: a replay of a plan looks for itself.
Result<PlannedMemory> ReadPlan(const std::string& path);
// The same of the file's text; errors name `file`.
Result<PlannedMemory> ParsePlan(const std::string& text, const std::string& file);

// Plain lifetimes from a table: `id,lower,upper,size`, the columns of google/minimalloc's
// benchmarks, and optionally `alignment` and `offset` (fixed). The header names the columns, in any
// order; others are passed over.
//
//   id,lower,upper,size
//   b1,0,3,4
struct LifetimeTable {
  LifetimeProblem problem;
  std::vector<std::string> ids;  // by block, as in the file
  bool operator==(const LifetimeTable&) const = default;
};

Result<LifetimeTable> ParseLifetimeCsv(std::string_view text);
Result<LifetimeTable> ReadLifetimeCsv(const std::string& path);

// The requests of a server by their size (docs/estimate.md): a table with the columns `size` and
// `count`. Ascending, each size once; sizes, and all counts together, are at most 10^9.
Result<std::vector<SizeCount>> ParseHistogram(const std::string& text, const std::string& file);

}  // namespace graphkit
