#include <algorithm>
#include <map>

#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/compare/graph_view.h"
#include "libgraphkit/compare/ranks.h"

namespace graphkit {

namespace {

constexpr uint64_t GraphSummary::*kGraphValues[] = {
    &GraphSummary::nodes,
    &GraphSummary::edges,
    &GraphSummary::streams,
    &GraphSummary::blocks,
    &GraphSummary::total_bytes,
    &GraphSummary::peak_live_bytes,
    &GraphSummary::deferred_bytes,
    &GraphSummary::lower_bound_bytes,
    &GraphSummary::never_freed_bytes,
    &GraphSummary::reuse_bytes,
};
static_assert(std::size(kGraphValues) == kRankGraphFigures.size());

std::array<uint64_t, kRankFigureCount> FiguresOf(const Report& report) {
  const auto most = [&](uint64_t GraphSummary::*value) {
    uint64_t found = 0;
    for (const GraphSummary& graph : report.graphs) found = std::max(found, graph.*value);
    return found;
  };
  const auto sum = [&](uint64_t GraphSummary::*value) {
    uint64_t total = 0;
    for (const GraphSummary& graph : report.graphs) total += graph.*value;
    return total;
  };
  const ReportTotals& totals = report.totals;
  return {report.memory.asked_bytes,
          most(&GraphSummary::peak_live_bytes),
          most(&GraphSummary::deferred_bytes),
          sum(&GraphSummary::never_freed_bytes),
          sum(&GraphSummary::reuse_bytes),
          most(&GraphSummary::recorded_extent_bytes),
          most(&GraphSummary::lower_bound_bytes),
          totals.graphs,
          totals.nodes,
          totals.edges,
          totals.blocks,
          totals.launches,
          totals.findings[static_cast<size_t>(Severity::kError)],
          totals.findings[static_cast<size_t>(Severity::kWarning)]};
}

std::vector<RankGraph> GraphsOf(const Report& report) {
  std::vector<RankGraph> graphs;
  const std::vector<uint32_t> ordinals = GraphOrdinals(report);
  for (size_t i = 0; i < report.graphs.size(); ++i) {
    RankGraph graph{.name = report.graphs[i].name, .ordinal = ordinals[i]};
    for (size_t k = 0; k < graph.figures.size(); ++k) {
      graph.figures[k] = report.graphs[i].*kGraphValues[k];
    }
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

std::vector<RankFinding> FindingsOf(const GateSubject& subject) {
  std::map<std::string, RankFinding> found;
  for (size_t i = 0; i < subject.report.findings.size(); ++i) {
    const Finding& finding = subject.report.findings[i];
    RankFinding& kept = found[Fingerprint(subject, i)];
    if (kept.count == 0) {
      kept.check = finding.check;
      kept.severity = finding.severity;
      kept.message = finding.message;
    }
    kept.severity = std::max(kept.severity, finding.severity);
    ++kept.count;
    kept.bytes += finding.bytes;
  }
  std::vector<RankFinding> findings;
  for (auto& [fingerprint, finding] : found) {
    finding.fingerprint = fingerprint;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

RankSummary SummarizeRank(const Trace& trace, const GateSubject& subject) {
  RankSummary rank{.trace = subject.trace, .device = subject.report.device};
  rank.incomplete_because = subject.report.incomplete_because;
  if (!subject.report.complete && rank.incomplete_because.empty()) {
    rank.incomplete_because.push_back("incomplete");
  }
  rank.program = subject.report.program;
  for (const GraphView& view : ViewGraphs(trace)) {
    rank.structure = Mix(rank.structure, GraphHash(view));
  }
  rank.figures = FiguresOf(subject.report);
  rank.graphs = GraphsOf(subject.report);
  rank.findings = FindingsOf(subject);
  return rank;
}

}  // namespace graphkit
