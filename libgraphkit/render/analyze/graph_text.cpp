#include "libgraphkit/render/analyze/graph_text.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/model/names.h"

namespace graphkit {

namespace {

constexpr size_t kLabelColumns = 11;
constexpr size_t kBarColumns = 40;
constexpr size_t kNameColumns = 40;   // of a kernel
constexpr size_t kEntriesInFull = 8;  // more than that are shown as a table

std::string OriginText(const GraphSummary& graph, const Ran& trace) {
  const bool known = graph.graph && graph.graph.index() < trace.graphs.size();
  const Graph origin = known ? trace[graph.graph] : Graph{};
  const std::string node = origin.parent ? " node " + std::to_string(origin.parent.value) : "";
  switch (graph.origin) {
    case GraphOrigin::kCapture:
      return "captured";
    case GraphOrigin::kExplicit:
      return "built by API calls";
    case GraphOrigin::kClone:
      return origin.original ? "cloned from graph " + std::to_string(origin.original.value)
                             : "cloned";
    case GraphOrigin::kChild:
      return "embedded as child graph" + (node.empty() ? node : " in" + node);
    case GraphOrigin::kBody:
      return "body " + std::to_string(origin.body) + " of conditional" + node;
    case GraphOrigin::kImported:
      break;
  }
  return "imported";
}

// Graphs of which all figures that are shown agree, but for the addresses.
struct LikeGraphs {
  const GraphSummary* first = nullptr;
  const GraphSummary* widest = nullptr;  // with the most bytes between addresses
  std::vector<GraphId> others = {};
};

// Those of one pool are the graph's.
std::vector<PoolShare> PoolsOf(const GraphSummary& graph) {
  return graph.pools.size() < 2 ? std::vector<PoolShare>() : graph.pools;
}

// All but the first edges.
std::vector<EarlyLaunches> EarlyLaunchesOf(const GraphSummary& graph) {
  std::vector<EarlyLaunches> all = graph.early_launches;
  for (EarlyLaunches& launches : all) launches.first = {};
  return all;
}

std::vector<LikeGraphs> GroupGraphs(const Report& report, const Ran& trace) {
  const auto shown = [&trace](const GraphSummary& graph) {
    const ExecPeak peak = graph.exec_peak.value_or(ExecPeak());
    return std::tuple(graph.name, OriginText(graph, trace), graph.nodes_by_type, graph.edges,
                      graph.programmatic_edges, graph.launch_completion_edges,
                      graph.cross_stream_edges, EarlyLaunchesOf(graph), graph.streams, graph.blocks,
                      graph.unknown_memory, graph.total_bytes, graph.peak_live_bytes,
                      graph.deferred_bytes, graph.lower_bound_bytes, graph.lower_bound_exact,
                      graph.plan_bytes, graph.never_freed_bytes, graph.never_freed_blocks,
                      graph.critical_path_nodes, graph.reuse_bytes, graph.reuse.size(),
                      PoolsOf(graph), graph.execs, graph.updated, peak.execs, peak.bytes);
  };
  std::map<decltype(shown(GraphSummary())), size_t> by_figures;
  std::vector<LikeGraphs> groups;
  for (const GraphSummary& graph : report.graphs) {
    const auto [found, fresh] = by_figures.emplace(shown(graph), groups.size());
    if (fresh) {
      groups.push_back({&graph, &graph});
      continue;
    }
    LikeGraphs& group = groups[found->second];
    group.others.push_back(graph.graph);
    if (graph.recorded_extent_bytes > group.widest->recorded_extent_bytes) group.widest = &graph;
  }
  return groups;
}

std::string Label(std::string_view name) {
  return "  " + std::string(name) + std::string(kLabelColumns - name.size(), ' ');
}

std::string NodesText(const GraphSummary& graph) {
  const auto count = [&](uint32_t kind) { return graph.nodes_by_type[kind]; };
  const std::vector<uint32_t> kinds =
      IndicesBy(graph.nodes_by_type.size(), count, std::ranges::greater());
  std::string text = FormatCount(graph.nodes);
  for (const uint32_t kind : kinds) {
    if (count(kind) == 0) break;
    text += (kind == kinds.front() ? ": " : ", ") + FormatCount(count(kind)) + " " +
            NodeKindName(static_cast<NodeKind>(kind));
  }
  if (graph.critical_path_nodes > 0) {
    text += "; the longest path has " + Counted(graph.critical_path_nodes, "node");
  }
  return text;
}

std::string EdgesText(const GraphSummary& graph, const Process& process) {
  std::vector<std::string> kinds;
  const auto add = [&kinds](uint64_t count, const char* what) {
    if (count > 0) kinds.push_back(FormatCount(count) + what);
  };
  add(graph.programmatic_edges, " programmatic");
  add(graph.launch_completion_edges, " launch-completion");
  add(graph.cross_stream_edges, " between streams");
  AddMissingEdgeData(process, kinds);
  return FormatCount(graph.edges) + (kinds.empty() ? "" : ": ") + AndList(kinds);
}

// Edges that wait for no end, by kernels.
void RenderEarlyLaunches(const GraphSummary& graph, const Ran& trace, const TextOut& out) {
  const std::string indent(kLabelColumns + 2, ' ');
  const size_t shown = out.Shown(graph.early_launches.size());
  for (size_t i = 0; i < shown; ++i) {
    const EarlyLaunches& launches = graph.early_launches[i];
    const Edge& edge = trace[launches.first];
    out.Wrap(indent + "- ",
             Counted(launches.edges, "edge") + ": " +
                 EarlyStartText(launches.start, NodeTitle(trace, edge.from, kNameColumns),
                                NodeTitle(trace, edge.to, kNameColumns)));
  }
  const size_t left = graph.early_launches.size() - shown;
  if (left > 0)
    out << indent << "- and " << Counted(left, "more pair") << " of kernels; --top 0 shows all\n";
}

struct Figure {
  std::string name;
  Bytes bytes = 0;
  std::string remark = {};
};

std::string BoundRemark(const GraphSummary& graph) {
  if (graph.plan_bytes && graph.plan_bytes == graph.lower_bound_bytes) {
    return "theoretical minimum (proved; a plan fits)";
  }
  return graph.lower_bound_exact ? "theoretical minimum (proved)"
                                 : "a lower bound, not proved tight";
}

std::string ExtentRemark(const LikeGraphs& graphs) {
  const GraphSummary& widest = *graphs.widest;
  if (widest.recorded_extent_bytes == graphs.first->recorded_extent_bytes) return "as recorded";
  return "as recorded; " + FormatBytes(widest.recorded_extent_bytes) + " in graph " +
         std::to_string(widest.graph.value);
}

// Of graphs whose memory is known.
std::vector<Figure> MemoryFigures(const LikeGraphs& graphs) {
  const GraphSummary& graph = *graphs.first;
  std::vector<Figure> figures = {{"peak live", *graph.peak_live_bytes}};
  const auto add = [&figures](bool said, const char* name, std::optional<Bytes> bytes,
                              std::string remark = "") {
    if (said) figures.push_back({name, *bytes, std::move(remark)});
  };
  add(graph.deferred_bytes > 0, "deferred", graph.deferred_bytes);
  add(graph.never_freed_bytes > 0, "never freed", graph.never_freed_bytes,
      Counted(graph.never_freed_blocks, "block"));
  add(graph.recorded_extent_bytes > 0, "address range", graph.recorded_extent_bytes,
      ExtentRemark(graphs));
  add(true, "lower bound", graph.lower_bound_bytes, BoundRemark(graph));
  add(graph.plan_bytes > graph.lower_bound_bytes, "plan", graph.plan_bytes, "one that is safe");
  return figures;
}

// Where there is more than one pool: they can't take memory from each other.
void RenderPools(const GraphSummary& graph, const Ran& trace, const TextOut& out) {
  if (graph.pools.size() < 2) return;
  TextRows rows = {{"pool", "blocks", "in all", "peak live", "lower bound"}};
  for (const PoolShare& share : graph.pools) {
    rows.push_back(
        {PoolTitle(trace, share.pool), FormatCount(share.blocks), FormatBytes(share.total_bytes),
         FormatBytes(share.peak_live_bytes),
         (share.lower_bound_exact ? "" : "at least ") + FormatBytes(share.lower_bound_bytes)});
  }
  out << "  pools\n" << Table(rows, "lrrrr", std::string(kLabelColumns + 4, ' '), out.style);
}

void RenderMemory(const LikeGraphs& graphs, const TextOut& out) {
  const GraphSummary& graph = *graphs.first;
  if (!graph.unknown_memory.empty()) {
    const std::string text = "unknown: " + Printable(graph.unknown_memory);
    out.Wrap(Label("memory"), text);
    return;
  }
  if (graph.blocks == 0) return;
  out << Label("memory") << Counted(graph.blocks, "block") << ", " << FormatBytes(graph.total_bytes)
      << " in all\n";
  const std::vector<Figure> figures = MemoryFigures(graphs);
  const bool bars = out.style.colour && out.style.width >= kBarColumns + 60;
  Bytes most = 0;
  for (const Figure& figure : figures) most = std::max(most, figure.bytes);
  TextRows rows;
  for (const Figure& figure : figures) {
    rows.push_back({figure.name, FormatBytes(figure.bytes), figure.remark});
    if (bars) rows.back().push_back(Bar(figure.bytes, most, kBarColumns));
  }
  out << Table(rows, bars ? "lrll" : "lrl", std::string(kLabelColumns + 4, ' '), out.style);
}

void RenderExecs(const GraphSummary& graph, const Ran& trace, const TextOut& out) {
  if (graph.updated)
    out.Wrap(Label("execs"), "exec " + std::to_string(graph.updated.value) + " was updated to it");
  if (!graph.exec_peak) return;
  const ExecPeak& peak = *graph.exec_peak;
  const std::string more =
      graph.execs == peak.execs ? "" : ", at most " + FormatCount(peak.execs) + " at once";
  out.Wrap(Label("execs"), FormatCount(graph.execs) + more + ": " +
                               ExecRangeText(peak.bytes, graph.exec_source, trace.process.device));
}

std::string BlockText(const Ran& trace, BlockId id) {
  std::string text = "block " + std::to_string(id.value);
  if (!id || id.index() >= trace.blocks.size()) return text;
  const std::string at = StackTitle(trace, trace[id].stack);
  return text + " (" + FormatBytes(trace[id].size) + (at.empty() ? "" : ", " + at) + ")";
}

// Pairs of one size whose blocks come from the same lines, by the first of them.
struct AlikePairs {
  const ReusePair* first = nullptr;
  uint64_t count = 0;
};

std::vector<AlikePairs> GroupPairs(const GraphSummary& graph, const Ran& trace) {
  using Key = std::tuple<Bytes, Bytes, Bytes, StackId, StackId, Assumption>;
  std::map<Key, size_t> by_key;
  std::vector<AlikePairs> groups;
  const auto block = [&](BlockId id) {
    return id.index() < trace.blocks.size() ? trace[id] : Block{};
  };
  for (const ReusePair& pair : graph.reuse) {
    const Block later = block(pair.later), earlier = block(pair.earlier);
    const Key key = {pair.bytes,  later.size,    earlier.size,
                     later.stack, earlier.stack, pair.assumes};
    const bool known = later.stack && earlier.stack;
    const auto [found, fresh] =
        known ? by_key.emplace(key, groups.size()) : std::pair(by_key.end(), true);
    if (fresh) groups.push_back({&pair});
    ++groups[fresh ? groups.size() - 1 : found->second].count;
  }
  return groups;
}

void RenderReuse(const GraphSummary& graph, const Ran& trace, const TextOut& out) {
  if (graph.reuse.empty()) return;
  out.Wrap(Label("reuse"),
           FormatBytes(graph.reuse_bytes) + " could share memory with earlier blocks");
  const std::vector<AlikePairs> groups = GroupPairs(graph, trace);
  const size_t shown = out.Shown(groups.size());
  const std::string indent(kLabelColumns + 2, ' ');
  uint64_t left = graph.reuse.size();
  for (size_t i = 0; i < shown; ++i) {
    const auto& [pair, count] = groups[i];
    left -= count;
    const std::string condition =
        pair->assumes == Assumption::kOrder ? "" : ", if " + AssumptionText(pair->assumes);
    const std::string more =
        count == 1 ? "" : ", and " + Counted(count - 1, "pair") + " of the same size and lines";
    out.Wrap(indent + "- ", FormatBytes(pair->bytes) + ": " + BlockText(trace, pair->later) +
                                " where " + BlockText(trace, pair->earlier) + " lay" + more +
                                condition);
  }
  if (left > 0)
    out << indent << "- and " << Counted(left, "smaller pair") << "; --top 0 shows all\n";
}

// "graphs 1, 2 and 5 are like it".
std::string OthersText(const LikeGraphs& graphs, const TextOut& out) {
  const size_t shown = out.Shown(graphs.others.size()), left = graphs.others.size() - shown;
  std::vector<std::string> names;
  for (size_t i = 0; i < shown; ++i) names.push_back(std::to_string(graphs.others[i].value));
  if (left > 0) names.push_back(FormatCount(left) + " more");
  const bool one = graphs.others.size() == 1;
  return (one ? "graph " : "graphs ") + AndList(names) + (one ? " is like it" : " are like it");
}

void RenderEntry(const LikeGraphs& graphs, const Ran& trace, const TextOut& out) {
  const GraphSummary& graph = *graphs.first;
  out << "\n"
      << out.Inked(GraphTitle(graph.graph, graph.name), Ink::kBold) << ", "
      << OriginText(graph, trace)
      << (graph.streams > 0 ? " on " + Counted(graph.streams, "stream") : "") << "\n";
  if (!graphs.others.empty()) out.Wrap("  ", OthersText(graphs, out));
  out.Wrap(Label("nodes"), NodesText(graph));
  out.Wrap(Label("edges"), EdgesText(graph, trace.process));
  RenderEarlyLaunches(graph, trace, out);
  RenderMemory(graphs, out);
  RenderExecs(graph, trace, out);
  RenderPools(graph, trace, out);
  RenderReuse(graph, trace, out);
}

void RenderTable(std::span<const LikeGraphs> entries, const TextOut& out) {
  TextRows rows = {{"graph", "alike", "name", "nodes", "edges", "streams", "blocks", "peak live",
                    "deferred", "lower bound", "reuse"}};
  for (const auto& [first, widest, others] : entries) {
    const GraphSummary& graph = *first;
    rows.push_back({std::to_string(graph.graph.value),
                    others.empty() ? "" : "×" + FormatCount(1 + others.size()),
                    Ellipsize(Printable(graph.name), 24), FormatCount(graph.nodes),
                    FormatCount(graph.edges), FormatCount(graph.streams), FormatCount(graph.blocks),
                    FormatBytes(graph.peak_live_bytes), FormatBytes(graph.deferred_bytes),
                    FormatBytes(graph.lower_bound_bytes), FormatBytes(graph.reuse_bytes)});
  }
  std::string align = "rrlrrrrrrrr";
  for (const size_t column : {2u, 1u}) {  // those without an entry
    if (std::ranges::any_of(rows.begin() + 1, rows.end(),
                            [&](const auto& row) { return !row[column].empty(); })) {
      continue;
    }
    for (auto& row : rows) row.erase(row.begin() + static_cast<ptrdiff_t>(column));
    align.erase(column, 1);
  }
  out << "\n" << Table(rows, align, "", out.style);
}

}  // namespace

std::string ExecRangeText(const ByteRange& range, ExecSource source, DeviceKind device) {
  std::string how(NameOf(source));
  if (source != ExecSource::kEstimated && device == DeviceKind::kSoft) how += ", simulated";
  return "about " + FormatBytes(range.bytes) + " (" + how + "; " + FormatBytes(range.low) + " to " +
         FormatBytes(range.high) + ")";
}

std::string AssumptionText(Assumption assumption) {
  switch (assumption) {
    case Assumption::kOrder:
      return "nothing but the order of the graph";
    case Assumption::kTorchStreams:
      return "no stream uses the block after its free unless record_stream() named it";
    case Assumption::kArguments:
      return "kernels access only memory passed as arguments";
  }
  return "";
}

void RenderGraphs(const Report& report, const Ran& trace, const TextOut& out) {
  if (report.graphs.empty()) return;
  std::vector<LikeGraphs> groups = GroupGraphs(report, trace);
  const size_t shown = out.Shown(groups.size());
  if (shown < groups.size()) {
    std::ranges::stable_sort(groups, std::ranges::greater(),
                             [](const LikeGraphs& graphs) { return graphs.first->total_bytes; });
  }
  const std::span<const LikeGraphs> entries(groups.data(), shown);
  if (groups.size() > kEntriesInFull) {
    RenderTable(entries, out);
  } else {
    for (const LikeGraphs& graphs : entries) RenderEntry(graphs, trace, out);
  }
  uint64_t left = 0;
  for (size_t i = shown; i < groups.size(); ++i) left += 1 + groups[i].others.size();
  if (left > 0) {
    out << (groups.size() > kEntriesInFull ? "" : "\n") << "and " << Counted(left, "graph")
        << " with fewer bytes; --top 0 shows all\n";
  }
}

}  // namespace graphkit
