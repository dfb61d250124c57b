#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/model/node_versions.h"

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
    (*summaries)[i].streams = std::set(streams[i].begin(), streams[i].end()).size();
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

void GroupEarlyLaunches(const Trace& trace, std::vector<GraphSummary>* summaries) {
  using Key = std::tuple<GraphId, KernelId, KernelId, EarlyStart>;
  std::map<Key, EarlyLaunches> groups;
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (edge.full() || !Joins(trace, edge)) continue;
    EarlyLaunches launches{.producer = trace[edge.from].kernel,
                           .consumer = trace[edge.to].kernel,
                           .start = EarlyStartOf(trace, edge),
                           .first = EdgeId(i)};
    const Key key = {trace[edge.from].graph, launches.producer, launches.consumer, launches.start};
    ++groups.emplace(key, launches).first->second.edges;
  }
  for (const auto& [key, launches] : groups) {
    (*summaries)[std::get<GraphId>(key).index()].early_launches.push_back(launches);
  }
  for (GraphSummary& summary : *summaries) {
    std::ranges::stable_sort(summary.early_launches, std::greater(), &EarlyLaunches::edges);
  }
}

// The largest of some blocks, as many as are kept.
std::vector<BlockId> Largest(const Trace& trace, std::vector<BlockId> blocks,
                             const SummaryOptions& options) {
  std::ranges::stable_sort(blocks, std::greater(), [&](BlockId id) { return trace[id].size; });
  if (blocks.size() > options.max_blocks) blocks.resize(options.max_blocks);
  return blocks;
}

std::vector<BlockId> PeakBlocks(const Facts& facts, GraphId id, const SummaryOptions& options) {
  std::vector<BlockId> live;
  const Seq peak = facts.usage()[id.index()].peak_at;
  for (const BlockId block : facts.blocks()[id.index()]) {
    const Block& b = facts.trace[block];
    if (b.allocated <= peak && peak < b.free_requested) live.push_back(block);
  }
  return Largest(facts.trace, std::move(live), options);
}

std::vector<PoolShare> SharesOf(const Trace& trace, const std::vector<BlockId>& blocks) {
  std::map<PoolId, std::pair<PoolShare, LiveBytes>> pools;
  for (const BlockId id : blocks) {
    const Block& block = trace[id];
    auto& [share, live] = pools[block.pool];
    share.pool = block.pool;
    ++share.blocks;
    share.total_bytes += RoundedSize(block);
    live.Add(block, block.free_requested);
  }
  std::vector<PoolShare> shares;
  for (auto& [pool, entry] : pools) {
    entry.first.peak_live_bytes = entry.second.Peak();
    shares.push_back(entry.first);
  }
  return shares;
}

void AddBounds(const std::vector<PoolBound>& bounds, std::vector<PoolShare>* shares) {
  for (size_t i = 0; i < std::min(bounds.size(), shares->size()); ++i) {
    (*shares)[i].lower_bound_bytes = bounds[i].bound.bytes;
    (*shares)[i].lower_bound_exact = bounds[i].bound.exact;
    (*shares)[i].online_bytes = bounds[i].bound.online;
  }
}

// One pool's share is the graph's.
std::vector<PoolShare> FindShares(const Facts& facts, GraphId id) {
  const std::vector<BlockId>& blocks = facts.blocks()[id.index()];
  const bool one = std::ranges::all_of(blocks, [&](BlockId block) {
    return facts.trace[block].pool == facts.trace[blocks.front()].pool;
  });
  if (blocks.empty()) return {};
  if (!one) return SharesOf(facts.trace, blocks);
  const Usage& usage = facts.usage()[id.index()];
  return {{.pool = facts.trace[blocks.front()].pool,
           .blocks = usage.blocks,
           .total_bytes = usage.total,
           .peak_live_bytes = usage.peak_live}};
}

// Figures of some of a graph's blocks are none of the graph.
void ForgetBytes(GraphSummary* summary) {
  for (std::optional<Bytes>* bytes :
       {&summary->total_bytes, &summary->peak_live_bytes, &summary->deferred_bytes,
        &summary->lower_bound_bytes, &summary->recorded_extent_bytes, &summary->never_freed_bytes,
        &summary->pinned_bytes, &summary->reuse_bytes, &summary->online_bytes}) {
    bytes->reset();
  }
  summary->peak_blocks.clear();
  summary->lower_bound_blocks.clear();
  summary->pools.clear();
  summary->reuse.clear();
}

void AddMemory(const Facts& facts, GraphId id, const SummaryOptions& options,
               GraphSummary* summary) {
  const Usage& usage = facts.usage()[id.index()];
  summary->blocks = usage.blocks;
  summary->total_bytes = usage.total;
  summary->peak_live_bytes = usage.peak_live;
  summary->deferred_bytes = usage.deferred;
  summary->recorded_extent_bytes = usage.extent;
  summary->never_freed_bytes = usage.never_freed;
  summary->never_freed_blocks = usage.never_freed_blocks;
  if (!facts.bounds().empty()) {
    summary->lower_bound_blocks = Largest(facts.trace, facts.bounds()[id.index()].blocks, options);
    summary->lower_bound_bytes = facts.bounds()[id.index()].bytes;
    summary->lower_bound_exact = facts.bounds()[id.index()].exact;
    summary->online_bytes = facts.bounds()[id.index()].online;
  }
  summary->peak_blocks = PeakBlocks(facts, id, options);
  summary->pools = FindShares(facts, id);
  if (!facts.pool_bounds().empty()) AddBounds(facts.pool_bounds()[id.index()], &summary->pools);
  for (const GraphInput& input : facts.inputs()[id.index()]) {
    ++summary->pinned_blocks;
    *summary->pinned_bytes += RoundedSize(facts.trace[input.block]);
  }
  const ReuseFacts& reuse = facts.reuse()[id.index()];
  summary->reuse_bytes = reuse.bytes;
  const size_t kept = std::min(reuse.pairs.size(), options.max_reuse_pairs);
  summary->reuse.assign(reuse.pairs.begin(), reuse.pairs.begin() + static_cast<ptrdiff_t>(kept));
  summary->unknown_memory = facts.unknown_memory().graphs[id.index()];
  if (!summary->unknown_memory.empty()) ForgetBytes(summary);
}

}  // namespace

std::vector<GraphSummary> Summarize(const Facts& facts, const SummaryOptions& options) {
  const Trace& trace = facts.trace;
  std::vector<GraphSummary> summaries(trace.graphs.size());
  CountNodes(trace, &summaries);
  CountEdges(trace, &summaries);
  GroupEarlyLaunches(trace, &summaries);
  const std::vector<HostTime>& host_times = facts.host_times();
  ForEachGraph(trace, facts.blocks(), [&](GraphId graph) {
    const size_t i = graph.index();
    summaries[i].graph = graph;
    summaries[i].name = trace[trace.graphs[i].name];
    summaries[i].origin = trace.graphs[i].origin;
    summaries[i].critical_path_nodes = facts.shapes()[i].critical_path_nodes;
    summaries[i].critical_path_ns = facts.shapes()[i].critical_path_ns;
    summaries[i].captured_calls = host_times[i].calls;
    summaries[i].capture_host_ns = host_times[i].total;
    summaries[i].launches = facts.launches()[i].size();
    summaries[i].width = facts.shapes()[i].width;
    AddMemory(facts, graph, options, &summaries[i]);
  });
  return summaries;
}

}  // namespace graphkit
