// missing-order: nodes that touch one block and that nothing orders.
#include "libgraphkit/analysis/checks/find.h"

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

std::string AdviceFor(const Trace& trace, const Race& race) {
  const bool captured = trace[race.earlier].stream.valid() && trace[race.later].stream.valid();
  return std::string(captured
                         ? "record an event after the one and let the other's stream wait for it"
                         : "add a dependency between the two (cudaGraphAddDependencies)") +
         ", if they touch the same bytes";
}

}  // namespace

std::vector<Finding> FindMissingOrder(const Facts& facts) {
  std::map<RaceSite, Finding> by_site;
  const std::vector<bool> never_run = NeverRun(facts.trace);
  for (const Race& race : facts.races) {
    if (race.ordered_if_full || race.kind == RaceKind::kFree) continue;
    const bool certain = race.kind == RaceKind::kAlloc || race.overlapping == Overlapping::kCertain;
    if (race.overlapping == Overlapping::kUnknown) continue;
    if (!certain && !race.typed) continue;
    const bool runs = !never_run[facts.roots[facts.trace[race.earlier].graph.index()].index()];
    const Severity severity = certain && runs ? Severity::kError : Severity::kNote;
    Finding& finding = by_site[SiteOf(facts, race, severity)];
    if (finding.blocks.empty()) {
      finding.message = MissingOrderMessage(facts.trace, race);
      if (!runs) finding.message += "; this graph never runs";
      finding.advice = AdviceFor(facts.trace, race);
    }
    AddRace(facts, race, &finding);
  }
  return TakeFindings(&by_site);
}

}  // namespace graphkit
