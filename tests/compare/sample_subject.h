// A trace before the gate, as small as can be: one graph of two nodes, and nothing wrong with it.
// And what the gate says of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/compare/baseline.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/model/gate.h"

namespace graphkit {

inline GateSubject CleanSubject(std::string trace = "trace.json") {
  GraphSummary graph;
  graph.graph = GraphId(0u);
  graph.name = "step";
  graph.nodes = 2;
  graph.peak_live_bytes = 4 << 20;
  GateSubject subject;
  subject.trace = std::move(trace);
  subject.report.device = DeviceKind::kSoft;
  subject.report.graphs = {graph};
  return subject;
}

inline void AddFinding(GateSubject& subject, std::string check, Severity severity, Bytes bytes = 0,
                       std::vector<PlaceFrame> frames = {}) {
  Finding finding;
  finding.check = std::move(check);
  finding.severity = severity;
  finding.message = "something is wrong";
  finding.bytes = bytes;
  finding.graph = GraphId(0u);
  finding.logical = "graph 0 step";
  if (!frames.empty()) finding.places = {{.line = frames.front(), .frames = std::move(frames)}};
  subject.report.findings.push_back(std::move(finding));
}

inline constexpr Bytes kMiB = Bytes{1} << 20;

using Texts = std::vector<std::string>;

inline Texts ReasonsOf(const GateVerdict& verdict) {
  Texts texts;
  for (const GateReason& reason : verdict.reasons) texts.push_back(reason.text);
  return texts;
}

inline std::vector<FindingStatus> StatusesOf(const GateVerdict& verdict) {
  std::vector<FindingStatus> statuses;
  for (const JudgedFinding& judged : verdict.findings) statuses.push_back(judged.status);
  return statuses;
}

inline GateVerdict Judge(const GateSubject& subject, const GateConfig& config = {},
                         const std::optional<Baseline>& baseline = {}) {
  return JudgeGate({subject}, config, baseline);
}

inline GateSubject WithDeferred(Bytes bytes) {
  GateSubject subject = CleanSubject();
  subject.report.graphs[0].deferred_bytes = bytes;
  return subject;
}

inline Baseline BaselineOf(const GateSubject& subject) {
  return MakeBaseline({subject}, Judge(subject));
}

}  // namespace graphkit
