#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/compare/judge.h"
#include "libgraphkit/model/names.h"

namespace graphkit {

namespace {

std::string GraphText(const GraphSummary& graph) {
  const std::string text = "graph " + std::to_string(graph.graph.value);
  return graph.name.empty() ? text : text + " " + graph.name;
}

// Figures that are near each other are told apart in full.
std::string Exceeds(const GateMeasure& measure, const char* what) {
  std::string value = FigureText(*measure.value, measure.unit);
  std::string limit = FigureText(measure.limit, measure.unit);
  if (measure.unit == MeasureUnit::kBytes && *measure.value < measure.limit * 1.01) {
    value = FormatCount(SaturateWhole(*measure.value)) + " B";
    limit = FormatCount(SaturateWhole(measure.limit)) + " B";
  }
  if (measure.unit == MeasureUnit::kRatio) {
    return "peak reserved is " + value + "× " + what + "; limit " + limit + "×";
  }
  return value + " " + what + ", limit " + limit;
}

// What isn't known neither passes nor fails: RefuseUnknown says so.
void Hold(GateMeasure measure, const char* what, GateReason::Kind kind, GateVerdict& verdict) {
  measure.passed = measure.value && *measure.value <= measure.limit;
  if (measure.value && !measure.passed) {
    const std::string subject = measure.subject.empty() ? "" : measure.subject + ": ";
    verdict.reasons.push_back(
        {kind, measure.trace, measure.rule + ": " + subject + Exceeds(measure, what)});
  }
  verdict.measures.push_back(std::move(measure));
}

std::optional<double> Figure(std::optional<Bytes> bytes) {
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

void HoldBytes(const char* rule, const char* what, uint32_t trace, const GraphSummary& graph,
               std::optional<Bytes> value, std::optional<Bytes> limit, GateVerdict& verdict) {
  if (!limit) return;
  Hold({.rule = rule,
        .trace = trace,
        .subject = GraphText(graph),
        .value = Figure(value),
        .limit = static_cast<double>(*limit)},
       what, GateReason::Kind::kBudget, verdict);
}

// Of memory that isn't known it isn't known whether it leaks.
std::optional<double> CountLeaks(const std::vector<GateSubject>& subjects, uint32_t trace,
                                 const GateVerdict& verdict) {
  if (!subjects[trace].report.unknown_memory.empty()) return std::nullopt;
  uint64_t leaks = 0;
  for (const JudgedFinding& judged : verdict.findings) {
    if (judged.trace != trace || judged.status == FindingStatus::kSuppressed) continue;
    leaks += LeakedBy(subjects[trace], judged.finding);
  }
  return static_cast<double>(leaks);
}

// What a trace has too many of fails, so that it is listed.
void FailLeaks(const std::vector<GateSubject>& subjects, uint32_t trace, GateVerdict& verdict) {
  for (JudgedFinding& judged : verdict.findings) {
    if (judged.trace != trace || judged.status == FindingStatus::kSuppressed) continue;
    if (LeakedBy(subjects[trace], judged.finding) > 0) judged.status = FindingStatus::kFails;
  }
}

void HoldRatio(const GateSubject& subject, uint32_t trace, double limit, GateVerdict& verdict) {
  if (!subject.peak_reserved_bytes || subject.peak_allocated_bytes.value_or(0) == 0) {
    verdict.reasons.push_back({GateReason::Kind::kBlind, trace,
                               "max-reserved-over-allocated: no memory was recorded, so that the "
                               "ratio isn't known"});
    return;
  }
  const double ratio = static_cast<double>(*subject.peak_reserved_bytes) /
                       static_cast<double>(*subject.peak_allocated_bytes);
  Hold({.rule = "max-reserved-over-allocated",
        .trace = trace,
        .unit = MeasureUnit::kRatio,
        .value = ratio,
        .limit = limit},
       "peak allocated", GateReason::Kind::kBudget, verdict);
}

// A file of another tool doesn't say what was instantiated.
std::optional<double> ExecBytes(const Report& report) {
  if (report.execs) return static_cast<double>(report.execs->peak.bytes.high);
  return report.device == DeviceKind::kImported ? std::nullopt : std::optional(0.0);
}

// "taken by execs at most (estimated: 3 MiB to 9 MiB), graph 0 step with 6 MiB first".
std::string ExecsText(const Report& report) {
  if (!report.execs) return "";
  const ExecMemory& memory = *report.execs;
  std::vector<const GraphSummary*> graphs;
  for (const GraphSummary& graph : report.graphs) {
    if (graph.exec_peak) graphs.push_back(&graph);
  }
  std::ranges::stable_sort(graphs, std::ranges::greater(),
                           [](const GraphSummary* graph) { return graph->exec_peak->bytes.high; });
  constexpr size_t kNamed = 3;
  std::string text = "taken by " + FormatCount(memory.peak.execs) + " executables at once (" +
                     std::string(NameOf(memory.source)) + " " + FormatBytes(memory.peak.bytes.low) +
                     " to " + FormatBytes(memory.peak.bytes.high) + "; the largest: ";
  for (size_t i = 0; i < std::min(kNamed, graphs.size()); ++i) {
    text += (i == 0 ? "" : ", ") + GraphText(*graphs[i]) + " " +
            FormatBytes(graphs[i]->exec_peak->bytes.high);
  }
  return text + ")";
}

void HoldCoverage(const GateSubject& subject, uint32_t trace, double limit, GateVerdict& verdict) {
  if (!subject.coverage) {
    const std::string& why = subject.unknown_coverage;
    verdict.reasons.push_back({GateReason::Kind::kBlind, trace,
                               "min-coverage: " + (why.empty() ? "no kernel was launched" : why)});
    return;
  }
  GateMeasure measure{.rule = "min-coverage",
                      .trace = trace,
                      .unit = MeasureUnit::kShare,
                      .value = subject.coverage,
                      .limit = limit,
                      .passed = *subject.coverage >= limit};
  if (!measure.passed) {
    verdict.reasons.push_back({GateReason::Kind::kBudget, trace,
                               "min-coverage: " + FigureText(*measure.value, measure.unit) +
                                   " of kernel launches run in graphs, at least " +
                                   FigureText(limit, measure.unit) + " asked for"});
  }
  verdict.measures.push_back(std::move(measure));
}

struct Comparison {
  const char* rule;
  const char* what;
  std::optional<Bytes> GraphSummary::*value;
  Bytes BaselineGraph::*base;
};

constexpr Comparison kComparisons[] = {
    {"baseline-peak", "live at the peak", &GraphSummary::peak_live_bytes,
     &BaselineGraph::peak_live_bytes},
    {"baseline-deferred", "deferred", &GraphSummary::deferred_bytes,
     &BaselineGraph::deferred_bytes},
    {"baseline-never-freed", "never freed", &GraphSummary::never_freed_bytes,
     &BaselineGraph::never_freed_bytes},
};

double Grown(Bytes base, double increase) {
  return std::floor(static_cast<double>(base) * (1 + increase));
}

void CompareGraph(const GraphSummary& graph, const BaselineGraph& base, uint32_t trace,
                  double increase, GateVerdict& verdict) {
  for (const Comparison& comparison : kComparisons) {
    Hold({.rule = comparison.rule,
          .trace = trace,
          .subject = GraphText(graph),
          .value = Figure(graph.*comparison.value),
          .limit = Grown(base.*comparison.base, increase)},
         comparison.what, GateReason::Kind::kBaseline, verdict);
  }
}

// What doesn't run isn't seen to go wrong. Of graphs that are alike any one may be the one that is
// launched: their number counts.
void CompareLaunches(const GateSubject& subject, uint32_t trace, const BaselineMatch& match,
                     GateVerdict& verdict) {
  const std::vector<BaselineGraph>& before = match.trace->graphs;
  const auto here = std::ranges::count_if(
      subject.report.graphs, [](const GraphSummary& graph) { return graph.launches > 0; });
  if (here >= std::ranges::count(before, true, &BaselineGraph::launched)) return;
  for (size_t i = 0; i < subject.report.graphs.size(); ++i) {
    const GraphSummary& graph = subject.report.graphs[i];
    const uint32_t same = match.graphs[i];
    if (graph.launches > 0 || same == BaselineMatch::kNoGraph || !before[same].launched) continue;
    verdict.reasons.push_back({GateReason::Kind::kBaseline, trace,
                               "baseline: " + GraphText(graph) +
                                   " was launched in the baseline's run, and never in this one"});
  }
}

void CompareTrace(const GateSubject& subject, uint32_t trace, const BaselineMatch& match,
                  double increase, GateVerdict& verdict) {
  const BaselineTrace& base = *match.trace;
  std::vector<bool> met(base.graphs.size(), false);
  for (size_t i = 0; i < subject.report.graphs.size(); ++i) {
    const GraphSummary& graph = subject.report.graphs[i];
    const uint32_t same = match.graphs[i];
    if (same == BaselineMatch::kNoGraph) {
      verdict.reasons.push_back({GateReason::Kind::kBaseline, trace,
                                 "baseline: " + GraphText(graph) +
                                     " isn't in it; save it again "
                                     "if the graph is meant to be there"});
      if (!graph.unknown_memory.empty()) CompareGraph(graph, {}, trace, increase, verdict);
      continue;
    }
    met[same] = true;
    CompareGraph(graph, base.graphs[same], trace, increase, verdict);
  }
  for (size_t i = 0; i < met.size(); ++i) {
    if (met[i]) continue;
    const std::string name = base.graphs[i].name.empty() ? "a graph" : base.graphs[i].name;
    verdict.reasons.push_back({GateReason::Kind::kBaseline, trace,
                               "baseline: " + name + " of the baseline wasn't captured"});
  }
  CompareLaunches(subject, trace, match, verdict);
  if (!base.peak_outside_graphs_bytes) return;
  Hold({.rule = "baseline-reserved",
        .trace = trace,
        .value = Figure(subject.peak_outside_graphs_bytes),
        .limit = Grown(*base.peak_outside_graphs_bytes, increase)},
       "reserved", GateReason::Kind::kBaseline, verdict);
}

struct Quantity {
  std::string_view rule;
  const char* name;
};

constexpr Quantity kQuantities[] = {
    {"max-deferred", "deferred bytes"},
    {"max-peak", "live bytes at the peak"},
    {"max-idle", "idle bytes at the end"},
    {"max-exec-bytes", "bytes of executables"},
    {"max-leaks", "leaks"},
    {"baseline-peak", "live bytes at the peak"},
    {"baseline-deferred", "deferred bytes"},
    {"baseline-never-freed", "bytes never freed"},
    {"baseline-reserved", "reserved bytes"},
};

std::string UnknownText(const GateMeasure& first, uint64_t more, const std::string& because) {
  const auto quantity = std::ranges::find(kQuantities, first.rule, &Quantity::rule);
  std::string text = first.rule + ": ";
  if (!first.subject.empty()) text += first.subject;
  if (more > 0)
    text += " and " + FormatCount(more) + (more == 1 ? " other graph" : " other graphs");
  if (!first.subject.empty()) text += ": ";
  text += quantity == std::end(kQuantities) ? "the figure" : quantity->name;
  return text + " can't be judged, they are unknown: " +
         (because.empty() ? "no memory was recorded" : because);
}

}  // namespace

std::string FigureText(double value, MeasureUnit unit) {
  if (unit == MeasureUnit::kBytes) return FormatBytes(SaturateWhole(value));
  if (unit == MeasureUnit::kCount) return FormatCount(SaturateWhole(value));
  // Rounded down, so that what is shown as enough is.
  if (unit == MeasureUnit::kShare) return FormatPercent(std::floor(value * 1000 + 1e-9) / 1000);
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

void RefuseUnknown(const std::vector<GateSubject>& subjects, GateVerdict& verdict) {
  std::map<std::pair<uint32_t, std::string_view>, std::vector<const GateMeasure*>> unknown;
  for (const GateMeasure& measure : verdict.measures) {
    if (!measure.value) unknown[{measure.trace, measure.rule}].push_back(&measure);
  }
  for (const auto& [key, measures] : unknown) {
    const std::string because = key.second == "max-exec-bytes"
                                    ? "the file doesn't say what was instantiated"
                                    : subjects[key.first].report.unknown_memory;
    verdict.reasons.push_back({GateReason::Kind::kBlind, key.first,
                               UnknownText(*measures.front(), measures.size() - 1, because)});
  }
}

void JudgeBudgets(const std::vector<GateSubject>& subjects, const GateConfig& config,
                  GateVerdict& verdict) {
  for (uint32_t trace = 0; trace < subjects.size(); ++trace) {
    for (const GraphSummary& graph : subjects[trace].report.graphs) {
      HoldBytes("max-deferred", "deferred", trace, graph, graph.deferred_bytes,
                config.max_deferred_bytes, verdict);
      HoldBytes("max-peak", "live at the peak", trace, graph, graph.peak_live_bytes,
                config.max_peak_bytes, verdict);
    }
    const GateSubject& subject = subjects[trace];
    if (config.max_peak_bytes && subject.report.graphs.empty() && subject.peak_in_use_bytes) {
      Hold({.rule = "max-peak",
            .trace = trace,
            .value = Figure(subject.peak_in_use_bytes),
            .limit = static_cast<double>(*config.max_peak_bytes)},
           "in use at the peak", GateReason::Kind::kBudget, verdict);
    }
    if (config.max_idle_bytes) {
      Hold({.rule = "max-idle",
            .trace = trace,
            .value = Figure(subject.idle_bytes),
            .limit = static_cast<double>(*config.max_idle_bytes)},
           "reserved and idle at the end", GateReason::Kind::kBudget, verdict);
    }
    if (config.max_exec_bytes) {
      const std::string what = ExecsText(subject.report);
      Hold({.rule = "max-exec-bytes",
            .trace = trace,
            .value = ExecBytes(subject.report),
            .limit = static_cast<double>(*config.max_exec_bytes)},
           what.c_str(), GateReason::Kind::kBudget, verdict);
    }
    if (config.max_leaks) {
      Hold({.rule = "max-leaks",
            .trace = trace,
            .unit = MeasureUnit::kCount,
            .value = CountLeaks(subjects, trace, verdict),
            .limit = static_cast<double>(*config.max_leaks)},
           "leaks", GateReason::Kind::kBudget, verdict);
      const GateMeasure& leaks = verdict.measures.back();
      if (leaks.value && !leaks.passed) FailLeaks(subjects, trace, verdict);
    }
    if (config.max_reserved_over_allocated) {
      HoldRatio(subjects[trace], trace, *config.max_reserved_over_allocated, verdict);
    }
    if (config.min_coverage) HoldCoverage(subject, trace, *config.min_coverage, verdict);
  }
}

void JudgeAgainstBaseline(const std::vector<GateSubject>& subjects, const GateConfig& config,
                          const Baseline& baseline, const std::vector<BaselineMatch>& matches,
                          GateVerdict& verdict) {
  for (uint32_t trace = 0; trace < subjects.size(); ++trace) {
    if (matches[trace].trace == nullptr) {
      verdict.reasons.push_back(
          {GateReason::Kind::kBlind, trace, "baseline: it has no entry for this trace"});
      continue;
    }
    CompareTrace(subjects[trace], trace, matches[trace], config.allow_increase, verdict);
  }
  for (const BaselineTrace& base : baseline.traces) {
    if (std::ranges::find(matches, &base, &BaselineMatch::trace) != matches.end()) continue;
    verdict.reasons.push_back(
        {GateReason::Kind::kBlind, {}, "baseline: " + base.trace + " is in it and wasn't given"});
  }
}

}  // namespace graphkit
