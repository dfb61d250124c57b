#include "libgraphkit/analysis/checks/find.h"

#include <memory>

namespace graphkit {

std::vector<Finding> FindByGraph(const Facts& facts,
                                 const std::function<void(GraphId, Finding*)>& judge) {
  std::vector<std::unique_ptr<Finding>> by_graph(facts.trace.graphs.size());
  ForEachGraph(facts.trace, facts.blocks(), [&](GraphId graph) {
    Finding finding{.graph = graph};
    judge(graph, &finding);
    if (finding.message.empty()) return;
    by_graph[graph.index()] = std::make_unique<Finding>(std::move(finding));
  });
  std::vector<Finding> findings;
  for (const std::unique_ptr<Finding>& finding : by_graph) {
    if (finding) findings.push_back(std::move(*finding));
  }
  return findings;
}

std::map<PoolId, std::vector<GraphId>> GraphsByPool(const Facts& facts) {
  std::map<PoolId, std::vector<GraphId>> by_pool;
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    PoolId last;
    for (const BlockId block : facts.blocks()[graph]) {
      const PoolId pool = facts.trace[block].pool;
      if (pool == last || KindOf(facts.trace, pool) != PoolKind::kPrivate) continue;
      last = pool;
      std::vector<GraphId>& graphs = by_pool[pool];
      if (graphs.empty() || graphs.back() != GraphId(graph)) graphs.emplace_back(graph);
    }
  }
  return by_pool;
}

void AddBlock(const Trace& trace, BlockId block, Finding* finding) {
  finding->blocks.push_back(block);
  finding->bytes += RoundedSize(trace[block]);
}

bool AddBlockOnce(const Trace& trace, BlockId block, Finding* finding) {
  if (!AddOnce(block, &finding->blocks)) return false;
  finding->bytes += RoundedSize(trace[block]);
  return true;
}

std::string BlocksText(const Finding& finding) {
  return ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) + ")";
}

void AddEvidence(Finding* finding, std::string text, StackId stack, std::vector<NodeId> nodes,
                 std::vector<BlockId> blocks) {
  finding->evidence.push_back({.text = std::move(text),
                               .nodes = std::move(nodes),
                               .blocks = std::move(blocks),
                               .stack = stack});
}

Evidence CapturedThere(const Trace& trace, NodeId node) {
  return {.text = CapturedOn(trace, node), .nodes = {node}, .stack = trace[node].stack};
}

Evidence AllocatedThere(const Facts& facts, BlockId block) {
  const Block& at = facts.trace[block];
  return {.text = Say(facts.trace, "{} was allocated {}", block, facts.places().Of(at.allocated)),
          .blocks = {block},
          .stack = at.stack};
}

}  // namespace graphkit
