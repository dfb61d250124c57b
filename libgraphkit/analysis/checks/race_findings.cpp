#include "libgraphkit/analysis/checks/race_findings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

std::string More(const Finding& finding) {
  if (finding.blocks.size() == 1) return {};
  return "; the same in " + Count(finding.blocks.size() - 1, "other block");
}

}  // namespace

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

RaceSite SiteOf(const Facts& facts, const Race& race, Severity severity) {
  const Node& earlier = facts.trace[race.earlier];
  const Node& later = facts.trace[race.later];
  return {facts.roots[earlier.graph.index()], severity, earlier.kernel, later.kernel};
}

std::vector<Finding> TakeFindings(std::map<RaceSite, Finding>* by_site) {
  std::vector<Finding> findings;
  for (auto& [site, finding] : *by_site) {
    finding.severity = std::get<1>(site);
    finding.message += More(finding);
    finding.assumes = Assumption::kArguments;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
