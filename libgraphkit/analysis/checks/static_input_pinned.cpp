// static-input-pinned: memory that is kept for a graph that is never launched.
#include <algorithm>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/launches.h"

namespace graphkit {
namespace {

constexpr size_t kShownInputs = 3;

// Whether the last of a graph's execs is still there, or went after everything else was launched.
bool KeptReady(const Trace& trace, GraphId graph) {
  const Seq last = trace.launches.back().seq;
  return std::any_of(trace.execs.begin(), trace.execs.end(), [&](const Exec& exec) {
    return exec.graph == graph && exec.destroyed > last;
  });
}

// By block: whether a graph that is launched touches it.
std::vector<bool> Needed(const Facts& facts, const std::vector<std::vector<uint32_t>>& launches) {
  std::vector<bool> needed(facts.trace.blocks.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    const auto touches = facts.lives.Touches(BlockId(i));
    needed[i] = std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
      return !launches[facts.roots[facts.trace[touch.node].graph.index()].index()].empty();
    });
  }
  return needed;
}

}  // namespace

std::vector<Finding> FindStaticInputsPinned(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.empty() || !KnowsWhatWasFreed(trace)) return {};
  const auto launches = LaunchesByGraph(trace);
  const auto& inputs = facts.inputs;
  std::vector<bool> needed;
  std::vector<Finding> findings;
  for (size_t graph = 0; graph < inputs.size(); ++graph) {
    if (inputs[graph].empty() || !launches[graph].empty()) continue;
    if (!KeptReady(trace, GraphId(graph))) continue;
    if (needed.empty()) needed = Needed(facts, launches);
    Finding finding;
    for (const GraphInput& input : inputs[graph]) {
      const Block& block = trace[input.block];
      if (needed[input.block.index()] || facts.lives[input.block].root.valid()) continue;
      if (block.free_requested < trace.launches.back().seq) continue;
      finding.blocks.push_back(input.block);
      finding.nodes.push_back(input.node);
      finding.bytes += RoundedSize(block);
      if (finding.evidence.size() >= kShownInputs) continue;
      finding.evidence.push_back({.text = NameOf(trace, input.node) + " touches " +
                                          NameOf(trace, input.block) + ", and no other graph does",
                                  .nodes = {input.node},
                                  .blocks = {input.block},
                                  .stack = block.stack});
    }
    if (finding.blocks.empty()) continue;
    finding.graph = GraphId(graph);
    finding.assumes = Assumption::kArguments;
    finding.message = ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) + ")" +
                      (finding.blocks.size() == 1 ? " is" : " are") + " kept for " +
                      NameOf(trace, finding.graph) + ", which is instantiated and never launched";
    finding.advice = "don't capture what is never launched, or let its graphs share their inputs";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
