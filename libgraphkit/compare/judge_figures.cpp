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
#include "libgraphkit/compare/peak_lines.h"
#include "libgraphkit/model/names.h"

namespace graphkit {

namespace {

std::string GraphText(const GraphSummary& graph) {
  const std::string text = "graph " + std::to_string(graph.graph.value);
  return graph.name.empty() ? text : text + " " + graph.name;
}

// A figure of a measure; of two that are near each other the bytes are shown in full.
std::string Shown(const GateMeasure& measure, double figure, double other) {
  const bool near = std::max(figure, other) < std::min(figure, other) * 1.01;
  if (measure.unit != MeasureUnit::kBytes || !near) return FigureText(figure, measure.unit);
  return FormatCount(SaturateWhole(figure)) + " B";
}

std::string Exceeds(const GateMeasure& measure, const std::string& what) {
  const std::string value = Shown(measure, *measure.value, measure.limit);
  const std::string limit = Shown(measure, measure.limit, *measure.value);
  if (measure.unit == MeasureUnit::kRatio) {
    return "peak reserved is " + value + "× " + what + "; limit " + limit + "×";
  }
  if (measure.unit == MeasureUnit::kShare) {
    return value + " of " + what + ", at least " + limit + " asked for";
  }
  return value + " " + what + ", limit " + limit;
}

std::string PercentText(double share) {
  const bool whole = std::abs(share * 100 - std::round(share * 100)) < 0.05;
  return FormatPercent(share, whole ? 0 : 1);
}

// "live at the peak: 4 MiB → 6 MiB (+50%, allowed 2%)".
std::string Grew(const GateMeasure& measure, const std::string& what, Bytes base, double increase) {
  const double before = static_cast<double>(base);
  const std::string more = base == 0 ? "" : "+" + PercentText(*measure.value / before - 1) + ", ";
  return what + ": " + Shown(measure, before, *measure.value) + " → " +
         Shown(measure, *measure.value, before) + " (" + more + "allowed " + PercentText(increase) +
         ")";
}

// An unknown figure neither passes nor fails: RefuseUnknown says so. `over`: what is said of one
// beyond its limit.
template <typename Over>
void Hold(GateMeasure measure, GateReason::Kind kind, GateVerdict& verdict, Over over) {
  const bool least = measure.unit == MeasureUnit::kShare;
  measure.passed =
      measure.value && (least ? *measure.value >= measure.limit : *measure.value <= measure.limit);
  if (measure.value && !measure.passed) {
    const std::string subject = measure.subject.empty() ? "" : measure.subject + ": ";
    verdict.reasons.push_back({kind, measure.trace, measure.rule + ": " + subject + over(measure)});
  }
  verdict.measures.push_back(std::move(measure));
}

void HoldBudget(GateMeasure measure, const std::string& what, GateVerdict& verdict) {
  Hold(std::move(measure), GateReason::Kind::kBudget, verdict,
       [&](const GateMeasure& held) { return Exceeds(held, what); });
}

std::optional<double> Figure(std::optional<Bytes> bytes) {
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
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

// Leaks beyond the limit fail, so that they are listed.
void FailLeaks(const std::vector<GateSubject>& subjects, uint32_t trace, GateVerdict& verdict) {
  for (JudgedFinding& judged : verdict.findings) {
    if (judged.trace != trace || judged.status == FindingStatus::kSuppressed) continue;
    if (LeakedBy(subjects[trace], judged.finding) > 0) judged.status = FindingStatus::kFails;
  }
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

std::optional<double> ReservedOverAllocated(const GateSubject& subject) {
  if (!subject.peak_reserved_bytes || subject.peak_allocated_bytes.value_or(0) == 0) return {};
  return static_cast<double>(*subject.peak_reserved_bytes) /
         static_cast<double>(*subject.peak_allocated_bytes);
}

// A rule's figures: of a trace's graphs, or of the trace. Of both, the trace's counts where there
// is no graph.
struct Rule {
  std::string_view name;  // of kGateLimits, or of the baseline
  std::optional<Bytes> GraphSummary::*of_graph = nullptr;
  const char* graph_what = "";  // "live at the peak", after a figure
  std::optional<double> (*of_trace)(const GateSubject& subject) = nullptr;
  const char* what = "";
  Bytes BaselineGraph::*base = nullptr;  // that of_graph is compared with
  const char* quantity = "";             // "live bytes at the peak", which may be unknown
};

constexpr Rule kRules[] = {
    {.name = "max-deferred",
     .of_graph = &GraphSummary::deferred_bytes,
     .graph_what = "deferred",
     .quantity = "deferred bytes"},
    {.name = "max-peak",
     .of_graph = &GraphSummary::peak_live_bytes,
     .graph_what = "live at the peak",
     .of_trace = [](const GateSubject& subject) { return Figure(subject.peak_in_use_bytes); },
     .what = "in use at the peak",
     .quantity = "live bytes at the peak"},
    {.name = "max-idle",
     .of_trace = [](const GateSubject& subject) { return Figure(subject.idle_bytes); },
     .what = "reserved and idle at the end",
     .quantity = "idle bytes at the end"},
    {.name = "max-exec-bytes",
     .of_trace = [](const GateSubject& subject) { return ExecBytes(subject.report); },
     .quantity = "bytes of executables"},
    {.name = "max-leaks", .quantity = "leaks"},
    {.name = "max-reserved-over-allocated",
     .of_trace = ReservedOverAllocated,
     .what = "peak allocated"},
    {.name = "min-coverage",
     .of_trace = [](const GateSubject& subject) { return subject.coverage; },
     .what = "kernel launches run in graphs"},
    {.name = "baseline-peak",
     .of_graph = &GraphSummary::peak_live_bytes,
     .graph_what = "live at the peak",
     .base = &BaselineGraph::peak_live_bytes,
     .quantity = "live bytes at the peak"},
    {.name = "baseline-deferred",
     .of_graph = &GraphSummary::deferred_bytes,
     .graph_what = "deferred",
     .base = &BaselineGraph::deferred_bytes,
     .quantity = "deferred bytes"},
    {.name = "baseline-never-freed",
     .of_graph = &GraphSummary::never_freed_bytes,
     .graph_what = "never freed",
     .base = &BaselineGraph::never_freed_bytes,
     .quantity = "bytes never freed"},
    {.name = "baseline-reserved", .what = "reserved", .quantity = "reserved bytes"},
};

const Rule& RuleNamed(std::string_view name) {
  return *std::ranges::find(kRules, name, &Rule::name);
}

void HoldGraph(const Rule& rule, GateMeasure measure, const GraphSummary& graph,
               GateVerdict& verdict) {
  if (rule.of_graph == nullptr) return;
  measure.subject = GraphText(graph);
  measure.value = Figure(graph.*rule.of_graph);
  HoldBudget(std::move(measure), rule.graph_what, verdict);
}

void HoldTrace(const Rule& rule, GateMeasure measure, const std::vector<GateSubject>& subjects,
               GateVerdict& verdict) {
  const GateSubject& subject = subjects[measure.trace];
  const uint32_t trace = measure.trace;
  if (rule.name == "max-leaks") {
    measure.value = CountLeaks(subjects, trace, verdict);
    HoldBudget(std::move(measure), "leaks", verdict);
    const GateMeasure& leaks = verdict.measures.back();
    if (leaks.value && !leaks.passed) FailLeaks(subjects, trace, verdict);
    return;
  }
  if (rule.of_trace == nullptr) return;
  measure.value = rule.of_trace(subject);
  if (rule.of_graph && (!subject.report.graphs.empty() || !measure.value)) return;
  const bool execs = rule.name == "max-exec-bytes";
  HoldBudget(std::move(measure), execs ? ExecsText(subject.report) : rule.what, verdict);
}

double Grown(Bytes base, double increase) {
  return std::floor(static_cast<double>(base) * (1 + increase));
}

// "; 2 MiB more at step.cu:22": the lines of a peak that grew, where both sides know them.
std::string MoreAt(std::span<const LineBytes> before, std::span<const LineBytes> after) {
  const std::vector<LineBytes> grown = GrownLines(before, after);
  return before.empty() || grown.empty() ? "" : "; new: " + LinesText(grown);
}

// `lines`: who has the graph's peak.
void CompareGraph(const GraphSummary& graph, std::span<const LineBytes> lines,
                  const BaselineGraph& base, uint32_t trace, double increase,
                  GateVerdict& verdict) {
  for (const Rule& rule : kRules) {
    if (rule.base == nullptr) continue;
    const bool peak = rule.base == &BaselineGraph::peak_live_bytes;
    Hold({.rule = std::string(rule.name),
          .trace = trace,
          .subject = GraphText(graph),
          .value = Figure(graph.*rule.of_graph),
          .limit = Grown(base.*rule.base, increase)},
         GateReason::Kind::kBaseline, verdict, [&](const GateMeasure& held) {
           return Grew(held, rule.graph_what, base.*rule.base, increase) +
                  (peak ? MoreAt(base.peak_lines, lines) : "");
         });
  }
}

// "step"; of one without a name "graph 1 (4 MiB live at the peak, most of it from step.cu:22)".
std::string BaselineGraphText(const BaselineTrace& base, size_t graph) {
  const BaselineGraph& of = base.graphs[graph];
  if (!of.name.empty()) return of.name;
  const std::string most =
      of.peak_lines.empty() ? "" : "; the most is " + LinesText(std::span(of.peak_lines).first(1));
  return "graph " + std::to_string(graph) + " (" + FormatBytes(of.peak_live_bytes) +
         " live at the peak" + most + ")";
}

// A graph that doesn't run isn't seen to go wrong. Of graphs that are alike any one may be the one
// that is launched: their number counts.
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
      if (!graph.unknown_memory.empty()) CompareGraph(graph, {}, {}, trace, increase, verdict);
      continue;
    }
    met[same] = true;
    const bool known = i < subject.peak_lines.size();
    CompareGraph(graph, known ? subject.peak_lines[i] : std::vector<LineBytes>(), base.graphs[same],
                 trace, increase, verdict);
  }
  for (size_t i = 0; i < met.size(); ++i) {
    if (met[i]) continue;
    verdict.reasons.push_back(
        {GateReason::Kind::kBaseline, trace,
         "baseline: " + BaselineGraphText(base, i) + " of the baseline wasn't captured"});
  }
  CompareLaunches(subject, trace, match, verdict);
  if (!base.peak_outside_graphs_bytes) return;
  Hold({.rule = "baseline-reserved",
        .trace = trace,
        .value = Figure(subject.peak_outside_graphs_bytes),
        .limit = Grown(*base.peak_outside_graphs_bytes, increase)},
       GateReason::Kind::kBaseline, verdict, [&](const GateMeasure& held) {
         return Grew(held, "reserved", *base.peak_outside_graphs_bytes, increase);
       });
}

std::string UnknownText(const GateMeasure& first, uint64_t more, const GateSubject& subject) {
  if (first.rule == "max-reserved-over-allocated") {
    return first.rule + ": no memory was recorded, so that the ratio isn't known";
  }
  if (first.rule == "min-coverage") {
    const std::string& why = subject.unknown_coverage;
    return first.rule + ": " + (why.empty() ? "no kernel was launched" : why);
  }
  std::string text = first.rule + ": ";
  if (!first.subject.empty()) text += first.subject;
  if (more > 0)
    text += " and " + FormatCount(more) + (more == 1 ? " other graph" : " other graphs");
  if (!first.subject.empty()) text += ": ";
  text += RuleNamed(first.rule).quantity + std::string(" can't be judged, they are unknown: ");
  if (first.rule == "max-exec-bytes") return text + "the file doesn't say what was instantiated";
  const std::string& because = subject.report.unknown_memory;
  return text + (because.empty() ? "no memory was recorded" : because);
}

}  // namespace

std::string FigureText(std::optional<double> figure, MeasureUnit unit) {
  if (!figure) return "unknown";
  const double value = *figure;
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
    verdict.reasons.push_back(
        {GateReason::Kind::kBlind, key.first,
         UnknownText(*measures.front(), measures.size() - 1, subjects[key.first])});
  }
}

void JudgeBudgets(const std::vector<GateSubject>& subjects, const GateConfig& config,
                  GateVerdict& verdict) {
  for (uint32_t trace = 0; trace < subjects.size(); ++trace) {
    const GateSubject& subject = subjects[trace];
    const auto hold_each = [&](auto hold) {
      for (const auto& [name, unit, description] : kGateLimits) {
        const auto limit = config.limits.find(name);
        if (limit == config.limits.end()) continue;
        hold(RuleNamed(name),
             GateMeasure{.rule = name, .trace = trace, .unit = unit, .limit = limit->second});
      }
    };
    for (const GraphSummary& graph : subject.report.graphs) {
      hold_each([&](const Rule& rule, GateMeasure measure) {
        HoldGraph(rule, std::move(measure), graph, verdict);
      });
    }
    hold_each([&](const Rule& rule, GateMeasure measure) {
      HoldTrace(rule, std::move(measure), subjects, verdict);
    });
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
