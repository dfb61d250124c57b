#include "libgraphkit/replay/user_allocator.h"

#include <dlfcn.h>

#include <map>

#include "libgraphkit/parallel.h"
#include "libgraphkit/replay/graph_replayer.h"

namespace graphkit {
namespace {

// The rows of Trace::block_streams by block.
Grouped StreamsOfBlocks(const Trace& trace) {
  return Group(trace.block_streams, trace.blocks.size(),
               [](const BlockStream& use) { return use.block; });
}

// Sets the offsets of the graph's blocks, in their pools' arenas. An error: the block without
// memory.
template <typename Placer>
Result<void> PlaceGraph(const Facts& facts, std::span<const PoolBlocks> pools,
                        const Grouped& streams, Placer* placer, std::vector<Bytes>* offsets) {
  for (const MemoryEvent& call : EventsOf(facts, pools, &streams)) {
    if (call.kind == MemoryEvent::Kind::kFree) {
      placer->Free(call);
    } else if (call.kind == MemoryEvent::Kind::kRecordStream) {
      placer->RecordStream(call);
    } else {
      const Bytes size = RoundedSize(facts.trace[call.block]);
      const std::optional<Bytes> offset = placer->Malloc(call, size);
      if (!offset || *offset + size < *offset) {
        return Error{.message = "no memory for block " + std::to_string(call.block.value)};
      }
      (*offsets)[call.block.index()] = *offset;
    }
  }
  return {};
}

// The questions that a malloc may ask.
struct Query {
  BlockOrder at_free;
  BlockOrder last_use;
  const Trace& trace;
  BlockId block;

  int After(const BlockOrder& order, uint32_t earlier) const {
    if (earlier >= trace.blocks.size()) return 0;
    if (trace.blocks[earlier].free_requested >= trace[block].allocated) return 0;
    return order.Before(BlockId(earlier), block) ? 1 : 0;
  }
};

template <BlockOrder Query::*order>
int After(void* context, uint32_t earlier) {
  const Query& query = *static_cast<const Query*>(context);
  return query.After(query.*order, earlier);
}

class UserPlacer {
 public:
  UserPlacer(const Facts& facts, const graphkit_allocator_table& table, GraphId graph)
      : table_(table),
        query_{
            facts.Blocks(MarkerRule::kAtFree), facts.Blocks(MarkerRule::kLastUse), facts.trace, {}},
        allocator_(table.capture_begin(graph.value)) {}
  UserPlacer(const UserPlacer&) = delete;
  UserPlacer& operator=(const UserPlacer&) = delete;
  ~UserPlacer() { table_.capture_end(allocator_); }

  std::optional<Bytes> Malloc(const MemoryEvent& call, Bytes size) {
    query_.block = call.block;
    const graphkit_order order{&query_, After<&Query::at_free>, After<&Query::last_use>};
    const PoolId pool = query_.trace[call.block].pool;
    const Bytes offset = table_.malloc(allocator_, call.block.value, size, NumberOf(call.stream),
                                       pool ? pool.value : 0, &order);
    return offset == GRAPHKIT_NO_MEMORY ? std::nullopt : std::optional(offset);
  }
  void RecordStream(const MemoryEvent& call) {
    table_.record_stream(allocator_, call.block.value, NumberOf(call.stream));
  }
  void Free(const MemoryEvent& call) { table_.free(allocator_, call.block.value); }

 private:
  static uint32_t NumberOf(StreamId stream) { return stream ? stream.value : GRAPHKIT_NO_STREAM; }

  const graphkit_allocator_table& table_;
  Query query_;
  void* allocator_;
};

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

Error CantLoad(const std::string& path, const std::string& why) {
  return Error{.message = why,
               .hint = "an allocator exports graphkit_allocator (allocator_abi.h)",
               .file = path};
}

}  // namespace

Result<UserAllocator> UserAllocator::Load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return CantLoad(path, "can't be loaded");
  UserAllocator allocator;
  allocator.library_ = std::shared_ptr<void>(library, dlclose);
  const auto get =
      reinterpret_cast<graphkit_allocator_function>(dlsym(library, "graphkit_allocator"));
  if (get == nullptr) return CantLoad(path, "has no function graphkit_allocator");
  allocator.table_ = get();
  if (allocator.table_ == nullptr || allocator.table_->abi != GRAPHKIT_ALLOCATOR_ABI) {
    return CantLoad(path, "is made for another version of the interface");
  }
  return allocator;
}

Result<std::vector<Bytes>> PlaceByAllocator(const Facts& facts,
                                            const graphkit_allocator_table& table) {
  std::vector<Bytes> offsets(facts.trace.blocks.size());
  const Grouped streams = StreamsOfBlocks(facts.trace);
  for (size_t i = 0; i < facts.blocks().size(); ++i) {
    const std::vector<PoolBlocks> pools = BlocksByPool(facts, GraphId(i));
    if (pools.empty()) continue;
    UserPlacer placer(facts, table, GraphId(i));
    Result<void> placed = PlaceGraph(facts, pools, streams, &placer, &offsets);
    if (!placed) {
      return Error{.message = std::string(table.name) + " has " + placed.error().message};
    }
  }
  return offsets;
}

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
  for (GraphReplay& graph : replay.graphs) {
    graph.figures.peak_reserved = reserved[graph.graph.index()];
  }
  SumUpGraphs(facts, sharers, &replay);
  const std::vector<GraphReplay*> by_graph = ByGraph(facts, &replay);
  for (size_t i = 0; options.verify && i < sharers.size(); ++i) {
    if (sharers[i].graphs.size() == 1) continue;
    VerifySharers(facts, sharers[i], &ReplayedPool::arena, by_graph);
  }
  const auto safe = [](const GraphReplay& graph) { return graph.unsafe.empty(); };
  replay.verified = options.verify && std::ranges::all_of(replay.graphs, safe);
  return replay;
}

}  // namespace graphkit
