// programmatic-only-order: order that rests on an edge that doesn't mean completion.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindProgrammaticOnlyOrder(const Facts& facts) {
  std::map<RaceSite, Finding> by_site;
  const Trace& trace = facts.trace;
  for (const Race& race : facts.races) {
    if (!race.ordered_if_full) continue;
    const bool known = race.surely_unordered;
    const bool sure = race.overlapping != Overlapping::kUnknown;
    const Severity severity =
        !known ? Severity::kNote : (sure ? Severity::kError : Severity::kWarning);
    const Node& consumer = trace[race.consumer];
    Finding& finding =
        by_site[{facts.roots[consumer.graph.index()], severity, consumer.kernel, KernelId()}];
    if (finding.blocks.empty()) {
      finding.message =
          NameOf(trace, race.consumer) + (known ? " doesn't wait" : " isn't known to wait") +
          " for its grid dependencies: nothing else ends " + NameOf(trace, race.earlier) +
          " before " + NameOf(trace, race.later) +
          (race.kind == RaceKind::kFree ? " frees " : " touches ") + NameOf(trace, race.block);
      finding.advice =
          "call cudaGridDependencySynchronize() in " + NameOf(trace, race.consumer) +
          " before it touches what it shares, or launch it without programmatic serialization";
    }
    AddRace(facts, race, &finding);
  }
  return TakeFindings(&by_site);
}

}  // namespace graphkit
