#include "libgraphkit/analysis/summary.h"

#include <algorithm>

namespace graphkit {
namespace {

void CountNodes(const Trace& trace, std::vector<GraphSummary>* summaries) {
  std::vector<uint32_t> seen_in(trace.streams.size(), GraphId::kNone);
  std::vector<std::vector<StreamId>> streams(summaries->size());
  for (const Node& node : trace.nodes) {
    if (!InGraph(trace, node)) continue;
    GraphSummary& graph = (*summaries)[node.graph.index()];
    ++graph.nodes;
    const auto kind = static_cast<size_t>(node.kind);
    if (kind < graph.nodes_by_type.size()) ++graph.nodes_by_type[kind];
    if (node.stream.index() >= seen_in.size()) continue;
    if (seen_in[node.stream.index()] == node.graph.value) continue;
    seen_in[node.stream.index()] = node.graph.value;
    streams[node.graph.index()].push_back(node.stream);
  }
  for (size_t i = 0; i < summaries->size(); ++i) {
    std::sort(streams[i].begin(), streams[i].end());
    const auto last = std::unique(streams[i].begin(), streams[i].end());
    (*summaries)[i].streams = static_cast<uint64_t>(last - streams[i].begin());
  }
}

void CountEdges(const Trace& trace, std::vector<GraphSummary>* summaries) {
  for (const Edge& edge : trace.edges) {
    if (!Joins(trace, edge)) continue;
    GraphSummary& graph = (*summaries)[trace[edge.from].graph.index()];
    ++graph.edges;
    graph.programmatic_edges += edge.from_port == kPortProgrammatic;
    graph.launch_completion_edges += edge.from_port == kPortLaunchCompletion;
    graph.cross_stream_edges += trace[edge.from].stream != trace[edge.to].stream;
  }
}

void AddMemory(const Facts& facts, GraphId id, const SummaryOptions& options,
               GraphSummary* summary) {
  const Usage& usage = facts.usage[id.index()];
  summary->blocks = usage.blocks;
  summary->total_bytes = usage.total;
  summary->peak_live_bytes = usage.peak_live;
  summary->deferred_bytes = usage.deferred;
  summary->recorded_extent_bytes = usage.extent;
  summary->never_freed_bytes = usage.never_freed;
  summary->never_freed_blocks = usage.never_freed_blocks;
  if (!facts.bounds.empty()) {
    summary->lower_bound_bytes = facts.bounds[id.index()].bytes;
    summary->lower_bound_exact = facts.bounds[id.index()].exact;
  }
  const ReuseFacts& reuse = facts.reuse[id.index()];
  summary->reuse_bytes = reuse.bytes;
  const size_t kept = std::min(reuse.pairs.size(), options.max_reuse_pairs);
  summary->reuse.assign(reuse.pairs.begin(), reuse.pairs.begin() + static_cast<ptrdiff_t>(kept));
}

}  // namespace

std::vector<GraphSummary> Summarize(const Facts& facts, const SummaryOptions& options) {
  const Trace& trace = facts.trace;
  std::vector<GraphSummary> summaries(trace.graphs.size());
  CountNodes(trace, &summaries);
  CountEdges(trace, &summaries);
  for (size_t i = 0; i < summaries.size(); ++i) {
    summaries[i].graph = GraphId(i);
    summaries[i].name = trace[trace.graphs[i].name];
    summaries[i].origin = trace.graphs[i].origin;
    summaries[i].critical_path_nodes = facts.shapes[i].critical_path_nodes;
    AddMemory(facts, GraphId(i), options, &summaries[i]);
  }
  return summaries;
}

}  // namespace graphkit
