// free-before-use: memory-free nodes that aren't ordered after all users.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindFreeBeforeUse(const Facts& facts) {
  std::map<RaceSite, Finding> by_site;
  const Trace& trace = facts.trace;
  for (const Race& race : facts.races()) {
    if (race.ordered_if_full || race.kind != RaceKind::kFree) continue;
    Finding& finding = by_site[SiteOf(facts, race, Severity::kError)];
    if (finding.blocks.empty()) {
      const bool frees_first = trace[race.earlier].kind == NodeKind::kMemFree;
      const NodeId free = frees_first ? race.earlier : race.later;
      const NodeId user = frees_first ? race.later : race.earlier;
      finding.message = NameOf(trace, free) + " frees " + NameOf(trace, race.block) +
                        ", and nothing orders it after " + NameOf(trace, user) +
                        ", which touches it";
      finding.advice = "let the stream of the free wait for the other user before it frees";
    }
    AddRace(facts, race, &finding);
  }
  return TakeFindings(&by_site);
}

}  // namespace graphkit
