// missing-order: nodes that touch one block and that nothing orders.
#include <utility>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/race_findings.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {

namespace {

std::string MissingOrderMessage(const Trace& trace, const Race& race) {
  const std::string block = NameOf(trace, race.block);
  const std::string pair = NameOf(trace, race.earlier) + " and " + NameOf(trace, race.later);
  if (race.kind == RaceKind::kAlloc) {
    const bool first = trace[race.earlier].kind == NodeKind::kMemAlloc;
    return NameOf(trace, first ? race.later : race.earlier) + " touches " + block +
           ", and need not come after " + NameOf(trace, first ? race.earlier : race.later) +
           ", which allocates it";
  }
  if (race.overlapping == Overlapping::kCertain) {
    return "nothing orders " + pair + ", which touch the same bytes of " + block +
           ", and one writes";
  }
  return "nothing orders " + pair + ", which may touch the same bytes of " + block;
}

}  // namespace

std::vector<Finding> FindMissingOrder(const Facts& facts) {
  std::map<RaceSite, Finding> by_site;
  for (const Race& race : facts.races) {
    if (race.launch_ordered || race.kind == RaceKind::kFree) continue;
    const bool certain = race.kind == RaceKind::kAlloc || race.overlapping == Overlapping::kCertain;
    if (race.overlapping == Overlapping::kUnknown) continue;
    if (!certain && !race.typed) continue;
    const Severity severity = certain ? Severity::kError : Severity::kNote;
    Finding& finding = by_site[SiteOf(facts, race, severity)];
    if (finding.blocks.empty()) {
      finding.message = MissingOrderMessage(facts.trace, race);
      finding.advice =
          "record an event after the one and let the other's stream wait for it, if they touch the "
          "same bytes";
    }
    AddRace(facts, race, &finding);
  }
  return TakeFindings(&by_site);
}

}  // namespace graphkit
