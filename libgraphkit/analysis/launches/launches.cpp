#include "libgraphkit/analysis/launches/launches.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>
#include <unordered_map>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/launches/freed_fates.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/ran/node_changes.h"

namespace graphkit {
namespace {

// A pool's memory is still what the block had of it, if it wasn't handed out.
bool PoolStillThere(const Ran& trace, const Block& block, Seq at) {
  if (KindOf(trace, block.pool) != PoolKind::kPrivate) return false;
  if (trace[block.pool].destroyed < at) return false;
  return block.segment.valid() && trace[block.segment].freed >= at;
}

// The last launch before a place of the graph that allocated a block; 0: none.
Seq WrittenBefore(const Facts& facts, BlockId block, Seq at) {
  const GraphId owner = facts.lives()[block].root;
  const auto launch = owner.valid() ? LaunchBefore(facts, owner, at) : std::nullopt;
  return launch ? facts.trace.launches[*launch].seq : 0;
}

struct SiteFinder {
  // Null: the stack has no frame of the program's own code.
  SiteLaunches* At(KernelId kernel, StackId stack) {
    if (!stack || !kernel) return nullptr;
    const auto [known, is_new] = frame_of.try_emplace(stack);
    if (is_new) known->second = FrameOf(stack);
    return known->second ? &sites[{kernel, *known->second}] : nullptr;
  }

  void AddOutside(const EagerSite& row) {
    SiteLaunches* site = At(row.kernel, row.stack);
    if (site == nullptr) return;
    AddNumbers(row.seq, trace.shapes.size(), &site->outside);
    if (site->counts.empty()) {
      site->first = row.first;
      site->thread = row.thread;
      site->stack = row.stack;
    }
    if (site->thread != row.thread) return;
    site->counts.push_back({row.seq, site->all() + row.launches, row.last});
  }

  // The values that a captured node passes: as it was made, and in each of its changes. False: they
  // aren't known, as where the node of an embedded graph is given another graph's parameters.
  bool AddCaptured(NodeId id, const Node& node, Numbers* numbers) const {
    AddNumbers(node.seq, node.shape, numbers);
    if (FindChanged(trace, id) == nullptr) return true;
    for (const uint32_t at : changes.Of(id.index())) {
      const NodeChange& change = trace.node_changes[at];
      if (change.what == NodeChangeKind::kParams) AddNumbers(change.seq, change.shape, numbers);
    }
    return !changes.Of(id.index()).empty();
  }

  // Nodes of copies (clones, embedded graphs) have the stacks of what they were made of.
  void FindOriginals() {
    const auto of_graph =
        Group(trace.nodes, trace.graphs.size(), [](const Node& node) { return node.graph; });
    for (const auto& [i, graph] : Enumerate(trace.graphs)) {
      if (!graph.original.valid()) continue;
      auto copy = of_graph.Of(i).begin();
      const auto end = of_graph.Of(i).end();
      for (const uint32_t id : of_graph.Of(graph.original.index())) {
        const Node& node = trace.nodes[id];
        const bool there = node.seq < graph.created && node.destroyed > graph.created;
        if (there && copy != end) original[*copy++] = OriginalOf(id);
      }
    }
  }
  uint32_t OriginalOf(uint32_t node) const {
    const auto found = original.find(node);
    return found == original.end() ? node : found->second;
  }

  // Of what stands at a place of the trace.
  void AddNumbers(Seq seq, size_t shape, Numbers* numbers) const {
    constexpr size_t kMost = 64;
    const auto add = [&](uint16_t argument, uint16_t offset, uint64_t bits) {
      std::vector<uint64_t>& values = (*numbers)[{argument, offset}];
      if (values.size() < kMost && std::ranges::count(values, bits) == 0) values.push_back(bits);
    };
    for (const Scalar& scalar : RowsAt(trace.scalars, seq))
      add(scalar.argument, scalar.offset, scalar.bits);
    for (uint16_t i = 0; shape < trace.shapes.size() && i < 3; ++i)
      add(Scalar::kGrid, i, trace.shapes[shape].grid[i]);
  }

  std::optional<uint32_t> FrameOf(StackId stack) {
    const CallSite site = CallSiteOf(trace, stack);
    if (!site.own) return std::nullopt;
    std::vector<std::tuple<StringId, StringId, uint32_t>> path;
    for (uint32_t i = site.inner.value_or(*site.own); i <= *site.own; ++i) {
      const StackFrame& frame = trace.stack_frames[i];
      path.emplace_back(frame.function, frame.file, frame.line);
    }
    return frames.try_emplace(std::move(path), *site.own).first->second;
  }

  const Ran& trace;
  KernelSites sites = {};
  std::unordered_map<StackId, std::optional<uint32_t>> frame_of = {};
  std::map<std::vector<std::tuple<StringId, StringId, uint32_t>>, uint32_t> frames = {};
  std::unordered_map<uint32_t, uint32_t> original = {};  // by node of a copy
  const Grouped changes{Group(trace.node_changes, trace.nodes.size(),
                              [](const NodeChange& change) { return change.node; })};
};

// By graph: launches run it, or a copy of it.
std::vector<bool> FindRunning(const Facts& facts) {
  std::vector<bool> runs;
  for (const GraphId root : facts.roots()) runs.push_back(!facts.never_run()[root.index()]);
  for (size_t i = runs.size(); i-- > 0;) {  // copies come after what they are made of
    const GraphId original = facts.trace.graphs[i].original;
    if (runs[i] && original.valid()) runs[original.index()] = true;
  }
  return runs;
}

}  // namespace

Nanoseconds TimeAt(const Ran& trace, Seq seq) {
  return seq < trace.times.size() ? trace.times[seq] : 0;
}

std::vector<HostTime> FindHostTimes(const Ran& trace) {
  std::vector<HostTime> times(trace.graphs.size());
  std::vector<Nanoseconds> since(trace.graphs.size());  // of an open capture: its last record
  for (const Capture& capture : trace.captures) {
    if (capture.graph.index() >= times.size()) continue;
    const Nanoseconds begin = TimeAt(trace, capture.begin);
    const Nanoseconds end = TimeAt(trace, capture.end);
    if (begin == 0 || end < begin) continue;
    times[capture.graph.index()].total += end - begin;
    since[capture.graph.index()] = begin;
  }
  for (const auto& [node, captured] : Enumerate(trace.nodes)) {
    if (captured.graph.index() >= times.size() || !captured.stream.valid()) continue;
    if (captured.source == Source::kDerived) continue;  // no call made it
    HostTime& time = times[captured.graph.index()];
    const Nanoseconds now = TimeAt(trace, captured.seq);
    if (time.total == 0) continue;
    ++time.calls;
    Nanoseconds& last = since[captured.graph.index()];
    if (now == 0) continue;
    if (now > last && now - last > time.longest) {
      time.longest = now - last;
      time.longest_before = NodeId(node);
    }
    last = std::max(last, now);
  }
  return times;
}

std::string FormatNanoseconds(Nanoseconds ns) {
  if (ns < 1000) return std::to_string(ns) + " ns";
  constexpr std::array kUnits = {"us", "ms", "s"};
  double value = static_cast<double>(ns) / 1000;
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  char text[32];
  const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, kUnits[unit]);
  return text;
}

std::vector<GraphId> FindRan(const Ran& trace) {
  std::vector<GraphId> ran;
  for (const Launch& launch : trace.launches) {
    const ExecGraph of = trace.GraphBefore(launch.exec, launch.seq);
    ran.push_back(of.shown ? of.graph : GraphId());
  }
  return ran;
}

std::vector<std::vector<uint32_t>> LaunchesByGraph(const Ran& trace,
                                                   const std::vector<GraphId>& ran) {
  std::vector<std::vector<uint32_t>> by_graph(trace.graphs.size());
  for (uint32_t i = 0; i < ran.size(); ++i) {
    if (ran[i].valid()) by_graph[ran[i].index()].push_back(i);
  }
  return by_graph;
}

std::optional<uint32_t> LaunchBefore(const Facts& facts, GraphId graph, Seq at) {
  const std::vector<uint32_t>& launches = facts.launches()[graph.index()];
  const auto next = std::ranges::lower_bound(
      launches, at, {}, [&](uint32_t launch) { return facts.trace.launches[launch].seq; });
  if (next == launches.begin()) return std::nullopt;
  return *std::prev(next);
}

std::span<const uint32_t> LaunchesAfter(const Facts& facts, GraphId graph, Seq at) {
  const std::vector<uint32_t>& launches = facts.launches()[graph.index()];
  const auto seq = [&](uint32_t launch) { return facts.trace.launches[launch].seq; };
  return {std::ranges::upper_bound(launches, at, {}, seq), launches.end()};
}

std::vector<bool> CapturedWith(const Ran& trace, CaptureStatus status) {
  std::vector<bool> captured(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    if (capture.status != status || !capture.graph.valid()) continue;
    captured[capture.graph.index()] = true;
  }
  return captured;
}

std::vector<bool> FindNeverRun(const Ran& trace) {
  std::vector<bool> never(trace.graphs.size());
  if (!KnowsWhatWasFreed(trace)) return never;
  for (size_t i = 0; i < never.size(); ++i) {
    if (trace.graphs[i].destroyed != kNever) never[i] = true;
    if (trace.graphs[i].original.valid()) never[trace.graphs[i].original.index()] = true;
  }
  for (const ExecGraph& of : trace.exec_graphs) {
    if (of.graph.valid()) never[of.graph.index()] = false;
  }
  return never;
}

std::vector<Seq> FindDestroyed(const Ran& trace, const std::vector<GraphId>& roots) {
  Seq last = trace.launches.empty() ? 0 : trace.launches.back().seq;
  for (const Capture& capture : trace.captures) last = std::max(last, capture.begin);
  std::vector<Seq> of_root(trace.graphs.size()), destroyed;
  for (const ExecGraph& of : trace.exec_graphs) {
    if (!of.graph.valid()) continue;
    Seq& gone = of_root[roots[of.graph.index()].index()];
    gone = std::max(gone, of.until < last ? of.until : kNever);
  }
  for (const GraphId root : roots) destroyed.push_back(of_root[root.index()]);
  std::ranges::replace(destroyed, Seq{0}, kNever);
  return destroyed;
}

void DoubtThreads(Finding* finding) {
  finding->severity = Severity::kNote;
  finding->message +=
      "; another thread waited for the first one, or a function on a stream comes after it, which "
      "orders them only if the program orders its threads";
}

std::vector<std::vector<StaleInput>> FindStaleInputs(const Facts& facts) {
  const Ran& trace = facts.trace;
  const auto& launches = facts.launches();
  const NodeChanges changes(trace);
  std::vector<std::pair<GraphId, const GraphInput*>> inputs;
  std::vector<FreedBlock> freed;
  for (size_t graph = 0; graph < launches.size(); ++graph) {
    if (launches[graph].empty()) continue;
    const Seq last = trace.launches[launches[graph].back()].seq;
    for (const GraphInput& input : facts.inputs()[graph]) {
      if (trace[input.block].free_requested >= last || trace[input.block].mapped) continue;
      inputs.emplace_back(graph, &input);
      freed.push_back({input.block, last, WrittenBefore(facts, input.block, last)});
    }
  }
  const std::vector<FreedFate> fates = FindFates(facts, freed);
  TouchesByGraph touches(facts);
  std::vector<std::vector<StaleInput>> stale(trace.graphs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto [graph, input] = inputs[i];
    const Seq at = freed[i].at;
    const bool in_pool = PoolStillThere(trace, trace[input->block], at);
    if (fates[i].remade || (!fates[i].handed_out && in_pool)) continue;
    // Nodes that touch it may have been given other parameters, or switched off.
    const auto as_made = [&](NodeId node) { return !changes.Changed(node, at); };
    if (!changes.empty() && std::ranges::none_of(touches.Of(input->block, graph), as_made))
      continue;
    stale[graph.index()].push_back({*input, fates[i].replaced_by, in_pool && !fates[i].occupied});
  }
  return stale;
}

std::string LaunchText(const Ran& trace, uint32_t launch, GraphId graph) {
  return "launch " + std::to_string(launch) + " of " + NameOf(trace, graph) + " on " +
         NameOf(trace, trace.launches[launch].stream);
}

SiteLaunches::Count SiteLaunches::Before(Seq seq) const {
  const auto next = std::ranges::lower_bound(counts, seq, {}, &Count::seq);
  return next == counts.begin() ? Count() : *std::prev(next);
}

KernelSites FindKernelSites(const Facts& facts) {
  const Ran& trace = facts.trace;
  SiteFinder finder{trace};
  for (const EagerSite& row : trace.eager_sites) finder.AddOutside(row);
  if (finder.sites.empty()) return {};
  finder.FindOriginals();
  const std::vector<bool> runs = FindRunning(facts);
  for (const NodeId id : trace.graph_nodes) {
    const Node node = trace[id];
    if (!runs[node.graph.index()]) continue;
    SiteLaunches* site = finder.At(node.kernel, trace.nodes[finder.OriginalOf(id.value)].stack);
    if (site == nullptr) continue;
    site->nodes.push_back(id);
    if (!finder.AddCaptured(id, node, &site->captured)) site->captured_known = false;
  }
  return std::move(finder.sites);
}

}  // namespace graphkit
