// graph-allocation-leak: memory that a graph allocates and that is never freed.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

struct Launched {
  uint64_t times = 0;
  bool frees_itself = false;  // every exec that was launched frees on launch
};

std::vector<Launched> CountLaunches(const Trace& trace) {
  std::vector<Launched> launched(trace.graphs.size());
  for (const Launch& launch : trace.launches) {
    if (launch.exec.index() >= trace.execs.size()) continue;
    const Exec& exec = trace[launch.exec];
    if (!exec.graph.valid()) continue;
    Launched& graph = launched[exec.graph.index()];
    const bool frees = (exec.flags & kInstantiateAutoFreeOnLaunch) != 0;
    graph.frees_itself = frees && (graph.times == 0 || graph.frees_itself);
    ++graph.times;
  }
  return launched;
}

std::string MessageFor(const Trace& trace, const Finding& finding, const Launched& launched) {
  std::string message =
      NameOf(trace, finding.graph) + " allocates " + BlocksText(finding) + ", never freed";
  if (launched.frees_itself) return message + " but by its next launch";
  if (launched.times == 0) return message + "; the graph can be launched only once";
  return message + "; relaunching this graph will fail";
}

}  // namespace

std::vector<Finding> FindGraphAllocationLeaks(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  const std::vector<Launched> launched = CountLaunches(trace);
  const std::vector<bool>& invalidated = facts.invalidated();
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    if (invalidated[graph.index()]) return;
    for (const BlockId id : facts.blocks()[graph.index()]) {
      const Block& block = trace[id];
      if (!block.alloc_node.valid() || block.free_node.valid() || block.freed()) continue;
      if (!InGraph(trace, trace[block.alloc_node])) continue;
      finding->blocks.push_back(id);
      finding->nodes.push_back(block.alloc_node);
      finding->bytes += block.size;
      finding->evidence.push_back(
          {.text = "allocated by " + NameOf(trace, block.alloc_node), .stack = block.stack});
    }
    if (finding->blocks.empty()) return;
    const Launched& runs = launched[graph.index()];
    finding->severity =
        runs.times > 0 && !runs.frees_itself ? Severity::kError : Severity::kWarning;
    finding->message = MessageFor(trace, *finding, runs);
    finding->advice =
        "free it in the graph (cudaFreeAsync while capturing, or a memory-free node), or with "
        "cudaFreeAsync after each launch";
  });
}

}  // namespace graphkit
