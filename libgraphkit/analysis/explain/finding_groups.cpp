#include "libgraphkit/analysis/explain/finding_groups.h"

#include <algorithm>

namespace graphkit {

std::vector<FindingGroup> GroupFindings(std::span<const Finding> findings) {
  std::vector<FindingGroup> groups;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const auto group = std::ranges::find_if(groups, [&](const FindingGroup& known) {
      return known.first.check == finding.check && known.first.severity == finding.severity;
    });
    if (group == groups.end()) {
      groups.push_back({finding, {}});
    } else {
      group->others.push_back(i);
    }
  }
  return groups;
}

}  // namespace graphkit
