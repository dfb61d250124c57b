#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "libgraphkit/analysis/launches/collectives.h"
#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/compare/graph_view.h"
#include "libgraphkit/compare/ranks.h"

namespace graphkit {

namespace {

using GraphBytes = std::optional<Bytes> GraphSummary::*;

// Over all graphs; nothing when that of one of them isn't known.
template <typename Fold>
RankFigure OverGraphs(const Report& report, GraphBytes bytes, Fold fold) {
  uint64_t all = 0;
  for (const GraphSummary& graph : report.graphs) {
    if (!(graph.*bytes)) return std::nullopt;
    all = fold(all, *(graph.*bytes));
  }
  return all;
}
RankFigure Most(const Report& report, GraphBytes bytes) {
  return OverGraphs(report, bytes, [](uint64_t a, uint64_t b) { return std::max(a, b); });
}
RankFigure Sum(const Report& report, GraphBytes bytes) {
  return OverGraphs(report, bytes, std::plus<uint64_t>());
}

std::array<RankFigure, kRankFigureCount> FiguresOf(const Report& report) {
  const ReportTotals& totals = report.totals;
  const RankFigure asked = report.memory ? RankFigure(report.memory->asked_bytes) : std::nullopt;
  return {asked,
          Most(report, &GraphSummary::peak_live_bytes),
          Most(report, &GraphSummary::deferred_bytes),
          Sum(report, &GraphSummary::never_freed_bytes),
          Sum(report, &GraphSummary::reuse_bytes),
          Most(report, &GraphSummary::recorded_extent_bytes),
          Most(report, &GraphSummary::lower_bound_bytes),
          totals.graphs,
          totals.nodes,
          totals.edges,
          totals.blocks,
          totals.launches,
          totals.findings[static_cast<size_t>(Severity::kError)],
          totals.findings[static_cast<size_t>(Severity::kWarning)]};
}

std::vector<RankGraph> GraphsOf(const GateSubject& subject) {
  const Report& report = subject.report;
  std::vector<RankGraph> graphs;
  const std::vector<uint32_t> ordinals = GraphOrdinals(report);
  for (size_t i = 0; i < report.graphs.size(); ++i) {
    const GraphContent content = i < subject.contents.size() ? subject.contents[i] : GraphContent();
    graphs.push_back({report.graphs[i].name, ordinals[i], content, GraphFigures(report.graphs[i])});
  }
  return graphs;
}

std::vector<RankFinding> FindingsOf(const GateSubject& subject) {
  std::map<std::string, RankFinding> found;
  const std::vector<FindingKey> keys = FindingKeys(subject, {});
  for (size_t i = 0; i < subject.report.findings.size(); ++i) {
    const Finding& finding = subject.report.findings[i];
    RankFinding& kept = found[keys[i].fingerprint];
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

RankSummary SummarizeRank(const GateSubject& subject) {
  RankSummary rank{.trace = subject.trace, .device = subject.report.device};
  rank.incomplete_because = subject.report.incomplete_because;
  if (!subject.report.complete && rank.incomplete_because.empty()) {
    rank.incomplete_because.push_back("incomplete");
  }
  rank.program = subject.report.program;
  for (const GraphContent& content : subject.contents) rank.structure += Mix(content.hash, 1);
  rank.figures = FiguresOf(subject.report);
  rank.graphs = GraphsOf(subject);
  rank.findings = FindingsOf(subject);
  rank.collectives = subject.collectives;
  return rank;
}

void AddRankDifferences(const std::vector<std::string>& checks, std::vector<RankSummary>& ranks) {
  if (ranks.size() < 2) return;
  std::vector<RankTrace> traces;
  for (const RankSummary& rank : ranks) {
    traces.push_back({rank.trace, &rank.collectives, rank.complete()});
  }
  for (RankDifference& found : CompareCollectives(traces)) {
    const Finding& finding = found.finding;
    const bool asked = checks.empty() || std::ranges::find(checks, finding.check) != checks.end();
    if (!asked) continue;
    RankSummary& rank = ranks[found.trace];
    const auto program =
        std::ranges::find(rank.collectives.programs, finding.graph, &RankProgram::graph);
    const bool named = finding.graph && program != rank.collectives.programs.end();
    const std::string graph = named ? program->name : "";
    RankFinding added{.fingerprint = Fingerprint(finding.check, graph, found.place),
                      .check = finding.check,
                      .severity = finding.severity,
                      .message = finding.message,
                      .count = 1};
    RankFigure& figure =
        rank.figures[FigureIndex(finding.severity == Severity::kError ? "errors" : "warnings")];
    figure = figure.value_or(0) + 1;
    const auto at =
        std::ranges::upper_bound(rank.findings, added.fingerprint, {}, &RankFinding::fingerprint);
    rank.findings.insert(at, std::move(added));
  }
}

}  // namespace graphkit
