// Plain lifetimes from a table: `id,lower,upper,size`, the columns of google/minimalloc's
// benchmarks, and optionally `alignment` and `offset` (fixed). The header names the columns, in any
// order; others are passed over.
//
//   id,lower,upper,size
//   b1,0,3,4
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/plan_problem.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct LifetimeTable {
  LifetimeProblem problem;
  std::vector<std::string> ids;  // by block, as in the file
  bool operator==(const LifetimeTable&) const = default;
};

Result<LifetimeTable> ParseLifetimeCsv(std::string_view text);
Result<LifetimeTable> ReadLifetimeCsv(const std::string& path);

}  // namespace graphkit
