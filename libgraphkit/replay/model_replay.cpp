#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/replay/allocator_calls.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {
namespace {

// A graph's pools, an arena each, and what the models reserved.
struct PlacedGraph {
  PlannedMemory plan;
  Bytes reserved = 0;
};

void PlacePool(const Facts& facts, ModelKind kind, const PoolBlocks& pool, const Grouped& streams,
               PlacedGraph* placed) {
  using Kind = AllocatorCall::Kind;
  PlannedMemory* planned = &placed->plan;
  const auto arena = static_cast<uint32_t>(planned->arenas.size() - 1);
  const BlockOrder order = facts.Blocks(MarkerRule::kAtFree);
  BumpDriver driver;
  const std::unique_ptr<AllocatorModel> model = InfoOf(kind).make(&driver);
  for (const AllocatorCall& call : CallsOf(facts, {&pool, 1}, streams)) {
    const Block& block = facts.trace[call.block];
    const Bytes size = RoundedSize(block);
    if (size == 0) continue;
    if (call.kind == Kind::kFree) {
      model->Free(call.block.value, call.stream.value);
    } else if (call.kind == Kind::kRecordStream) {
      const bool other = call.stream.valid() && call.stream != block.stream;
      if (other && call.seq < block.free_requested) {
        model->RecordStream(call.block.value, call.stream.value);
      }
    } else {
      const auto after = [&](uint32_t freed) { return order.Before(BlockId(freed), call.block); };
      const std::optional<Address> address =
          model->Malloc({call.block.value, size, call.stream.value}, after);
      const Bytes offset = *address - BumpDriver::kFirstAddress;
      planned->placements.push_back({call.block.value, arena, offset, size});
      Bytes& peak = planned->arenas[arena].peak;
      peak = std::max(peak, offset + size);
    }
  }
  for (const BlockId block : pool.blocks) {
    if (RoundedSize(facts.trace[block]) == 0) planned->placements.push_back({block.value, arena});
  }
  placed->reserved += model->reserved();
}

}  // namespace

PolicyReplay ReplayModel(const Facts& facts, ModelKind kind, const ReplayOptions& options) {
  const Grouped streams = StreamsOfBlocks(facts.trace);
  std::vector<PlacedGraph> placed(facts.blocks().size());
  ForEachGraph(facts.trace, facts.blocks(), [&](GraphId graph) {
    PlacedGraph& of_graph = placed[graph.index()];
    for (const PoolBlocks& pool : BlocksByPool(facts, graph)) {
      of_graph.plan.arenas.push_back(
          {.graph = graph, .pool = pool.pool, .blocks = pool.blocks.size()});
      PlacePool(facts, kind, pool, streams, &of_graph);
    }
  });
  std::vector<PlannedMemory> plans;
  for (PlacedGraph& of_graph : placed) plans.push_back(std::move(of_graph.plan));
  const PlannedMemory planned = JoinPlans(std::move(plans));
  PolicyReplay replay = ReplayPlan(facts, planned, options, InfoOf(kind).name);
  replay.figures.peak_reserved = 0;
  for (GraphReplay& graph : replay.graphs) {
    graph.figures.peak_reserved = placed[graph.graph.index()].reserved;
    replay.figures.peak_reserved += graph.figures.peak_reserved;
  }
  return replay;
}

}  // namespace graphkit
