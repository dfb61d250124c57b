#include <map>
#include <memory>

#include "libgraphkit/parallel.h"
#include "libgraphkit/replay/place_graph.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {
namespace {

// A model for each pool of graphs that share them. Blocks without bytes lie at 0.
class ModelPlacer {
 public:
  ModelPlacer(const Facts& facts, ModelKind kind)
      : facts_(facts), order_(facts.Blocks(MarkerRule::kAtFree)), make_(InfoOf(kind).make) {}

  // The next graph, before its first malloc: what was freed since the capture before it.
  void BeginGraph(std::span<const PoolBlocks> pools) {
    Seq begin = kNever;
    for (const PoolBlocks& pool : pools) {
      for (const BlockId block : pool.blocks)
        begin = std::min(begin, facts_.trace[block].allocated);
    }
    for (auto& [id, pool] : pools_) pool.model->EndCapture();
    std::erase_if(living_, [&](BlockId block) {
      const Block& b = facts_.trace[block];
      if (b.free_requested >= begin) return false;
      Free({.block = block, .stream = b.free_stream.valid() ? b.free_stream : b.stream});
      return true;
    });
    for (const PoolBlocks& pool : pools) {
      std::ranges::copy_if(pool.blocks, std::back_inserter(living_),
                           [&](BlockId block) { return !facts_.lives()[block].freed; });
    }
  }

  std::optional<Bytes> Malloc(const MemoryEvent& call, Bytes size) {
    if (size == 0) return 0;
    const GraphId graph = facts_.lives()[call.block].root;
    const auto after = [&](uint32_t freed) {  // graphs run one after the other
      return facts_.lives()[BlockId(freed)].root != graph ||
             order_.Before(BlockId(freed), call.block);
    };
    const std::optional<Address> address =
        ModelOf(call.block).Malloc({call.block.value, size, call.stream.value}, after);
    return *address - BumpDriver::kFirstAddress;
  }
  void RecordStream(const MemoryEvent& call) {
    const Block& block = facts_.trace[call.block];
    const bool other = call.stream.valid() && call.stream != block.stream;
    if (!other || call.seq >= block.free_requested || RoundedSize(block) == 0) return;
    ModelOf(call.block).RecordStream(call.block.value, call.stream.value);
  }
  void Free(const MemoryEvent& call) {
    if (RoundedSize(facts_.trace[call.block]) == 0) return;
    ModelOf(call.block).Free(call.block.value, call.stream.value);
  }
  Bytes reserved() const {
    Bytes sum = 0;
    for (const auto& [id, pool] : pools_) sum += pool.model->reserved();
    return sum;
  }

 private:
  struct Pool {
    BumpDriver driver = BumpDriver();
    std::unique_ptr<AllocatorModel> model = nullptr;
  };

  AllocatorModel& ModelOf(BlockId block) {
    Pool& pool = pools_[facts_.trace[block].pool];
    if (pool.model == nullptr) pool.model = make_(&pool.driver);
    return *pool.model;
  }

  const Facts& facts_;
  BlockOrder order_;
  std::unique_ptr<AllocatorModel> (*make_)(DriverMemory* driver);
  std::map<PoolId, Pool> pools_;
  std::vector<BlockId> living_;  // not freed in their captures
};

}  // namespace

PolicyReplay ReplayModel(const Facts& facts, ModelKind kind, const ReplayOptions& options) {
  const Grouped streams = StreamsOfBlocks(facts.trace);
  const std::vector<PoolSharers> sharers = FindPoolSharers(facts);
  std::vector<Bytes> offsets(facts.trace.blocks.size());
  std::vector<Bytes> reserved(facts.blocks().size());
  ParallelFor(sharers.size(), ThreadsFor(facts.trace), [&](size_t i) {
    ModelPlacer placer(facts, kind);
    for (const GraphId graph : sharers[i].graphs) {
      const std::vector<PoolBlocks> pools = BlocksByPool(facts, graph);
      placer.BeginGraph(pools);
      const Result<void> placed = PlaceGraph(facts, pools, streams, &placer, &offsets);
      if (placed) reserved[graph.index()] = placer.reserved();  // the driver has no end
    }
  });
  PolicyReplay replay = ReplayOffsets(facts, offsets, options, InfoOf(kind).name, sharers);
  for (GraphReplay& graph : replay.graphs)
    graph.figures.peak_reserved = reserved[graph.graph.index()];
  SumUpGraphs(facts, sharers, &replay);
  if (options.verify) VerifyArenas(facts, sharers, MarkerRule::kAtFree, &replay);
  return replay;
}

}  // namespace graphkit
