#include "libgraphkit/analysis/order/launches.h"

#include <algorithm>
#include <iterator>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/node_changes.h"

namespace graphkit {

RunGraphs::RunGraphs(const Trace& trace) : trace_(trace), graphs_(trace.execs.size()) {
  for (size_t i = 0; i < graphs_.size(); ++i) graphs_[i] = trace.execs[i].graph;
}

GraphId RunGraphs::Of(const Launch& launch) {
  for (; next_ < trace_.exec_updates.size() && trace_.exec_updates[next_].seq < launch.seq;
       ++next_) {
    const ExecUpdate& update = trace_.exec_updates[next_];
    if (update.result == 0 && update.exec.index() < graphs_.size()) {
      graphs_[update.exec.index()] = update.graph;
    }
  }
  return launch.exec.index() < graphs_.size() ? graphs_[launch.exec.index()] : GraphId();
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
      if (!order.Before(earlier, later)) return LaunchPair{earlier, later};
    }
  }
  return std::nullopt;
}

namespace {

// Whether a node of the root graph that touches the block is, before `at`, as it was made: not
// given other parameters, and not switched off.
bool StillTouches(const Facts& facts, const NodeChanges& changes, GraphId root, BlockId block,
                  Seq at) {
  if (changes.empty()) return true;
  const auto touches = facts.lives.Touches(block);
  return std::ranges::any_of(touches, [&](const Touch& touch) {
    return facts.roots[facts.trace[touch.node].graph.index()] == root &&
           !changes.Changed(touch.node, at);
  });
}

// The new one may be made before the old one goes, as `x = load()` does: after the last launch
// before the free.
BlockId ReplacedBy(const Facts& facts, BlockId input, Seq at) {
  const Trace& trace = facts.trace;
  const Block& old = trace[input];
  const auto launch =
      std::ranges::lower_bound(trace.launches, old.free_requested, {}, &Launch::seq);
  const Seq since = launch == trace.launches.begin() ? old.free_requested : std::prev(launch)->seq;
  const auto begin =
      std::ranges::upper_bound(trace.blocks, std::max(since, old.allocated), {}, &Block::allocated);
  BlockId found;
  for (auto block = begin; block != trace.blocks.end() && block->allocated < at; ++block) {
    const auto id = BlockId(static_cast<size_t>(block - trace.blocks.begin()));
    const bool like =
        block->size == old.size && block->pool == old.pool && block->stream == old.stream;
    if (!like || block->free_requested < at || facts.lives[id].root.valid()) continue;
    if (!SameSite(trace, block->stack, old.stack)) continue;
    if (found.valid()) return {};
    found = id;
  }
  return found.valid() && trace[found].address != old.address ? found : BlockId();
}

// Whether a block that was freed is still what it was at `at`.
bool StillThere(const Trace& trace, BlockId input, Seq at) {
  const Block& block = trace[input];
  if (!block.pool.valid() || trace[block.pool].kind != PoolKind::kPrivate) return false;
  if (trace[block.pool].destroyed < at) return false;
  if (!block.segment.valid() || trace[block.segment].freed < at) return false;
  const auto begin =
      std::ranges::upper_bound(trace.blocks, block.free_requested, {}, &Block::allocated);
  const auto end = std::ranges::lower_bound(trace.blocks, at, {}, &Block::allocated);
  return std::none_of(begin, std::max(begin, end), [&](const Block& other) {
    return other.segment == block.segment && !other.graph.valid() &&
           other.address < block.address + block.size && block.address < other.address + other.size;
  });
}

}  // namespace

std::vector<std::vector<StaleInput>> FindStaleInputs(const Facts& facts) {
  const Trace& trace = facts.trace;
  const auto launches = LaunchesByGraph(trace);
  const NodeChanges changes(trace);
  std::vector<std::vector<StaleInput>> stale(trace.graphs.size());
  for (size_t graph = 0; graph < stale.size(); ++graph) {
    if (launches[graph].empty()) continue;
    const Seq last = trace.launches[launches[graph].back()].seq;
    for (const GraphInput& input : facts.inputs[graph]) {
      if (trace[input.block].free_requested >= last) continue;
      if (StillThere(trace, input.block, last)) continue;
      if (!StillTouches(facts, changes, GraphId(graph), input.block, last)) continue;
      stale[graph].push_back({input, ReplacedBy(facts, input.block, last)});
    }
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
