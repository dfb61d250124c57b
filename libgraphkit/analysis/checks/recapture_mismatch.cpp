// recapture-mismatch: captures over the nodes of a graph that failed, and graphs that were used
// after that.
#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// The first use of a graph after a place, in words; empty: there is none.
std::string UseAfter(const Trace& trace, GraphId graph, Seq seq) {
  const auto after = [&](GraphId of, Seq at) { return of == graph && at > seq; };
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    const Exec& exec = trace.execs[i];
    if (after(exec.graph, exec.created))
      return "exec " + std::to_string(i) + " was instantiated from it";
  }
  for (const ExecUpdate& update : trace.exec_updates) {
    if (after(update.graph, update.seq))
      return "exec " + std::to_string(update.exec.value) + " was updated from it";
  }
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (after(trace.graphs[i].original, trace.graphs[i].created))
      return NameOf(trace, GraphId(i)) + " was made of it";
  }
  return {};
}

}  // namespace

std::vector<Finding> FindRecaptureMismatches(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Finding> findings;
  for (const Capture& capture : trace.captures) {
    if (!capture.recapture || capture.status != CaptureStatus::kInvalidated) continue;
    Finding finding{.graph = capture.graph};
    if (capture.origin.valid()) finding.streams = {capture.origin};
    finding.message = NameOf(trace, capture.graph) +
                      " was captured again over its own nodes, and what was captured differs";
    const CaptureBreak broken = BreakOf(trace, capture);
    if (broken.failure != nullptr) {
      finding.evidence.push_back(
          {.text = CalledText(facts, *broken.failure), .stack = broken.failure->stack});
    }
    finding.severity = Severity::kWarning;
    finding.advice =
        "capture the same calls in the same order, with the same allocations; where other "
        "parameters are meant, have the callback of cuStreamBeginRecaptureToGraph return "
        "CUDA_SUCCESS; destroy the graph";
    if (const std::string use = UseAfter(trace, capture.graph, capture.end); !use.empty()) {
      finding.severity = Severity::kError;
      finding.message += "; the graph is undefined since then, and " + use;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
