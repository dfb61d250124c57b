#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {
namespace {

struct Call {
  enum class Kind : uint8_t { kMalloc, kStream, kFree };
  Seq seq = 0;
  Kind kind = Kind::kMalloc;
  BlockId block;
  StreamId stream = {};
};

std::vector<Call> CallsOf(const Facts& facts, const PoolBlocks& pool) {
  const Trace& trace = facts.trace;
  std::vector<bool> in_pool(trace.blocks.size());
  std::vector<Call> calls;
  for (const BlockId block : pool.blocks) {
    const Block& b = trace[block];
    if (RoundedSize(b) == 0) continue;
    in_pool[block.index()] = true;
    calls.push_back({b.allocated, Call::Kind::kMalloc, block, b.stream});
    if (!facts.lives[block].freed) continue;
    calls.push_back({b.free_requested, Call::Kind::kFree, block,
                     b.free_stream.valid() ? b.free_stream : b.stream});
  }
  for (const BlockStream& use : trace.block_streams) {
    const bool other = use.stream.valid() && use.stream != trace[use.block].stream;
    if (in_pool[use.block.index()] && other && use.seq < trace[use.block].free_requested) {
      calls.push_back({use.seq, Call::Kind::kStream, use.block, use.stream});
    }
  }
  std::ranges::stable_sort(calls, {}, &Call::seq);
  return calls;
}

// Places the pool's blocks; returns what the model reserved.
Bytes PlacePool(const Facts& facts, ModelKind kind, const PoolBlocks& pool, uint32_t arena,
                PlannedMemory* planned) {
  const BlockOrder order = facts.Blocks(MarkerRule::kAtFree);
  BumpDriver driver;
  const std::unique_ptr<AllocatorModel> model = MakeModel(kind, &driver);
  for (const Call& call : CallsOf(facts, pool)) {
    if (call.kind == Call::Kind::kFree) {
      model->Free(call.block.value, call.stream.value);
    } else if (call.kind == Call::Kind::kStream) {
      model->RecordStream(call.block.value, call.stream.value);
    } else {
      const Bytes size = RoundedSize(facts.trace[call.block]);
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
  for (size_t i = 0; i < facts.blocks.size(); ++i) {
    for (const PoolBlocks& pool : BlocksByPool(facts, GraphId(i))) {
      const auto arena = static_cast<uint32_t>(planned.arenas.size());
      planned.arenas.push_back(
          {.graph = GraphId(i), .pool = pool.pool, .blocks = pool.blocks.size()});
      reserved[GraphId(i)] += PlacePool(facts, kind, pool, arena, &planned);
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
