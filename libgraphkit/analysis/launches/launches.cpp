#include "libgraphkit/analysis/launches/launches.h"

#include <algorithm>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/freed_blocks.h"
#include "libgraphkit/analysis/memory/touches_by_graph.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/node_changes.h"

namespace graphkit {

std::vector<GraphId> FindRan(const Trace& trace) {
  struct Run {
    GraphId graph;
    Seq since;
  };
  std::vector<Run> runs;  // by exec
  for (const Exec& exec : trace.execs) runs.push_back({exec.graph, exec.created});
  std::vector<GraphId> ran;
  auto update = trace.exec_updates.begin();
  for (const Launch& launch : trace.launches) {
    for (; update != trace.exec_updates.end() && update->seq < launch.seq; ++update) {
      if (update->result != 0 || update->exec.index() >= runs.size()) continue;
      runs[update->exec.index()] = {update->graph, update->seq};
    }
    const bool known = launch.exec.index() < runs.size();
    const auto [graph, since] = known ? runs[launch.exec.index()] : Run();
    ran.push_back(known && IsShown(trace, graph, since) ? graph : GraphId());
  }
  return ran;
}

std::vector<std::vector<uint32_t>> LaunchesByGraph(const Trace& trace,
                                                   const std::vector<GraphId>& ran) {
  std::vector<std::vector<uint32_t>> by_graph(trace.graphs.size());
  for (uint32_t i = 0; i < ran.size(); ++i) {
    if (ran[i].valid()) by_graph[ran[i].index()].push_back(i);
  }
  return by_graph;
}

std::vector<bool> CapturedWith(const Trace& trace, CaptureStatus status) {
  std::vector<bool> captured(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    if (capture.status != status || !capture.graph.valid()) continue;
    captured[capture.graph.index()] = true;
  }
  return captured;
}

std::vector<bool> FindNeverRun(const Trace& trace) {
  std::vector<bool> never(trace.graphs.size());
  if (!KnowsWhatWasFreed(trace)) return never;
  for (size_t i = 0; i < never.size(); ++i) {
    if (trace.graphs[i].destroyed != kNever) never[i] = true;
    if (trace.graphs[i].original.valid()) never[trace.graphs[i].original.index()] = true;
  }
  for (const Exec& exec : trace.execs) {
    if (exec.graph.valid()) never[exec.graph.index()] = false;
  }
  return never;
}

// The last launches of `first` on each stream are enough: those before them ended earlier.
std::optional<LaunchPair> FindUnordered(const LaunchOrder& order, const Trace& trace,
                                        const std::vector<uint32_t>& first,
                                        const std::vector<uint32_t>& second) {
  std::optional<LaunchPair> by_threads;
  std::vector<uint32_t> last;
  auto next = first.begin();
  for (const uint32_t later : second) {
    for (; next != first.end() && *next < later; ++next) {
      const auto own = std::ranges::find_if(last, [&](uint32_t launch) {
        return trace.launches[launch].stream == trace.launches[*next].stream;
      });
      if (own == last.end()) {
        last.push_back(*next);
      } else {
        *own = *next;
      }
    }
    for (const uint32_t earlier : last) {
      if (order.Before(earlier, later)) continue;
      if (!order.BeforeByThreads(earlier, later)) return LaunchPair{earlier, later};
      if (!by_threads) by_threads = LaunchPair{earlier, later, true};
    }
  }
  return by_threads;
}

void DoubtThreads(Finding* finding) {
  finding->severity = Severity::kNote;
  finding->message +=
      "; another thread waited for the first one, which orders them only if the "
      "program orders the threads";
}

namespace {

// A pool's memory is still what the block had of it, if it wasn't handed out.
bool PoolStillThere(const Trace& trace, const Block& block, Seq at) {
  if (!block.pool.valid() || trace[block.pool].kind != PoolKind::kPrivate) return false;
  if (trace[block.pool].destroyed < at) return false;
  return block.segment.valid() && trace[block.segment].freed >= at;
}

}  // namespace

std::vector<std::vector<StaleInput>> FindStaleInputs(const Facts& facts) {
  const Trace& trace = facts.trace;
  const auto& launches = facts.launches();
  const NodeChanges changes(trace);
  std::vector<std::pair<GraphId, const GraphInput*>> inputs;
  std::vector<FreedBlock> freed;
  for (size_t graph = 0; graph < launches.size(); ++graph) {
    if (launches[graph].empty()) continue;
    const Seq last = trace.launches[launches[graph].back()].seq;
    for (const GraphInput& input : facts.inputs()[graph]) {
      if (trace[input.block].free_requested >= last) continue;
      inputs.emplace_back(graph, &input);
      freed.push_back({input.block, last});
    }
  }
  const std::vector<FreedFate> fates = FindFates(facts, freed);
  TouchesByGraph touches(facts);
  std::vector<std::vector<StaleInput>> stale(trace.graphs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto [graph, input] = inputs[i];
    const Seq at = freed[i].at;
    if (!fates[i].handed_out && PoolStillThere(trace, trace[input->block], at)) continue;
    // Nodes that touch it may have been given other parameters, or switched off.
    const auto as_made = [&](NodeId node) { return !changes.Changed(node, at); };
    if (!changes.empty() && std::ranges::none_of(touches.Of(input->block, graph), as_made))
      continue;
    stale[graph.index()].push_back({*input, fates[i].replaced_by});
  }
  return stale;
}

bool KnownUse(const Trace& trace, const GraphInput& input) {
  return std::ranges::any_of(
      trace.accesses.Of(trace[input.node].accesses), [&](const Access& access) {
        return access.block == input.block && access.mode != AccessMode::kUnknown;
      });
}

bool IsHostMemory(const Trace& trace, BlockId block) {
  const PoolId pool = trace[block].pool;
  return pool.valid() && trace[pool].kind == PoolKind::kHost;
}

std::string LaunchText(const Trace& trace, uint32_t launch, GraphId graph) {
  return "launch " + std::to_string(launch) + " of " + NameOf(trace, graph) + " on " +
         NameOf(trace, trace.launches[launch].stream);
}

}  // namespace graphkit
