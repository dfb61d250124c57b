// unjoined-stream: forked streams that never joined their capture.
#include "libgraphkit/analysis/checks/capture_rules.h"
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindUnjoinedStreams(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<bool> followed(trace.nodes.size());
  for (const InEdge& edge : facts.in_edges().edges) followed[edge.from.index()] = true;
  std::vector<Finding> findings;
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kInvalidated || !capture.graph.valid()) continue;
    const Failure* cause = BreakOf(trace, capture).failure;
    const bool told = cause != nullptr && cause->error == kErrorUnjoined;
    if (!told && capture.error != kErrorUnjoined) continue;
    Finding finding;
    finding.graph = capture.graph;
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      const Node& node = trace.nodes[i];
      if (node.graph != capture.graph || followed[i] || node.stream == capture.origin) continue;
      finding.nodes.emplace_back(i);
      if (node.stream.valid()) finding.streams.push_back(node.stream);
      finding.evidence.push_back(
          {.text = CapturedOn(trace, NodeId(i)) + ", and nothing waits for it",
           .nodes = {NodeId(i)},
           .stack = node.stack});
    }
    finding.message =
        (finding.streams.empty() ? "a forked stream" : ListOf(trace, finding.streams)) +
        " never joined " + NameOf(trace, capture.origin) + " before the capture of " +
        NameOf(trace, capture.graph) + " ended, which failed (904, cudaErrorStreamCaptureUnjoined)";
    finding.advice = "record an event on the forked stream after its last work, and let " +
                     NameOf(trace, capture.origin) + " wait for it before cudaStreamEndCapture";
    AddStuckMemory(facts, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
