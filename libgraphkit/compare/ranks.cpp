#include "libgraphkit/compare/ranks.h"

#include <map>
#include <numeric>

#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/compare/match_graphs.h"
#include "libgraphkit/group_by.h"

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

// Addresses differ from run to run; what depends on them says nothing about whether ranks are
// alike.
constexpr size_t kByAddress = FigureIndex("recorded_extent_bytes");

// Nothing when no rank knows it.
std::optional<FigureSpread> SpreadOf(const std::vector<RankSummary>& ranks, size_t figure) {
  std::vector<uint64_t> values;
  std::vector<uint32_t> known;  // the ranks that they are of
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].figures[figure]) continue;
    values.push_back(*ranks[rank].figures[figure]);
    known.push_back(rank);
  }
  if (values.empty()) return std::nullopt;
  FigureSpread spread;
  const auto [least, most] = std::minmax_element(values.begin(), values.end(), std::less<>());
  spread.least_rank = known[static_cast<size_t>(least - values.begin())];
  // minmax_element gives the last of the greatest; the first is named.
  spread.most_rank = known[static_cast<size_t>(std::ranges::find(values, *most) - values.begin())];
  spread.least = *least;
  spread.most = *most;
  spread.sum = std::accumulate(values.begin(), values.end(), uint64_t{0});
  spread.unknown = static_cast<uint32_t>(ranks.size() - known.size());
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  spread.median = *middle;
  return spread;
}

std::string GraphName(const RankSummary& rank, size_t graph) {
  std::string name = "graph " + std::to_string(graph);
  if (!rank.graphs[graph].name.empty()) name += " " + rank.graphs[graph].name;
  return name;
}

bool SameFindings(const RankSummary& a, const RankSummary& b) {
  const auto key = [](const RankFinding& f) { return std::tie(f.fingerprint, f.count, f.bytes); };
  return std::ranges::equal(a.findings, b.findings, {}, key, key);
}

// In any order: threads capture in another one in every process.
bool SameGraphs(const std::vector<RankGraph>& a, const std::vector<RankGraph>& b) {
  const auto sorted = [](const std::vector<RankGraph>& graphs) {
    std::vector<std::tuple<std::string_view, uint64_t, decltype(RankGraph::figures)>> keys;
    for (const RankGraph& graph : graphs) {
      keys.push_back({graph.name, graph.content.hash, graph.figures});
    }
    std::ranges::sort(keys);
    return keys;
  };
  return a == b || (a.size() == b.size() && sorted(a) == sorted(b));
}

bool Alike(const RankSummary& a, const RankSummary& b) {
  for (size_t i = 0; i < kRankFigureCount; ++i) {
    if (i != kByAddress && a.figures[i] != b.figures[i]) return false;
  }
  return a.structure == b.structure && a.incomplete_because == b.incomplete_because &&
         SameFindings(a, b) && SameGraphs(a.graphs, b.graphs);
}

std::vector<ComparedGraph> ComparedGraphs(const RankSummary& rank) {
  std::vector<ComparedGraph> graphs;
  for (const RankGraph& graph : rank.graphs) {
    const bool known = !graph.content.sample.empty();
    graphs.push_back({graph.name, known ? &graph.content : nullptr, graph.figures});
  }
  return graphs;
}

void CompareGraphs(const RankSummary& usual, const RankSummary& here, RankGroup& group) {
  const GraphPairs pairs = MatchContents(ComparedGraphs(usual), ComparedGraphs(here));
  for (size_t i = 0; i < usual.graphs.size(); ++i) {
    if (pairs.after[i] == GraphPairs::kNone) {
      group.graphs_missing.push_back(GraphName(usual, i));
      continue;
    }
    const RankGraph &graph = usual.graphs[i], &match = here.graphs[pairs.after[i]];
    for (size_t k = 0; k < graph.figures.size(); ++k) {
      if (graph.figures[k] == match.figures[k]) continue;
      group.figures.push_back(
          {GraphName(usual, i), {kRankGraphFigures[k], graph.figures[k], match.figures[k]}});
    }
  }
  for (size_t i = 0; i < here.graphs.size(); ++i) {
    if (pairs.before[i] == GraphPairs::kNone) group.graphs_added.push_back(GraphName(here, i));
  }
}

void CompareFindings(const RankSummary& usual, const RankSummary& here, RankGroup& group) {
  std::map<std::string_view, FindingChange> changes;
  for (const bool after : {false, true}) {
    for (const RankFinding& finding : (after ? here : usual).findings) {
      FindingChange& change = changes[finding.fingerprint];
      change.check = finding.check;
      change.severity = finding.severity;
      change.message = finding.message;
      (after ? change.count_after : change.count_before) = finding.count;
      (after ? change.bytes_after : change.bytes_before) = finding.bytes;
    }
  }
  // A finding that only one side has, and another one of the check that only the other side has,
  // are one line.
  std::map<std::string, std::vector<FindingChange>> only_usual;
  for (auto& [fingerprint, change] : changes) {
    if (change.count_after == 0) only_usual[change.check].push_back(std::move(change));
  }
  for (auto& [fingerprint, change] : changes) {
    if (!change.changed() || change.count_after == 0) continue;
    std::vector<FindingChange>& others = only_usual[change.check];
    if (change.count_before == 0 && !others.empty()) {
      change.count_before = others.back().count_before;
      change.bytes_before = others.back().bytes_before;
      others.pop_back();
    }
    group.findings.push_back(std::move(change));
  }
  for (auto& [check, others] : only_usual) {
    std::ranges::move(others, std::back_inserter(group.findings));
  }
}

// Figures of the trace that aren't in those of its graphs.
void CompareFigures(const RankSummary& usual, const RankSummary& here, RankGroup& group) {
  for (const char* name : {"asked_bytes", "graphs", "launches"}) {
    const size_t figure = FigureIndex(name);
    if (usual.figures[figure] == here.figures[figure]) continue;
    group.figures.push_back({"", {name, usual.figures[figure], here.figures[figure]}});
  }
}

std::vector<RankGroup> GroupsOf(const std::vector<RankSummary>& ranks) {
  std::vector<RankGroup> groups;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const auto found = std::ranges::find_if(groups, [&](const RankGroup& group) {
      return Alike(ranks[group.ranks.front()], ranks[rank]);
    });
    if (found == groups.end()) {
      groups.push_back({.ranks = {rank}});
    } else {
      found->ranks.push_back(rank);
    }
  }
  std::ranges::stable_sort(groups, std::ranges::greater(),
                           [](const RankGroup& group) { return group.ranks.size(); });
  const RankSummary& usual = ranks[groups.front().ranks.front()];
  for (size_t i = 1; i < groups.size(); ++i) {
    const RankSummary& here = ranks[groups[i].ranks.front()];
    groups[i].same_structure = usual.structure == here.structure;
    CompareFigures(usual, here, groups[i]);
    CompareGraphs(usual, here, groups[i]);
    CompareFindings(usual, here, groups[i]);
  }
  return groups;
}

std::vector<SharedFinding> ShareFindings(const std::vector<RankSummary>& ranks) {
  std::map<std::string, SharedFinding> shared;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    for (const RankFinding& finding : ranks[rank].findings) {
      SharedFinding& all = shared[finding.fingerprint];
      const RankFinding before = all.finding;
      if (all.ranks.empty() || finding.bytes > all.most_bytes) {
        all.finding = finding;
        all.most_rank = rank;
        all.most_bytes = finding.bytes;
      }
      all.finding.count = before.count + finding.count;
      all.finding.bytes = before.bytes + finding.bytes;
      all.ranks.push_back(rank);
    }
  }
  std::vector<SharedFinding> findings;
  for (auto& [fingerprint, finding] : shared) findings.push_back(std::move(finding));
  std::ranges::stable_sort(findings, std::ranges::greater(), [](const SharedFinding& all) {
    return std::tuple(all.finding.severity, all.most_bytes, all.ranks.size());
  });
  return findings;
}

std::vector<uint32_t> ByMemory(const std::vector<RankSummary>& ranks) {
  constexpr size_t kAsked = FigureIndex("asked_bytes"), kErrors = FigureIndex("errors"),
                   kWarnings = FigureIndex("warnings");
  const auto key = [&](uint32_t rank) {
    const auto& figures = ranks[rank].figures;
    // Imported traces may say nothing of the driver.
    const RankFigure memory = std::max(figures[kAsked], figures[kByAddress]);
    return std::tuple(memory, figures[kErrors], figures[kWarnings]);
  };
  return IndicesBy(ranks.size(), key, std::ranges::greater());
}

std::string CommonFolder(const std::vector<RankSummary>& ranks) {
  std::string_view folder = ranks.front().trace;
  folder = folder.substr(0, folder.rfind('/') + 1);
  for (const RankSummary& rank : ranks) {
    while (!rank.trace.starts_with(folder)) {
      folder.remove_suffix(1);
      folder = folder.substr(0, folder.rfind('/') + 1);
    }
  }
  return std::string(folder);
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
  return rank;
}

std::vector<RankSummary> SummarizeRanks(const std::vector<GateSubject>& subjects) {
  std::vector<RankSummary> ranks;
  for (const GateSubject& subject : subjects) ranks.push_back(SummarizeRank(subject));
  return ranks;
}

RankReport CompareRanks(std::vector<RankSummary> ranks) {
  RankReport report{.folder = CommonFolder(ranks)};
  report.by_memory = ByMemory(ranks);
  for (size_t i = 0; i < kRankFigureCount; ++i) report.spread[i] = SpreadOf(ranks, i);
  report.groups = GroupsOf(ranks);
  report.findings = ShareFindings(ranks);
  report.ranks = std::move(ranks);
  return report;
}

}  // namespace graphkit
