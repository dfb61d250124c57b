#include "libgraphkit/model/trace.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/units.h"

namespace graphkit {

namespace {

std::string GraphText(const Trace& trace, GraphId graph) {
  if (!graph) return "a graph";
  const std::string_view name = trace[trace[graph].name];
  const std::string text = "graph " + std::to_string(graph.value);
  return name.empty() ? text : text + " '" + std::string(name) + "'";
}

// Of rows by seq.
template <typename Row>
std::span<const Row> RowsAt(const std::vector<Row>& all, Seq seq) {
  const auto begin = std::ranges::lower_bound(all, seq, {}, &Row::seq);
  const auto end = std::ranges::upper_bound(begin, all.end(), seq, {}, &Row::seq);
  return {begin, end};
}

}  // namespace

std::span<const Collective> CollectivesAt(const Trace& trace, Seq seq) {
  return RowsAt(trace.collectives, seq);
}

std::span<const HostEnd> HostEndsAt(const Trace& trace, Seq seq) {
  return RowsAt(trace.host_ends, seq);
}

std::span<const NodeLabel> LabelsAt(const Trace& trace, Seq seq) {
  return RowsAt(trace.node_labels, seq);
}

std::vector<std::string> IncompleteBecause(const Trace& trace) {
  const Completeness& completeness = trace.completeness;
  std::vector<std::string> because;
  if (completeness.truncated && !completeness.stopped)
    because.emplace_back("it ends early (the program was killed, or the file was cut)");
  if (completeness.dropped_records > 0)
    because.push_back("the tracer dropped " + FormatCount(completeness.dropped_records) +
                      " records");
  because.insert(because.end(), completeness.notes.begin(), completeness.notes.end());
  because.insert(because.end(), completeness.unapplied.begin(), completeness.unapplied.end());
  if (completeness.truncated) return because;  // what was cut off may have ended it
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kOpen) continue;
    because.push_back("the capture of " + GraphText(trace, capture.graph) +
                      " never ended: the graph isn't whole");
  }
  return because;
}

bool IsComplete(const Trace& trace) { return IncompleteBecause(trace).empty(); }

const char* NodeKindName(NodeKind kind) { return NameOf(kind).data(); }

bool ComesFirst(const Finding& a, const Finding& b) {
  return std::tie(a.severity, a.harm, a.bytes) > std::tie(b.severity, b.harm, b.bytes);
}

const char* SeverityName(Severity severity) { return NameOf(severity).data(); }

const char* AssumptionName(Assumption assumption) { return NameOf(assumption).data(); }

}  // namespace graphkit
