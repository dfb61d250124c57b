#include "libgraphkit/analysis/analyze.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/checks/checks.h"
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/places.h"
#include "libgraphkit/analysis/memory/exec_memory.h"
#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/ran/resolve.h"

namespace graphkit {
namespace {

constexpr size_t kMostListed = 1000;  // of a graph's blocks, or pairs of them

void CountNodes(const Ran& trace, std::vector<GraphSummary>* summaries) {
  std::vector<uint32_t> seen_in(trace.streams.size(), GraphId::kNone);
  std::vector<std::vector<StreamId>> streams(summaries->size());
  for (const NodeId id : trace.graph_nodes) {
    const Node& node = trace[id];
    GraphSummary& graph = (*summaries)[node.graph.index()];
    ++graph.nodes;
    const auto kind = static_cast<size_t>(node.kind);
    if (kind < graph.nodes_by_type.size()) ++graph.nodes_by_type[kind];
    if (node.stream.index() >= seen_in.size()) continue;
    if (seen_in[node.stream.index()] == node.graph.value) continue;
    seen_in[node.stream.index()] = node.graph.value;
    streams[node.graph.index()].push_back(node.stream);
  }
  for (size_t i = 0; i < summaries->size(); ++i)
    (*summaries)[i].streams = std::set(streams[i].begin(), streams[i].end()).size();
}

void CountEdges(const Facts& facts, std::vector<GraphSummary>* summaries) {
  for (const auto& [i, node] : Enumerate(facts.trace.nodes)) {
    GraphSummary& graph = (*summaries)[node.graph.index()];
    for (const InEdge& edge : facts.in_edges().Of(i)) {
      ++graph.edges;
      graph.programmatic_edges += edge.from_port == kPortProgrammatic;
      graph.launch_completion_edges += edge.from_port == kPortLaunchCompletion;
      graph.cross_stream_edges += facts.trace[edge.from].stream != node.stream;
    }
  }
}

void GroupEarlyLaunches(const Ran& trace, std::vector<GraphSummary>* summaries) {
  using Key = std::tuple<GraphId, KernelId, KernelId, EarlyStart>;
  std::map<Key, EarlyLaunches> groups;
  for (const EdgeId id : trace.graph_edges) {
    const Edge& edge = trace[id];
    if (edge.full()) continue;
    EarlyLaunches launches{.producer = trace[edge.from].kernel,
                           .consumer = trace[edge.to].kernel,
                           .start = EarlyStartOf(trace, edge),
                           .first = id};
    const Key key = {trace[edge.from].graph, launches.producer, launches.consumer, launches.start};
    ++groups.emplace(key, launches).first->second.edges;
  }
  for (const auto& [key, launches] : groups)
    (*summaries)[std::get<GraphId>(key).index()].early_launches.push_back(launches);
  for (GraphSummary& summary : *summaries)
    std::ranges::stable_sort(summary.early_launches, std::greater(), &EarlyLaunches::edges);
}

// The largest of some blocks, as many as are kept.
std::vector<BlockId> Largest(const Ran& trace, std::vector<BlockId> blocks) {
  std::ranges::stable_sort(blocks, std::greater(), [&](BlockId id) { return trace[id].size; });
  if (blocks.size() > kMostListed) blocks.resize(kMostListed);
  return blocks;
}

std::vector<BlockId> PeakBlocks(const Facts& facts, GraphId id) {
  std::vector<BlockId> live;
  const Seq peak = facts.usage()[id.index()].peak_at;
  for (const BlockId block : facts.blocks()[id.index()]) {
    const Block& b = facts.trace[block];
    if (b.allocated <= peak && peak < b.free_requested) live.push_back(block);
  }
  return Largest(facts.trace, std::move(live));
}

std::vector<PoolShare> SharesOf(const Ran& trace, const std::vector<BlockId>& blocks) {
  std::map<PoolId, std::vector<BlockId>> by_pool;
  for (const BlockId id : blocks) by_pool[trace[id].pool].push_back(id);
  std::vector<PoolShare> shares;
  for (const auto& [pool, of_pool] : by_pool) {
    PoolShare share{.pool = pool, .blocks = of_pool.size()};
    std::vector<Seq> frees;
    for (const BlockId id : of_pool) {
      share.total_bytes += RoundedSize(trace[id]);
      frees.push_back(trace[id].free_requested);
    }
    share.peak_live_bytes = PeakLive(trace, of_pool, frees);
    shares.push_back(share);
  }
  return shares;
}

void AddBounds(const std::vector<PoolBound>& bounds, std::vector<PoolShare>* shares) {
  for (size_t i = 0; i < std::min(bounds.size(), shares->size()); ++i) {
    (*shares)[i].lower_bound_bytes = bounds[i].bound.bytes;
    (*shares)[i].lower_bound_exact = bounds[i].bound.exact;
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
        &summary->pinned_bytes, &summary->reuse_bytes}) {
    bytes->reset();
  }
  summary->peak_blocks.clear();
  summary->lower_bound_blocks.clear();
  summary->pools.clear();
  summary->reuse.clear();
}

void AddMemory(const Facts& facts, GraphId id, GraphSummary* summary) {
  const Usage& usage = facts.usage()[id.index()];
  summary->blocks = usage.blocks;
  summary->total_bytes = usage.total;
  summary->peak_live_bytes = usage.peak_live;
  summary->deferred_bytes = usage.deferred;
  summary->recorded_extent_bytes = usage.extent;
  summary->never_freed_bytes = usage.never_freed;
  summary->never_freed_blocks = usage.never_freed_blocks;
  if (!facts.bounds().empty()) {
    summary->lower_bound_blocks = Largest(facts.trace, facts.bounds()[id.index()].blocks);
    summary->lower_bound_bytes = facts.bounds()[id.index()].bytes;
    summary->lower_bound_exact = facts.bounds()[id.index()].exact;
  }
  summary->peak_blocks = PeakBlocks(facts, id);
  summary->pools = FindShares(facts, id);
  if (!facts.pool_bounds().empty()) AddBounds(facts.pool_bounds()[id.index()], &summary->pools);
  // A memory history doesn't name the streams that a block was recorded on, so blocks may conflict
  // that shared memory. Those that were live at once are a bound all the same.
  const bool imported = facts.trace.process.device == DeviceKind::kImported;
  if (imported && summary->lower_bound_bytes > usage.extent) {
    summary->lower_bound_bytes = usage.peak_live;
    summary->lower_bound_exact = false;
    summary->lower_bound_blocks = summary->peak_blocks;
    for (PoolShare& pool : summary->pools) {
      pool.lower_bound_bytes = std::min(pool.lower_bound_bytes, pool.peak_live_bytes);
      pool.lower_bound_exact = false;
    }
  }
  for (const GraphInput& input : facts.inputs()[id.index()]) {
    ++summary->pinned_blocks;
    *summary->pinned_bytes += RoundedSize(facts.trace[input.block]);
  }
  const ReuseFacts& reuse = facts.reuse()[id.index()];
  summary->reuse_bytes = reuse.bytes;
  const size_t kept = std::min(reuse.pairs.size(), kMostListed);
  summary->reuse.assign(reuse.pairs.begin(), reuse.pairs.begin() + static_cast<ptrdiff_t>(kept));
  summary->unknown_memory = facts.unknown_memory().graphs[id.index()];
  if (!summary->unknown_memory.empty()) ForgetBytes(summary);
}

ReportTotals TotalsOf(const Facts& facts, const Report& report) {
  const Ran& trace = facts.trace;
  ReportTotals totals;
  totals.graphs = report.graphs.size();
  for (const GraphSummary& graph : report.graphs) {
    totals.nodes += graph.nodes;
    totals.edges += graph.edges;
  }
  totals.launches = trace.launches.size();
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    if (facts.lives().backs_segment[i]) continue;  // each byte counts once
    ++totals.blocks;
    *totals.allocated_bytes += RoundedSize(trace.blocks[i]);
  }
  if (!report.unknown_memory.empty()) totals.allocated_bytes.reset();
  for (const Finding& finding : report.findings)
    ++totals.findings[static_cast<size_t>(finding.severity)];
  return totals;
}

// How the first exec got a graph, where none was instantiated from it; null: one was, or none ran
// it.
const ExecGraph* FirstUpdate(const Facts& facts, GraphId graph) {
  const Ran& trace = facts.trace;
  const ExecGraph* first = nullptr;
  for (const uint32_t at : facts.exec_graphs().Of(graph.index())) {
    const ExecGraph& of = trace.exec_graphs[at];
    if (of.since == trace[of.exec].created) return nullptr;
    if (first == nullptr || of.since < first->since) first = &of;
  }
  return first;
}

void AddExecs(const Facts& facts, Report* report) {
  report->execs = facts.exec_memory();
  if (!report->execs) return;
  const std::vector<ExecPeak> peaks = ExecPeaks(facts.trace, *report->execs);
  for (GraphSummary& graph : report->graphs) {
    const ExecPeak& peak = peaks[graph.graph.index()];
    if (peak.execs > 0) graph.exec_peak = peak;
  }
  for (const ExecCost& cost : report->execs->execs) {
    if (!cost.graph) continue;
    GraphSummary& graph = report->graphs[cost.graph.index()];
    ++graph.execs;
    graph.exec_source = std::min(graph.exec_source, cost.source);
  }
}

void AddLarge(std::vector<Finding> findings, const AnalyzeOptions& options, Report* report) {
  for (Finding& finding : findings) {
    const bool small = finding.bytes > 0 && finding.bytes < options.min_bytes;
    if (!small) report->findings.push_back(std::move(finding));
  }
}

// Facts by the options' rule, and those by completion order: hazards are judged by these. They are
// the same unless the rule is another one and makes a difference.
struct RuledFacts {
  explicit RuledFacts(const Facts& by_rule) : asked(by_rule) {
    if (asked.options.edges == EdgeRule::kCompletion || !asked.partial_edges()) return;
    completion = std::make_unique<Facts>(asked.trace);
  }
  const Facts& proved() const { return completion ? *completion : asked; }

  const Facts& asked;
  std::unique_ptr<const Facts> completion;
};

std::vector<Finding> RunCheckOn(const Check& check, const RuledFacts& facts) {
  std::vector<Finding> findings = RunCheck(check, check.proves ? facts.proved() : facts.asked);
  if (check.find_unproved == nullptr || !facts.completion) return findings;
  Append(check.find_unproved(facts.asked, facts.proved()), &findings);
  return findings;
}

// Makes the facts that take longest side by side, the longest first. Edges by node come when the
// bounds, which take the most memory, are mostly over.
void MakeFacts(const Facts& facts) {
  RunTasks(facts.trace, {[&] { facts.blocks(); }, [&] { facts.unknown_memory(); }});
  RunTasks(facts.trace,
           {[&] { facts.bounds(); }, [&] { facts.reuse(); }, [&] { facts.timeline(); },
            [&] { facts.inputs(); }, [&] { facts.shapes(); }, [&] { facts.exec_memory(); }});
}

void AddMemory(const Facts& facts, Report* report) {
  report->memory.reset();
  if (!facts.unknown_memory().any.empty()) return;
  report->memory = FindAskedMemory(facts.trace, facts.timeline(), facts.lives());
  report->moments = facts.timeline().all();
}

// Sums up, and runs the checks: their findings in their order.
std::vector<std::vector<Finding>> FindAllFindings(const std::vector<const Check*>& checks,
                                                  const Facts& facts, Report* report) {
  std::vector<std::vector<Finding>> findings(checks.size());
  const RuledFacts ruled(facts);
  std::vector<std::function<void()>> tasks = {
      [&] { report->graphs = Summarize(facts); },
      [&] { AddMemory(facts, report); },
  };
  for (size_t i = 0; i < checks.size(); ++i)
    tasks.emplace_back([&, i] { findings[i] = RunCheckOn(*checks[i], ruled); });
  RunTasks(facts.trace, tasks);
  return findings;
}

// The graph of several versions that a finding is about; none: of no such one.
GraphId VersionedGraph(const Ran& trace, const Finding& finding) {
  if (HasSeveralVersions(trace, finding.graph)) return finding.graph;
  for (const NodeId node : finding.nodes) {
    if (HasSeveralVersions(trace, trace[node].graph)) return trace[node].graph;
  }
  return {};
}

// "graph 3 as instantiated as exec 5", of the version that is shown alone.
std::string VersionName(const Ran& trace, GraphId graph) {
  const std::span<const GraphVersion> shown = ShownVersions(trace, graph);
  if (shown.size() != 1 || !HasSeveralVersions(trace, graph)) return NameOf(trace, graph);
  const std::string exec = "exec " + std::to_string(shown[0].exec.value);
  return NameOf(trace, graph) +
         (trace[shown[0].exec].created == shown[0].seq
              ? " as instantiated as " + exec
              : " as " + exec + " was updated to it at record " + std::to_string(shown[0].seq));
}

// A finding about a version of a graph, and the version's name.
struct VersionFinding {
  Finding finding;
  std::string version;
};

// Of each check, by version, what it says of graphs that ran in several.
std::vector<std::vector<std::vector<VersionFinding>>> FindInVersions(
    const std::vector<const Check*>& checks, const Ran& trace, const AnalyzeOptions& options) {
  std::vector<std::vector<std::vector<VersionFinding>>> found(checks.size());
  Ran version = trace;
  for (size_t i = 0; i < CountVersions(trace); ++i) {
    ShowVersion(i, &version);
    const Facts facts = FindReportFacts(version, options);
    const RuledFacts ruled(facts);
    for (size_t check = 0; check < checks.size(); ++check) {
      std::vector<VersionFinding>& of_version = found[check].emplace_back();
      for (Finding& finding : RunCheckOn(*checks[check], ruled)) {
        const GraphId graph = VersionedGraph(version, finding);
        if (graph.valid()) of_version.push_back({std::move(finding), VersionName(version, graph)});
      }
    }
  }
  return found;
}

// Of a graph that ran in several versions, each is judged on its own; one finding for all of them
// where they agree.
void JudgeVersions(const std::vector<const Check*>& checks, const Ran& trace,
                   const AnalyzeOptions& options, std::vector<std::vector<Finding>>* findings) {
  constexpr size_t kMostVersions = 16;  // of more: what may be in any of them
  const size_t count = CountVersions(trace);
  if (count < 2 || count > kMostVersions) return;
  const auto found = FindInVersions(checks, trace, options);
  for (size_t check = 0; check < checks.size(); ++check) {
    std::vector<Finding>& of_check = (*findings)[check];
    std::erase_if(of_check, [&](const Finding& f) { return VersionedGraph(trace, f).valid(); });
    const auto in = [](const std::vector<VersionFinding>& version, const Finding& finding) {
      return std::ranges::find(version, finding, &VersionFinding::finding) != version.end();
    };
    for (size_t i = 0; i < count; ++i) {
      for (const VersionFinding& one : found[check][i]) {
        const bool common = std::ranges::all_of(
            found[check], [&](const auto& version) { return in(version, one.finding); });
        if (common && i > 0) continue;
        of_check.push_back(one.finding);
        if (!common) of_check.back().message += " (" + one.version + ")";
      }
    }
  }
}

// A program that captures anew and updates its exec has a graph for each capture, and destroys it.
// The exec is what stays: findings about such a graph name that, too.
void NameUpdatedExecs(const Facts& facts, std::vector<Finding>* findings) {
  const Ran& trace = facts.trace;
  for (Finding& finding : *findings) {
    GraphId graph = finding.graph;
    if (!graph.valid() && !finding.nodes.empty()) graph = trace[finding.nodes[0]].graph;
    if (!graph.valid()) continue;
    graph = facts.roots()[graph.index()];
    const ExecGraph* first = FirstUpdate(facts, graph);
    if (first == nullptr) continue;
    const size_t more = facts.exec_graphs().Of(graph.index()).size() - 1;
    AddEvidence(&finding, Say(trace, "exec {} was updated to {} {}{}", first->exec.value, graph,
                              facts.places().Of(first->since),
                              more == 0 ? "" : " (and " + Counted(more, "more update") + ")"));
  }
}

Result<std::vector<const Check*>> Chosen(const std::vector<std::string>& ids) {
  std::vector<const Check*> checks;
  for (const std::string& id : ids) {
    const Check* check = FindCheck(id);
    if (id.empty()) {
      return Unexpected{Error{.message = "a check without a name",
                              .hint = "give ids, such as late-free,graph-leak"}};
    }
    if (check == nullptr) {
      const Check* nearest = NearestCheck(id);
      return Unexpected{Error{.message = "unknown check '" + id + "'",
                              .hint = nearest ? "did you mean '" + std::string(nearest->id) + "'?"
                                              : "graphkit help checks lists what there is"}};
    }
    checks.push_back(check);
  }
  if (ids.empty()) {
    for (const Check& check : AllChecks()) checks.push_back(&check);
  }
  return checks;
}

}  // namespace

std::vector<GraphSummary> Summarize(const Facts& facts) {
  const Ran& trace = facts.trace;
  std::vector<GraphSummary> summaries(trace.graphs.size());
  CountNodes(trace, &summaries);
  CountEdges(facts, &summaries);
  GroupEarlyLaunches(trace, &summaries);
  const std::vector<HostTime>& host_times = facts.host_times();
  const std::vector<Seq> destroyed = FindDestroyed(trace, facts.roots());
  const auto freed = [&](BlockId id) { return trace[id].free_requested != kNever; };
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
    if (const ExecGraph* update = FirstUpdate(facts, graph)) summaries[i].updated = update->exec;
    summaries[i].width = facts.shapes()[i].width;
    summaries[i].destroyed =
        destroyed[i] != kNever && std::ranges::all_of(facts.blocks()[i], freed);
    AddMemory(facts, graph, &summaries[i]);
  });
  return summaries;
}

BlockJoins CountJoins(const MemoryFacts& facts) {
  const Ran& trace = facts.trace;
  BlockJoins joins;
  for (const std::vector<BlockId>& blocks : facts.blocks()) {
    for (const BlockId id : blocks) {
      const Block& block = trace[id];
      const bool no_stack = !block.stack.valid();
      const bool library_only = !no_stack && !CallSiteOf(trace, block.stack).own;
      const bool no_node = facts.lives().Touches(id).empty();
      const bool unread = no_node && facts.lives()[id].escaped;
      ++joins.captured_blocks;
      joins.without_stream += block.stream.valid() ? 0u : 1u;
      joins.without_stack += no_stack ? 1 : 0;
      joins.library_only += library_only ? 1 : 0;
      joins.untouched += no_node && !unread ? 1 : 0;
      joins.unread += unread ? 1 : 0;
      joins.joined += block.stream.valid() && !no_stack && !no_node ? 1u : 0u;
    }
  }
  return joins;
}

Facts FindReportFacts(const Ran& trace, const AnalyzeOptions& options,
                      std::atomic<size_t>* graphs_done) {
  return Facts(trace, {.edges = options.edges,
                       .bound_time_limit = options.bound_time_limit,
                       .graphs_done = graphs_done});
}

Result<Report> Analyze(const Ran& trace, const AnalyzeOptions& options) {
  return Analyze(FindReportFacts(trace, options), options);
}

Result<Report> Analyze(const Facts& facts, const AnalyzeOptions& options) {
  const Result<std::vector<const Check*>> checks = Chosen(options.checks);
  if (!checks) return Unexpected{checks.error()};
  const Ran& trace = facts.trace;
  Report report;
  MakeFacts(facts);
  report.device = trace.process.device;
  report.incomplete_because = IncompleteBecause(trace);
  report.complete = report.incomplete_because.empty();
  report.program = trace.process.program;
  report.unknown_memory = facts.unknown_memory().any;
  std::vector<std::vector<Finding>> found = FindAllFindings(*checks, facts, &report);
  JudgeVersions(*checks, trace, options, &found);
  for (std::vector<Finding>& findings : found) NameUpdatedExecs(facts, &findings);
  for (std::vector<Finding>& findings : found) AddLarge(std::move(findings), options, &report);
  AddExecs(facts, &report);
  std::ranges::stable_sort(report.findings, ComesFirst);
  ExplainBySettings(trace.process, &report.findings);
  FindPlaces(trace, &report.findings);
  report.groups = GroupFindings(report.findings);
  report.joins = CountJoins(facts);
  report.totals = TotalsOf(facts, report);
  return report;
}

}  // namespace graphkit
