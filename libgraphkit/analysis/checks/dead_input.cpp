// dead-input: launches of graphs whose inputs were freed.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/launches.h"

namespace graphkit {

std::vector<Finding> FindDeadInputs(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.empty()) return {};
  const auto& inputs = facts.inputs;
  RunGraphs run(trace);
  std::vector<Seq> last_launch(trace.graphs.size());
  std::vector<bool> launched(trace.graphs.size());
  for (const Launch& launch : trace.launches) {
    const GraphId graph = run.Of(launch);
    if (!graph.valid()) continue;
    last_launch[graph.index()] = launch.seq;
    launched[graph.index()] = true;
  }
  const NodeChanges changes(trace);
  std::vector<Finding> findings;
  for (size_t graph = 0; graph < inputs.size(); ++graph) {
    Finding finding;
    bool known = false;
    for (const GraphInput& input : inputs[graph]) {
      const Block& block = trace[input.block];
      if (!launched[graph] || block.free_requested >= last_launch[graph]) continue;
      if (StillThere(trace, input.block, last_launch[graph])) continue;
      if (!StillTouches(facts, changes, GraphId(graph), input.block, last_launch[graph])) continue;
      // static-address-changed names those.
      if (ReplacedBy(facts, input.block, last_launch[graph]).valid()) continue;
      known = known || trace.accesses[input.access].mode != AccessMode::kUnknown;
      finding.blocks.push_back(input.block);
      finding.nodes.push_back(input.node);
      finding.bytes += RoundedSize(block);
      if (finding.evidence.size() >= 3) continue;
      finding.evidence.push_back({.text = NameOf(trace, input.block) + " was freed " +
                                          PlaceOf(trace, block.free_requested) + ", and " +
                                          NameOf(trace, input.node) + " touches it",
                                  .nodes = {input.node},
                                  .blocks = {input.block},
                                  .stack = block.free_stack});
    }
    if (finding.blocks.empty()) continue;
    finding.graph = GraphId(graph);
    finding.severity = known ? Severity::kError : Severity::kWarning;
    finding.assumes = Assumption::kArguments;
    finding.message = NameOf(trace, finding.graph) +
                      " was launched after memory that it touches was "
                      "freed: " +
                      ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) + ")";
    finding.advice = "keep the memory of a graph's inputs as long as the graph is launched";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
