// Findings of one check together: of many alike the most severe is told.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/model/finding.h"

namespace graphkit {

struct FindingGroup {
  Finding first;               // the most bytes
  std::vector<size_t> others;  // of its check and severity: their places in what was grouped
  uint64_t count() const { return 1 + others.size(); }
  bool operator==(const FindingGroup&) const = default;
};

// In the order of the first of each; findings come as a report has them.
std::vector<FindingGroup> GroupFindings(std::span<const Finding> findings);

}  // namespace graphkit
