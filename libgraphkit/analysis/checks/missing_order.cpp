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
  if (race.same_pointer) {
    return "nothing orders " + pair + ", which are both given the same address in " + block +
           ", and one may write there";
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

// None: nothing says that one of them writes what the other one touches.
std::optional<Severity> SeverityOf(const Race& race) {
  if (race.kind == RaceKind::kAlloc || race.overlapping == Overlapping::kCertain) {
    return Severity::kError;
  }
  if (!race.typed) return std::nullopt;
  if (race.same_pointer) return Severity::kWarning;
  if (race.overlapping == Overlapping::kUnknown) return std::nullopt;
  return Severity::kNote;
}

}  // namespace

std::vector<Finding> FindMissingOrder(const Facts& facts) {
  std::map<RaceSite, Finding> by_site;
  const std::vector<bool>& never_run = facts.never_run();
  for (const Race& race : facts.races()) {
    if (race.ordered_if_full || race.kind == RaceKind::kFree) continue;
    const std::optional<Severity> severity = SeverityOf(race);
    if (!severity) continue;
    const bool runs = !never_run[facts.RootOf(race.earlier).index()];
    Finding& finding = by_site[SiteOf(facts, race, runs ? *severity : Severity::kNote)];
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
