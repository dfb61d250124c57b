// static-address-changed: an input that the program has made anew elsewhere, while the graph goes
// on with the old address.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/launches.h"

namespace graphkit {
namespace {

void Add(const Facts& facts, const GraphInput& input, BlockId now, Finding* finding) {
  const Trace& trace = facts.trace;
  finding->blocks.push_back(input.block);
  finding->nodes.push_back(input.node);
  finding->bytes += RoundedSize(trace[input.block]);
  if (finding->evidence.size() >= 3) return;
  finding->evidence.push_back(
      {.text = NameOf(trace, input.node) + " touches " + NameOf(trace, input.block) +
               ", which was freed " + PlaceOf(trace, trace[input.block].free_requested) + "; " +
               NameOf(trace, now) + " was made in its place, at another address",
       .nodes = {input.node},
       .blocks = {input.block, now},
       .stack = trace[now].stack});
}

}  // namespace

std::vector<Finding> FindStaticAddressesChanged(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.empty()) return {};
  const auto launches = LaunchesByGraph(trace);
  const auto& inputs = facts.inputs;
  const NodeChanges changes(trace);
  std::vector<Finding> findings;
  for (size_t graph = 0; graph < inputs.size(); ++graph) {
    if (launches[graph].empty()) continue;
    const Seq last = trace.launches[launches[graph].back()].seq;
    Finding finding;
    for (const GraphInput& input : inputs[graph]) {
      if (trace[input.block].free_requested >= last || StillThere(trace, input.block, last)) {
        continue;
      }
      if (!StillTouches(facts, changes, GraphId(graph), input.block, last)) continue;
      const BlockId now = ReplacedBy(facts, input.block, last);
      if (now.valid()) Add(facts, input, now, &finding);
    }
    if (finding.blocks.empty()) continue;
    finding.graph = GraphId(graph);
    finding.assumes = Assumption::kArguments;
    finding.message = NameOf(trace, finding.graph) + " was launched with the old address of " +
                      ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) +
                      "), which the program has freed and made anew elsewhere";
    finding.advice =
        "copy new data into the memory that was captured, or capture the graph (or set the "
        "node's parameters) again";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
