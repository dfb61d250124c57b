// stale-host-memory: launches of graphs with copies of memory of the host that was given up before:
// page-locked memory that was freed, and stacks of functions that had returned.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/freed_inputs.h"

namespace graphkit {
namespace {

// How far the stack of the launching thread reached, where that is recorded.
const StackTop* TopAt(const Trace& trace, uint32_t launch) {
  const Seq seq = trace.launches[launch].seq;
  const auto after = std::ranges::lower_bound(trace.stack_tops, seq, {}, &StackTop::seq);
  if (after == trace.stack_tops.begin()) return nullptr;
  const StackTop& top = *std::prev(after);
  const bool own = launch == 0 || trace.launches[launch - 1].seq < top.seq;
  return own ? &top : nullptr;
}

// The copies of a thread's stack that a launch makes although that was given up; none: no message.
Finding JudgeLaunch(const Trace& trace, GraphId graph, const StackTop& top,
                    const std::vector<const HostCopy*>& copies) {
  Finding finding{.severity = Severity::kError, .graph = graph};
  for (const HostCopy* copy : copies) {
    if (trace[copy->node].thread != top.thread || copy->end.address >= top.address) continue;
    if (copy->end.length != kLengthUnknown) finding.bytes += copy->end.length;
    finding.nodes.push_back(copy->node);
    if (finding.evidence.size() < kShownEvidence)
      finding.evidence.push_back(CopyEvidence(trace, *copy));
  }
  if (finding.nodes.empty()) return finding;
  finding.message = NameOf(trace, graph) +
                    " was launched after the function had returned whose stack it copies: " +
                    FormatBytes(finding.bytes) + " in " + Count(finding.nodes.size(), "node") +
                    " of " + NameOf(trace, top.thread);
  finding.advice =
      "copy memory that lives as long as the graph (cudaMallocHost), or pass small values as "
      "kernel arguments";
  return finding;
}

// Stacks grow down: memory below the top had been given up. By graph, the first such launch.
std::vector<Finding> FindReturned(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::map<GraphId, Finding> found;
  if (trace.stack_tops.empty()) return {};
  std::map<GraphId, std::vector<const HostCopy*>> by_graph;
  for (const HostCopy& copy : facts.host_copies()) {
    if (copy.always && copy.end.kind == HostMemoryKind::kStack)
      by_graph[facts.RootOf(copy.node)].push_back(&copy);
  }
  for (uint32_t i = 0; i < trace.launches.size(); ++i) {
    const GraphId graph = facts.ran()[i];
    const auto copies = by_graph.find(graph);
    const StackTop* top = copies != by_graph.end() ? TopAt(trace, i) : nullptr;
    if (top == nullptr || found.contains(graph)) continue;
    Finding finding = JudgeLaunch(trace, graph, *top, copies->second);
    if (!finding.message.empty()) found.emplace(graph, std::move(finding));
  }
  return TakeValues(&found);
}

}  // namespace

std::vector<Finding> FindStaleHostMemory(const Facts& facts) {
  std::vector<Finding> findings = FindFreedInputs(
      facts, {.host = true,
              .of = "page-locked memory",
              .advice = "keep the memory, and its registration, as long as the graph is launched"});
  for (Finding& finding : FindReturned(facts)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace graphkit
