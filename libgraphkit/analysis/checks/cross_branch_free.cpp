// cross-branch-free: memory freed in a body of a conditional that isn't the one it came from.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/order/frontier.h"

namespace graphkit {
namespace {

// The conditional between a graph and the innermost one around it that holds `other`, too.
NodeId ConditionalApart(const Trace& trace, GraphId graph, GraphId other) {
  NodeId apart;
  for (GraphId at = graph; !IsWithin(trace, other, at);) {
    const NodeId parent = trace[at].parent;
    if (!parent.valid()) return {};
    if (trace[parent].kind == NodeKind::kConditional) apart = parent;
    at = trace[parent].graph;
  }
  return apart;
}

// The graph that was being made where the block was freed.
GraphId FreedIn(const Trace& trace, const Block& block, FrontierReplay* replay) {
  if (block.free_node.valid()) return trace[block.free_node].graph;
  replay->AdvanceTo(block.free_requested);
  return replay->Of(block.free_stream.valid() ? block.free_stream : block.stream).graph;
}

void Describe(const Trace& trace, GraphId from, GraphId freed_in, Finding* finding) {
  const NodeId apart = ConditionalApart(trace, freed_in, from);
  const bool both = ConditionalApart(trace, from, freed_in).valid();
  finding->graph = freed_in;
  finding->severity = both ? Severity::kError : Severity::kWarning;
  finding->nodes = {apart};
  finding->message = BlocksText(*finding) + " of " + NameOf(trace, from) +
                     (finding->blocks.size() == 1 ? " is" : " are") + " freed in " +
                     NameOf(trace, freed_in) + ", which runs only if " + NameOf(trace, apart) +
                     " says so";
  finding->advice = "free memory in the graph where it was allocated, or in one that holds it";
  finding->evidence.push_back({.text = CapturedOn(trace, apart),
                               .nodes = {apart},
                               .blocks = finding->blocks,
                               .stack = trace[finding->blocks.front()].free_stack});
}

}  // namespace

std::vector<Finding> FindCrossBranchFrees(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (std::ranges::find(trace.graphs, GraphOrigin::kBody, &Graph::origin) == trace.graphs.end()) {
    return {};
  }
  FrontierReplay replay(trace, WholeTrace(trace));
  std::map<std::pair<GraphId, GraphId>, Finding> by_graphs;
  for (const uint32_t freed : BlocksBySeq(trace, &Block::free_requested)) {
    const BlockId id(freed);
    if (!facts.lives()[id].root.valid()) continue;
    const GraphId from = facts.lives()[id].alloc.graph;
    const GraphId freed_in = FreedIn(trace, trace[id], &replay);
    if (!freed_in.valid() || facts.roots()[freed_in.index()] != facts.lives()[id].root) continue;
    if (!ConditionalApart(trace, freed_in, from).valid()) continue;
    Finding& finding = by_graphs[{from, freed_in}];
    AddBlock(trace, id, &finding);
  }
  for (auto& [graphs, finding] : by_graphs) {
    Describe(trace, graphs.first, graphs.second, &finding);
  }
  return TakeValues(&by_graphs);
}

}  // namespace graphkit
