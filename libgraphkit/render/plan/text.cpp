#include <string>
#include <vector>

#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

std::string RatioText(Bytes bytes, Bytes bound) {
  if (bytes == bound || bound == 0) return "1";
  return Formatted("%.4f", static_cast<double>(bytes) / static_cast<double>(bound));
}

void RenderPlanText(const PlannedMemory& plan, std::ostream& out) {
  TextRows rows = {
      {"blocks", FormatCount(plan.placements.size())},
      {"peak", FormatBytes(plan.peak) + " (" + FormatCount(plan.peak) + " B)"},
      {"lower bound", FormatBytes(plan.lower_bound) + " (" + FormatCount(plan.lower_bound) + " B)"},
      {"gap", plan.optimal() ? "none: no plan is smaller"
                             : FormatBytes(plan.peak - plan.lower_bound) + ", " +
                                   RatioText(plan.peak, plan.lower_bound) + " × the bound"}};
  if (plan.of_trace) {
    Bytes bytes = 0;
    for (const SharedBytes& shared : plan.shared) bytes += shared.size;
    rows.push_back({"taken over", FormatBytes(bytes) + " in " +
                                      Counted(plan.shared.size(), "piece") +
                                      ", each with its proof in the plan"});
  }
  if (!plan.sequence.empty()) {
    rows.push_back({"launches", FormatCount(plan.sequence.size()) +
                                    " in a round, one after the other, share the memory"});
  }
  if (plan.capacity) {
    const std::string what = FormatBytes(*plan.capacity);
    rows.push_back({"capacity", plan.fits() ? what + ": fits"
                                            : what + ": too small by " +
                                                  FormatBytes(plan.peak - *plan.capacity)});
    if (plan.lower_bound > *plan.capacity) rows.back()[1] += "; no plan fits";
  }
  out << Table(rows, "ll", "");
}

}  // namespace graphkit
