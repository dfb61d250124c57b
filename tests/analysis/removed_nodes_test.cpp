// A node that was added to a graph in the end and taken out again never ran: nothing that is found
// may change by it, whatever it would have done.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/launches/borrow.h"
#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/random.h"
#include "tests/analysis/launches/content_program.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

// The graph's nodes without the last one of the trace, if it is one that is there.
GraphId GraphToEdit(const Trace& trace, Random& random) {
  std::vector<GraphId> graphs;
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (trace.graphs[i].destroyed == kNever) graphs.emplace_back(i);
  }
  return graphs.empty() ? GraphId() : graphs[random.Below(graphs.size())];
}

Node SomeNode(Trace* trace, GraphId graph, Random& random) {
  constexpr NodeKind kKinds[] = {NodeKind::kKernel, NodeKind::kMemcpy, NodeKind::kMemset,
                                 NodeKind::kUnknown, NodeKind::kHost};
  Node node{.graph = graph, .kind = kKinds[random.Below(std::size(kKinds))]};
  if (!trace->kernels.empty() && node.kind == NodeKind::kKernel && random.Below(4) != 0)
    node.kernel = KernelId(random.Below(trace->kernels.size()));
  std::vector<Access> accesses;
  for (uint64_t i = random.Below(4); i > 0 && !trace->blocks.empty(); --i)
    accesses.push_back(ReadsWrites(BlockId(random.Below(trace->blocks.size()))));
  node.accesses = trace->accesses.Append(accesses);
  node.accesses_complete = random.Below(2) == 0;
  return node;
}

struct Compared {
  size_t traces = 0, launches = 0, findings = 0, ranges = 0;
};

void CompareEdited(const Ran& before, Random& random, Compared* compared) {
  Trace trace = AsRecorded(before);
  const GraphId graph = GraphToEdit(trace, random);
  if (!graph) return;
  Node node = SomeNode(&trace, graph, random);
  node.seq = trace.records++;
  node.destroyed = trace.records++;
  trace.nodes.push_back(node);
  const Ran after = Resolve(std::move(trace));
  const Facts facts(before), changed(after);
  const Report report = *Analyze(facts), other = *Analyze(changed);
  CHECK(report.findings == other.findings);
  CHECK(report.graphs == other.graphs);
  CHECK(FindCoverage(facts) == FindCoverage(changed));
  const std::vector<ContentRange> ranges = FindContent(facts, MarkerRule::kLastUse);
  CHECK(ranges == FindContent(changed, MarkerRule::kLastUse));
  CHECK(FindBorrow(facts, MarkerRule::kLastUse) == FindBorrow(changed, MarkerRule::kLastUse));
  ++compared->traces;
  compared->launches += before.launches.size();
  compared->findings += report.findings.size();
  compared->ranges += ranges.size();
}

TEST_CASE("a node that was taken out again changes nothing in graphs of every kind") {
  Compared compared;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    CompareEdited(RandomTrace(seed, {.max_steps = 40, .memory = true, .pools = true}), random,
                  &compared);
  }
  CHECK(compared.traces > 300);
  CHECK(compared.findings > 1000);
}

TEST_CASE("a node that was taken out again changes nothing in programs that launch graphs") {
  Compared compared;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    CompareEdited(ContentProgram(seed).trace(), random, &compared);
  }
  CHECK(compared.traces > 200);
  CHECK(compared.launches > 1000);
  CHECK(compared.ranges > 1000);
}

}  // namespace
}  // namespace graphkit
