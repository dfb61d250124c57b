// cross-branch-free: memory freed in a body of a conditional that isn't the one it came from.
#include <algorithm>
#include <map>
#include <utility>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/frontier.h"

namespace graphkit {
namespace {

// A graph is within itself.
bool Within(const Trace& trace, GraphId graph, GraphId outer) {
  while (graph != outer) {
    const NodeId parent = trace[graph].parent;
    if (!parent.valid()) return false;
    graph = trace[parent].graph;
  }
  return true;
}

// The conditional between a graph and the innermost one around it that holds `other`, too.
NodeId ConditionalApart(const Trace& trace, GraphId graph, GraphId other) {
  NodeId apart;
  for (GraphId at = graph; !Within(trace, other, at);) {
    const NodeId parent = trace[at].parent;
    if (!parent.valid()) return {};
    if (trace[parent].kind == NodeKind::kConditional) apart = parent;
    at = trace[parent].graph;
  }
  return apart;
}

std::vector<BlockId> FreedInOrder(const Facts& facts) {
  std::vector<BlockId> freed;
  for (size_t i = 0; i < facts.lives.blocks.size(); ++i) {
    const BlockId id(i);
    if (facts.lives[id].root.valid() && facts.trace[id].freed()) freed.push_back(id);
  }
  std::sort(freed.begin(), freed.end(), [&](BlockId a, BlockId b) {
    return facts.trace[a].free_requested < facts.trace[b].free_requested;
  });
  return freed;
}

// The graph that was being made where the block was freed.
GraphId FreedIn(const Trace& trace, const Block& block, FrontierReplay* replay) {
  if (block.free_node.valid()) return trace[block.free_node].graph;
  replay->AdvanceTo(block.free_requested);
  return replay->OfAny(block.free_stream.valid() ? block.free_stream : block.stream).graph;
}

void Describe(const Trace& trace, GraphId from, GraphId freed_in, Finding* finding) {
  const NodeId apart = ConditionalApart(trace, freed_in, from);
  const bool both = ConditionalApart(trace, from, freed_in).valid();
  finding->graph = freed_in;
  finding->severity = both ? Severity::kError : Severity::kWarning;
  finding->nodes = {apart};
  finding->message = ListOf(finding->blocks) + " (" + FormatBytes(finding->bytes) + ") of " +
                     NameOf(trace, from) + (finding->blocks.size() == 1 ? " is" : " are") +
                     " freed in " + NameOf(trace, freed_in) + ", which runs only if " +
                     NameOf(trace, apart) + " says so";
  finding->advice = "free memory in the graph where it was allocated, or in one that holds it";
  finding->evidence.push_back({.text = CapturedOn(trace, apart),
                               .nodes = {apart},
                               .blocks = finding->blocks,
                               .stack = trace[finding->blocks.front()].free_stack});
}

}  // namespace

std::vector<Finding> FindCrossBranchFrees(const Facts& facts) {
  const Trace& trace = facts.trace;
  const bool nested = std::any_of(trace.graphs.begin(), trace.graphs.end(), [](const Graph& graph) {
    return graph.origin == GraphOrigin::kBody;
  });
  if (!nested) return {};
  FrontierReplay replay(trace);
  std::map<std::pair<GraphId, GraphId>, Finding> by_graphs;
  for (const BlockId id : FreedInOrder(facts)) {
    const GraphId from = facts.lives[id].alloc.graph;
    const GraphId freed_in = FreedIn(trace, trace[id], &replay);
    if (!freed_in.valid() || facts.roots[freed_in.index()] != facts.lives[id].root) continue;
    if (!ConditionalApart(trace, freed_in, from).valid()) continue;
    Finding& finding = by_graphs[{from, freed_in}];
    finding.blocks.push_back(id);
    finding.bytes += RoundedSize(trace[id]);
  }
  std::vector<Finding> findings;
  for (auto& [graphs, finding] : by_graphs) {
    Describe(trace, graphs.first, graphs.second, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
