// programmatic-only-order: order that rests on an edge that doesn't mean completion.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

// How the edge works where order is lost; of an unknown producer nothing is known.
EarlyStart StartOf(const Facts& facts, const Race& race) {
  if (!race.producer) return {};
  const std::span<const InEdge> edges = facts.in_edges().Of(race.consumer.index());
  const auto edge = std::ranges::find_if(
      edges, [&](const InEdge& in) { return !in.full && in.from == race.producer; });
  if (edge == edges.end()) return {};
  return EarlyStartOf(facts.trace,
                      {.from = edge->from, .to = race.consumer, .from_port = edge->from_port});
}

Severity SeverityOf(const Race& race, const EarlyStart& start) {
  if (!race.surely_unordered) return Severity::kNote;
  // By accident in order, until the producer triggers.
  if (race.overlapping == Overlapping::kUnknown || start.at_end()) return Severity::kWarning;
  return Severity::kError;
}

// Evidence of the producer's machine code; empty: there is none.
std::string TriggerText(const Trace& trace, const Race& race, const EarlyStart& start) {
  if (!race.producer || start.from_port != kPortProgrammatic) return "";
  const std::string producer = NameOf(trace, race.producer);
  const std::string consumer = NameOf(trace, race.consumer);
  if (start.triggers == Triggers::kNo) {
    return producer + " never triggers: " + consumer +
           " starts when all its blocks have ended, but what they wrote need not be visible";
  }
  if (start.triggers == Triggers::kUnknown) return "";
  switch (start.writes_after_trigger) {
    case Ternary::kYes:
      return producer + " triggers, and may write after that: " + consumer +
             " may run before these writes (assumes that they are to memory that both touch)";
    case Ternary::kNo:
      return producer + " triggers after its last write: what it wrote is visible to " + consumer +
             " only if that waits";
    case Ternary::kUnknown:
      break;
  }
  return producer + " triggers: " + consumer + " may start before its end";
}

}  // namespace

std::vector<Finding> FindProgrammaticOnlyOrder(const Facts& facts) {
  std::map<RaceSite, Finding> by_site;
  const Trace& trace = facts.trace;
  for (const Race& race : facts.races()) {
    if (!race.ordered_if_full) continue;
    const EarlyStart start = StartOf(facts, race);
    const Severity severity = SeverityOf(race, start);
    const Node& consumer = trace[race.consumer];
    Finding& finding =
        by_site[{facts.roots()[consumer.graph.index()], severity, consumer.kernel, KernelId()}];
    if (finding.blocks.empty()) {
      finding.message = NameOf(trace, race.consumer) +
                        (race.surely_unordered ? " doesn't wait" : " isn't known to wait") +
                        " for its grid dependencies: nothing else ends " +
                        NameOf(trace, race.earlier) + " before " + NameOf(trace, race.later) +
                        (race.kind == RaceKind::kFree ? " frees " : " touches ") +
                        NameOf(trace, race.block);
      finding.advice =
          "call cudaGridDependencySynchronize() in " + NameOf(trace, race.consumer) +
          " before it touches what it shares, or launch it without programmatic serialization";
      if (const std::string text = TriggerText(trace, race, start); !text.empty()) {
        finding.evidence.push_back({.text = text, .nodes = {race.producer, race.consumer}});
      }
    }
    AddRace(facts, race, &finding);
  }
  return TakeFindings(&by_site);
}

}  // namespace graphkit
