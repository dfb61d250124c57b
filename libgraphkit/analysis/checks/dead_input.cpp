// dead-input: launches of graphs whose inputs were freed.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/freed_inputs.h"

namespace graphkit {

namespace {

// True if a node of the graph surely reaches a block: a copy or a memset, not a kernel that was
// given its address.
bool Copies(const Facts& facts, GraphId graph, BlockId block) {
  const Trace& trace = facts.trace;
  return std::ranges::any_of(facts.lives().Touches(block), [&](const Touch& touch) {
    const Node& node = trace[touch.node];
    return facts.roots()[node.graph.index()] == graph && node.kind != NodeKind::kKernel;
  });
}

}  // namespace

std::vector<Finding> FindFreedInputs(const Facts& facts, const FreedInputs& which) {
  const Trace& trace = facts.trace;
  const std::vector<std::vector<StaleInput>>& stale = facts.stale_inputs();
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    bool known = false;
    for (const auto& [input, now] : stale[graph.index()]) {
      if (now.valid() || IsHostMemory(trace, input.block) != which.host) continue;
      known = known || (which.host ? Copies(facts, graph, input.block) : KnownUse(trace, input));
      AddBlock(trace, input.block, finding);
      finding->nodes.push_back(input.node);
      if (finding->evidence.size() >= kShownEvidence) continue;
      const Block& block = trace[input.block];
      const bool registered = which.host && IsRegistered(trace, block);
      finding->evidence.push_back({.text = NameOf(trace, input.block) +
                                           (registered ? " was unregistered " : " was freed ") +
                                           facts.places().Of(block.free_requested) + ", and " +
                                           NameOf(trace, input.node) + " touches it",
                                   .nodes = {input.node},
                                   .blocks = {input.block},
                                   .stack = block.free_stack});
    }
    if (finding->blocks.empty()) return;
    finding->severity = known ? Severity::kError : Severity::kWarning;
    finding->assumes = Assumption::kArguments;
    finding->message = NameOf(trace, graph) + " was launched after " + which.of +
                       " that it touches was freed: " + BlocksText(*finding);
    finding->advice = which.advice;
  });
}

// static-address-changed names inputs that are another block's by now, stale-host-memory the
// host's.
std::vector<Finding> FindDeadInputs(const Facts& facts) {
  return FindFreedInputs(
      facts, {.of = "memory",
              .advice = "keep the memory of a graph's inputs as long as the graph is launched"});
}

}  // namespace graphkit
