#include "libgraphkit/analysis/launches/launches.h"

#include <algorithm>
#include <iterator>

#include "libgraphkit/analysis/memory/freed_blocks.h"
#include "libgraphkit/analysis/memory/touches_by_graph.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/node_changes.h"

namespace graphkit {

RunGraphs::RunGraphs(const Trace& trace) : trace_(trace) {
  for (const Exec& exec : trace.execs) runs_.push_back({exec.graph, exec.created});
}

GraphId RunGraphs::Of(const Launch& launch) {
  for (; next_ < trace_.exec_updates.size() && trace_.exec_updates[next_].seq < launch.seq;
       ++next_) {
    const ExecUpdate& update = trace_.exec_updates[next_];
    if (update.result == 0 && update.exec.index() < runs_.size()) {
      runs_[update.exec.index()] = {update.graph, update.seq};
    }
  }
  if (launch.exec.index() >= runs_.size()) return {};
  const auto [graph, since] = runs_[launch.exec.index()];
  return IsShown(trace_, graph, since) ? graph : GraphId();
}

std::vector<std::vector<uint32_t>> LaunchesByGraph(const Trace& trace) {
  std::vector<std::vector<uint32_t>> by_graph(trace.graphs.size());
  RunGraphs run(trace);
  for (size_t i = 0; i < trace.launches.size(); ++i) {
    const GraphId graph = run.Of(trace.launches[i]);
    if (graph.valid()) by_graph[graph.index()].push_back(static_cast<uint32_t>(i));
  }
  return by_graph;
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

// Whether a pool's memory is still what the block had of it, if it wasn't handed out.
bool PoolStillThere(const Trace& trace, const Block& block, Seq at) {
  if (!block.pool.valid() || trace[block.pool].kind != PoolKind::kPrivate) return false;
  if (trace[block.pool].destroyed < at) return false;
  return block.segment.valid() && trace[block.segment].freed >= at;
}

}  // namespace

std::vector<std::vector<StaleInput>> FindStaleInputs(const Facts& facts) {
  const Trace& trace = facts.trace;
  const auto launches = LaunchesByGraph(trace);
  const NodeChanges changes(trace);
  std::vector<std::pair<GraphId, const GraphInput*>> inputs;
  std::vector<FreedBlock> freed;
  for (size_t graph = 0; graph < launches.size(); ++graph) {
    if (launches[graph].empty()) continue;
    const Seq last = trace.launches[launches[graph].back()].seq;
    for (const GraphInput& input : facts.inputs[graph]) {
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
