// missing-order, free-before-use, programmatic-only-order: nodes that touch one block and that
// nothing orders, or nothing but an edge that doesn't mean completion.
#include "libgraphkit/analysis/races.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

// Non-const pointers are why a C++ kernel may write; a name that isn't mangled says nothing.
bool SaysWhatItReads(const Trace& trace, NodeId node) {
  if (trace[node].kind != NodeKind::kKernel) return true;
  const KernelId kernel = trace[node].kernel;
  return kernel.index() < trace.kernels.size() && trace[trace[kernel].name].starts_with("_Z");
}

void AddRace(const Facts& facts, const Race& race, Finding* finding) {
  const Trace& trace = facts.trace;
  finding->graph = facts.roots[trace[race.earlier].graph.index()];
  const auto has = [](const auto& list, auto item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  if (!has(finding->blocks, race.block)) {
    finding->blocks.push_back(race.block);
    finding->bytes += RoundedSize(trace[race.block]);
  }
  for (const NodeId node : {race.earlier, race.later}) {
    if (has(finding->nodes, node)) continue;
    finding->nodes.push_back(node);
    if (finding->evidence.size() >= 4) continue;
    finding->evidence.push_back({.text = CapturedOn(trace, node),
                                 .nodes = {node},
                                 .blocks = {race.block},
                                 .stack = trace[node].stack});
  }
}

std::string More(const Finding& finding) {
  if (finding.blocks.size() == 1) return {};
  return "; the same in " + Count(finding.blocks.size() - 1, "other block");
}

// The name of the code: what races once mostly races in every layer.
using SiteKey = std::tuple<GraphId, Severity, KernelId, KernelId>;
SiteKey SiteOf(const Facts& facts, const Race& race, Severity severity) {
  const Node& earlier = facts.trace[race.earlier];
  const Node& later = facts.trace[race.later];
  return {facts.roots[earlier.graph.index()], severity, earlier.kernel, later.kernel};
}

std::vector<Finding> Values(std::map<SiteKey, Finding>& by_site) {
  std::vector<Finding> findings;
  for (auto& [site, finding] : by_site) {
    finding.severity = std::get<1>(site);
    finding.message += More(finding);
    finding.assumes = Assumption::kArguments;
    findings.push_back(std::move(finding));
  }
  return findings;
}

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
  std::map<SiteKey, Finding> by_site;
  for (const Race& race : FindRaces(facts)) {
    if (race.launch_ordered || race.kind == RaceKind::kFree) continue;
    const bool certain = race.kind == RaceKind::kAlloc || race.overlapping == Overlapping::kCertain;
    if (race.overlapping == Overlapping::kUnknown) continue;
    if (!certain &&
        !(SaysWhatItReads(facts.trace, race.earlier) && SaysWhatItReads(facts.trace, race.later))) {
      continue;
    }
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
  return Values(by_site);
}

std::vector<Finding> FindFreeBeforeUse(const Facts& facts) {
  std::map<SiteKey, Finding> by_site;
  const Trace& trace = facts.trace;
  for (const Race& race : FindRaces(facts)) {
    if (race.launch_ordered || race.kind != RaceKind::kFree) continue;
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
  return Values(by_site);
}

std::vector<Finding> FindProgrammaticOnlyOrder(const Facts& facts) {
  std::map<SiteKey, Finding> by_site;
  const Trace& trace = facts.trace;
  for (const Race& race : FindRaces(facts)) {
    if (!race.launch_ordered) continue;
    const Ternary waits = WaitsFor(trace, race.consumer);
    const bool known = waits == Ternary::kNo;
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
  return Values(by_site);
}

}  // namespace graphkit
