#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/replay/allocator_calls.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {
namespace {

// Places the pool's blocks; returns what the model reserved.
Bytes PlacePool(const Facts& facts, ModelKind kind, const PoolBlocks& pool, const Grouped& streams,
                PlannedMemory* planned) {
  using Kind = AllocatorCall::Kind;
  const auto arena = static_cast<uint32_t>(planned->arenas.size() - 1);
  const BlockOrder order = facts.Blocks(MarkerRule::kAtFree);
  BumpDriver driver;
  const std::unique_ptr<AllocatorModel> model = MakeModel(kind, &driver);
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
  return model->figures().peak_reserved;
}

}  // namespace

PolicyReplay ReplayModel(const Facts& facts, ModelKind kind, const ReplayOptions& options) {
  PlannedMemory planned;
  planned.of_trace = true;
  std::map<GraphId, Bytes> reserved;
  const Grouped streams = StreamsOfBlocks(facts.trace);
  for (size_t i = 0; i < facts.blocks.size(); ++i) {
    for (const PoolBlocks& pool : BlocksByPool(facts, GraphId(i))) {
      planned.arenas.push_back(
          {.graph = GraphId(i), .pool = pool.pool, .blocks = pool.blocks.size()});
      reserved[GraphId(i)] += PlacePool(facts, kind, pool, streams, &planned);
    }
  }
  PolicyReplay replay = ReplayPlan(facts, planned, options, InfoOf(kind).name);
  replay.figures.peak_reserved = 0;
  for (GraphReplay& graph : replay.graphs) {
    graph.figures.peak_reserved = reserved[graph.graph];
    replay.figures.peak_reserved += reserved[graph.graph];
  }
  return replay;
}

}  // namespace graphkit
