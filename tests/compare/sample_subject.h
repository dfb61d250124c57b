// A trace before the gate, as small as can be: one graph of two nodes, and nothing wrong with it.
#pragma once

#include <string>
#include <utility>

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
  subject.report.findings.push_back(std::move(finding));
  subject.places.push_back({.frames = std::move(frames), .logical = "graph 0 step"});
}

}  // namespace graphkit
