#include <algorithm>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/compare/graph_view.h"

namespace graphkit {

namespace {

constexpr uint32_t kFramesKept = 32;

std::vector<PlaceFrame> FramesOf(const Trace& trace, StackId stack) {
  std::vector<PlaceFrame> frames;
  if (!stack) return frames;
  const Slice slice = trace.stacks[stack.index()].frames;
  bool inside = true;
  for (uint32_t i = 0; i < slice.count && frames.size() < kFramesKept; ++i) {
    const StackFrame& frame = trace.stack_frames[slice.first + i];
    const std::string_view function = trace[frame.function], file = trace[frame.file];
    inside = inside && i + 1 < slice.count && IsCudaFrame(function, file);
    if (inside) continue;
    frames.push_back({std::string(function), std::string(file), frame.line});
  }
  return frames;
}

// The first stack that the finding or what it names has.
StackId StackOf(const Finding& finding, const Trace& trace) {
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.stack) return evidence.stack;
  }
  for (const BlockId block : finding.blocks) {
    if (trace[block].stack) return trace[block].stack;
  }
  for (const NodeId node : finding.nodes) {
    if (trace[node].stack) return trace[node].stack;
  }
  return {};
}

std::string LogicalName(const Finding& finding, const Trace& trace) {
  std::string name = "trace";
  if (finding.graph) {
    name = "graph " + std::to_string(finding.graph.value);
    const std::string_view text = trace[trace[finding.graph].name];
    if (!text.empty()) name += " " + std::string(text);
  }
  if (!finding.nodes.empty()) return name + "/node " + std::to_string(finding.nodes[0].value);
  if (!finding.blocks.empty()) return name + "/block " + std::to_string(finding.blocks[0].value);
  if (!finding.streams.empty()) return name + "/stream " + std::to_string(finding.streams[0].value);
  return name;
}

// Of each finding: how many things leaked.
std::vector<uint64_t> LeaksOf(const std::vector<Finding>& findings, const Trace& trace) {
  std::vector<uint64_t> execs(trace.graphs.size());
  for (const Exec& exec : trace.execs) {
    if (exec.graph.valid() && exec.destroyed == kNever) ++execs[exec.graph.index()];
  }
  std::vector<uint64_t> leaks;
  for (const Finding& finding : findings) {
    const bool of_execs = finding.check == "exec-leak" && finding.graph.index() < execs.size();
    const uint64_t things = of_execs ? execs[finding.graph.index()] : finding.blocks.size();
    leaks.push_back(IsLeakCheck(finding.check) ? std::max<uint64_t>(1, things) : 0);
  }
  return leaks;
}

}  // namespace

FindingPlace PlaceOf(const Finding& finding, const Trace& trace) {
  return {.frames = FramesOf(trace, StackOf(finding, trace)),
          .logical = LogicalName(finding, trace)};
}

GateSubject MakeGateSubject(std::string trace_file, const Facts& facts, Report report) {
  const Trace& trace = facts.trace;
  GateSubject subject;
  subject.trace = std::move(trace_file);
  for (const Finding& finding : report.findings) subject.places.push_back(PlaceOf(finding, trace));
  subject.leaks = LeaksOf(report.findings, trace);
  if (!report.graphs.empty()) {
    const std::vector<GraphView> views = ViewGraphs(trace);
    for (const GraphSummary& graph : report.graphs) {
      subject.contents.push_back(ContentOf(views[graph.graph.index()]));
    }
  }
  subject.report = std::move(report);
  subject.collectives = facts.collectives();
  if (trace.process.unknown_memory.empty()) {
    const MemoryMoments& moments = facts.timeline().all();
    subject.peak_reserved_bytes = moments.peak_reserved.reserved;
    subject.peak_outside_graphs_bytes = moments.peak_outside_graphs;
    subject.peak_allocated_bytes = moments.peak_allocated.allocated;
    subject.idle_bytes = moments.end.idle();
    if (moments.peak_in_use.in_use > 0) subject.peak_in_use_bytes = moments.peak_in_use.in_use;
  }
  const Coverage coverage = FindCoverage(facts);
  if (coverage.unknown.empty()) subject.coverage = coverage.share.kernels();
  subject.unknown_coverage = coverage.unknown;
  return subject;
}

void AddRankDifferences(std::vector<GateSubject>& subjects) {
  if (subjects.size() < 2) return;
  std::vector<RankTrace> traces;
  for (const GateSubject& subject : subjects) {
    traces.push_back({subject.trace, &subject.collectives, subject.report.complete});
  }
  for (RankDifference& found : CompareCollectives(traces)) {
    GateSubject& subject = subjects[found.trace];
    FindingPlace place{.logical = "trace"};
    if (found.place != PlaceFrame()) place.frames = {found.place};
    if (found.finding.graph) {
      place.logical = "graph " + std::to_string(found.finding.graph.value);
    }
    ++subject.report.totals.findings[static_cast<size_t>(found.finding.severity)];
    std::vector<Finding>& findings = subject.report.findings;
    const auto at = std::ranges::upper_bound(findings, found.finding, ComesFirst);
    const auto index = at - findings.begin();
    findings.insert(at, std::move(found.finding));
    subject.places.insert(subject.places.begin() + index, std::move(place));
    subject.leaks.insert(subject.leaks.begin() + index, 0);
  }
}

}  // namespace graphkit
