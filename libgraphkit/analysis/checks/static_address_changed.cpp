// static-address-changed: an input that the program has made anew elsewhere, while the graph goes
// on with the old address.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

std::vector<Finding> FindStaticAddressesChanged(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<std::vector<StaleInput>>& stale = facts.stale_inputs();
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    for (const auto& [input, now] : stale[graph.index()]) {
      if (!now.valid()) continue;
      AddBlock(trace, input.block, finding);
      finding->nodes.push_back(input.node);
      if (finding->evidence.size() >= kShownEvidence) continue;
      finding->evidence.push_back(
          {.text = NameOf(trace, input.node) + " touches " + NameOf(trace, input.block) +
                   ", which was freed " + facts.places().Of(trace[input.block].free_requested) +
                   "; " + NameOf(trace, now) + " was made in its place, at another address",
           .nodes = {input.node},
           .blocks = {input.block, now},
           .stack = trace[now].stack});
    }
    if (finding->blocks.empty()) return;
    finding->assumes = Assumption::kArguments;
    finding->message = NameOf(trace, graph) + " was launched with the old address of " +
                       BlocksText(*finding) +
                       ", which the program has freed and made anew elsewhere";
    finding->advice =
        "copy new data into the memory that was captured, or capture the graph (or set the "
        "node's parameters) again";
  });
}

}  // namespace graphkit
