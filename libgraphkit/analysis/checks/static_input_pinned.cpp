// static-input-pinned: memory that is kept for a graph that is never launched.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// True if the last of a graph's execs is still there, or went after everything else was launched.
bool KeptReady(const Trace& trace, GraphId graph) {
  const Seq last = trace.launches.back().seq;
  return std::ranges::any_of(
      trace.execs, [&](const Exec& exec) { return exec.graph == graph && exec.destroyed > last; });
}

// By block: whether a graph that is launched touches it.
std::vector<bool> Needed(const Facts& facts) {
  std::vector<bool> needed(facts.trace.blocks.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    const auto touches = facts.lives().Touches(BlockId(i));
    needed[i] = std::ranges::any_of(touches, [&](const Touch& touch) {
      return !facts.launches()[facts.RootOf(touch.node).index()].empty();
    });
  }
  return needed;
}

}  // namespace

std::vector<Finding> FindStaticInputsPinned(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.empty() || !KnowsWhatWasFreed(trace)) return {};
  const auto& launches = facts.launches();
  const Once<std::vector<bool>> made;
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const std::vector<GraphInput>& inputs = facts.inputs()[graph.index()];
    if (inputs.empty() || !launches[graph.index()].empty() || !KeptReady(trace, graph)) return;
    const std::vector<bool>& needed = made.Get([&] { return Needed(facts); });
    for (const GraphInput& input : inputs) {
      const Block& block = trace[input.block];
      if (needed[input.block.index()] || facts.lives()[input.block].root.valid()) continue;
      if (block.free_requested < trace.launches.back().seq) continue;
      AddBlock(trace, input.block, finding);
      finding->nodes.push_back(input.node);
      if (finding->evidence.size() >= kShownEvidence) continue;
      finding->evidence.push_back({.text = NameOf(trace, input.node) + " touches " +
                                           NameOf(trace, input.block) + ", and no other graph does",
                                   .nodes = {input.node},
                                   .blocks = {input.block},
                                   .stack = block.stack});
    }
    if (finding->blocks.empty()) return;
    finding->assumes = Assumption::kArguments;
    finding->message = BlocksText(*finding) + (finding->blocks.size() == 1 ? " is" : " are") +
                       " kept for " + NameOf(trace, graph) +
                       ", which is instantiated and never launched";
    finding->advice = "don't capture what is never launched, or let its graphs share their inputs";
  });
}

}  // namespace graphkit
