// dead-input, replay-order: graphs and the memory that
// they don't own.
#include "libgraphkit/analysis/checks/launch_rules.h"

#include <algorithm>
#include <map>
#include <utility>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

constexpr size_t kMostPairs = 1000;  // of graphs that share a pool

// Of a launch, the graph that it ran: the exec's own, or that of its last update.
class RunGraphs {
 public:
  explicit RunGraphs(const Trace& trace) : trace_(trace), graphs_(trace.execs.size()) {
    for (size_t i = 0; i < graphs_.size(); ++i) graphs_[i] = trace.execs[i].graph;
  }
  // Launches have to be asked for in their order.
  GraphId Of(const Launch& launch) {
    for (; next_ < trace_.exec_updates.size() && trace_.exec_updates[next_].seq < launch.seq;
         ++next_) {
      const ExecUpdate& update = trace_.exec_updates[next_];
      if (update.result == 0 && update.exec.index() < graphs_.size()) {
        graphs_[update.exec.index()] = update.graph;
      }
    }
    return launch.exec.index() < graphs_.size() ? graphs_[launch.exec.index()] : GraphId();
  }

 private:
  const Trace& trace_;
  std::vector<GraphId> graphs_;
  size_t next_ = 0;
};

// A block that a graph touches and doesn't own, and a node that does.
struct Input {
  BlockId block;
  uint32_t access = 0;
  NodeId node;
};

// By root graph, each block once, in the order of the nodes.
std::vector<std::vector<Input>> FindInputs(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<std::vector<Input>> inputs(trace.graphs.size());
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    GraphId last;
    for (const Touch& touch : facts.lives.Touches(BlockId(i))) {
      const GraphId root = facts.roots[trace[touch.node].graph.index()];
      if (root == facts.lives.blocks[i].root || root == last) continue;
      last = root;
      auto& of_graph = inputs[root.index()];
      if (!of_graph.empty() && of_graph.back().block == BlockId(i)) continue;
      of_graph.push_back({BlockId(i), touch.access, touch.node});
    }
  }
  return inputs;
}

bool Share(const Block& a, const Block& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

}  // namespace

std::vector<Finding> FindDeadInputs(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.empty()) return {};
  const auto inputs = FindInputs(facts);
  RunGraphs run(trace);
  std::vector<Seq> last_launch(trace.graphs.size());
  std::vector<bool> launched(trace.graphs.size());
  for (const Launch& launch : trace.launches) {
    const GraphId graph = run.Of(launch);
    if (!graph.valid()) continue;
    last_launch[graph.index()] = launch.seq;
    launched[graph.index()] = true;
  }
  std::vector<Finding> findings;
  for (size_t graph = 0; graph < inputs.size(); ++graph) {
    Finding finding;
    bool known = false;
    for (const Input& input : inputs[graph]) {
      const Block& block = trace[input.block];
      if (!launched[graph] || block.free_requested >= last_launch[graph]) continue;
      known = known || trace.accesses[input.access].mode != AccessMode::kUnknown;
      finding.blocks.push_back(input.block);
      finding.nodes.push_back(input.node);
      finding.bytes += RoundedSize(block);
      if (finding.evidence.size() >= 3) continue;
      finding.evidence.push_back({.text = NameOf(trace, input.block) + " was freed " +
                                          PlaceOf(trace, block.free_requested) + ", and " +
                                          NameOf(trace, input.node) + " touches it",
                                  .nodes = {input.node},
                                  .blocks = {input.block},
                                  .stack = block.free_stack});
    }
    if (finding.blocks.empty()) continue;
    finding.graph = GraphId(graph);
    finding.severity = known ? Severity::kError : Severity::kWarning;
    finding.assumes = Assumption::kArguments;
    finding.message = NameOf(trace, finding.graph) +
                      " was launched after memory that it touches was "
                      "freed: " +
                      ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) + ")";
    finding.advice = "keep the memory of a graph's inputs as long as the graph is launched";
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindReplayOrders(const Facts& facts) {
  const Trace& trace = facts.trace;
  RunGraphs run(trace);
  std::vector<Seq> first_launch(trace.graphs.size(), kNever);
  for (const Launch& launch : trace.launches) {
    const GraphId graph = run.Of(launch);
    if (graph.valid() && first_launch[graph.index()] == kNever) {
      first_launch[graph.index()] = launch.seq;
    }
  }
  std::map<PoolId, std::vector<GraphId>> by_pool;  // launched graphs, in capture order
  for (size_t graph = 0; graph < facts.blocks.size(); ++graph) {
    if (first_launch[graph] == kNever || facts.blocks[graph].empty()) continue;
    const PoolId pool = trace[facts.blocks[graph].front()].pool;
    if (pool.valid() && trace[pool].kind == PoolKind::kPrivate) by_pool[pool].emplace_back(graph);
  }
  std::vector<Finding> findings;
  size_t pairs = 0;
  for (const auto& [pool, graphs] : by_pool) {
    for (size_t later = 1; later < graphs.size(); ++later) {
      for (size_t earlier = 0; earlier < later && pairs < kMostPairs; ++earlier) {
        const GraphId a = graphs[earlier];
        const GraphId b = graphs[later];
        if (first_launch[a.index()] < first_launch[b.index()]) continue;
        ++pairs;
        Finding finding;
        // What the later capture leaves behind, where the earlier one writes.
        for (const BlockId left : facts.blocks[b.index()]) {
          if (facts.lives[left].freed) continue;
          const auto over = [&](BlockId id) { return Share(trace[id], trace[left]); };
          const auto& own = facts.blocks[a.index()];
          if (std::find_if(own.begin(), own.end(), over) == own.end()) continue;
          finding.blocks.push_back(left);
          finding.bytes += RoundedSize(trace[left]);
        }
        if (finding.blocks.empty()) continue;
        finding.graph = a;
        finding.message = NameOf(trace, a) + " was captured before " + NameOf(trace, b) +
                          " in the same pool and launched after it: it writes over " +
                          ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) +
                          "), which that one leaves";
        finding.advice =
            "launch graphs that share a pool in the order of their captures, or copy "
            "what a graph leaves before the next launch";
        findings.push_back(std::move(finding));
      }
    }
  }
  return findings;
}

}  // namespace graphkit
