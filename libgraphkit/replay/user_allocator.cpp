#include "libgraphkit/replay/user_allocator.h"

#include <dlfcn.h>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {
namespace {

struct AllocatorCall {
  enum class Kind : uint8_t { kMalloc, kRecordStream, kFree };
  Seq seq = 0;
  Kind kind = Kind::kMalloc;
  BlockId block;
  StreamId stream = {};
  uint32_t pool = 0;  // of the graph's
};

// The rows of Trace::block_streams by block.
Grouped StreamsOfBlocks(const Trace& trace) {
  return Group(trace.block_streams, trace.blocks.size(),
               [](const BlockStream& use) { return use.block; });
}

// In capture order. `streams`: StreamsOfBlocks.
std::vector<AllocatorCall> CallsOf(const Facts& facts, std::span<const PoolBlocks> pools,
                                   const Grouped& streams) {
  using Kind = AllocatorCall::Kind;
  std::vector<AllocatorCall> calls;
  for (uint32_t pool = 0; pool < pools.size(); ++pool) {
    for (const BlockId block : pools[pool].blocks) {
      const Block& b = facts.trace[block];
      calls.push_back({b.allocated, Kind::kMalloc, block, b.stream, pool});
      for (const uint32_t row : streams.Of(block.index())) {
        const BlockStream& use = facts.trace.block_streams[row];
        calls.push_back({use.seq, Kind::kRecordStream, block, use.stream, pool});
      }
      if (!facts.lives()[block].freed) continue;
      calls.push_back({b.free_requested, Kind::kFree, block,
                       b.free_stream.valid() ? b.free_stream : b.stream, pool});
    }
  }
  std::ranges::stable_sort(calls, {}, &AllocatorCall::seq);
  return calls;
}

// An allocator that places the blocks of one graph.
class Placer {
 public:
  virtual ~Placer() = default;
  // An offset in the pool's arena. Nothing: no memory. `size`: rounded.
  virtual std::optional<Bytes> Malloc(const AllocatorCall& call, Bytes size) = 0;
  virtual void RecordStream(const AllocatorCall& call) = 0;
  virtual void Free(const AllocatorCall& call) = 0;
};

// Adds the graph's pools, an arena each, and its blocks. An error: the block without memory.
Result<void> PlaceGraph(const Facts& facts, GraphId graph, std::span<const PoolBlocks> pools,
                        const Grouped& streams, Placer* placer, PlannedMemory* planned) {
  const auto first = static_cast<uint32_t>(planned->arenas.size());
  for (const PoolBlocks& pool : pools) {
    planned->arenas.push_back({.graph = graph, .pool = pool.pool, .blocks = pool.blocks.size()});
  }
  for (const AllocatorCall& call : CallsOf(facts, pools, streams)) {
    if (call.kind == AllocatorCall::Kind::kFree) {
      placer->Free(call);
    } else if (call.kind == AllocatorCall::Kind::kRecordStream) {
      placer->RecordStream(call);
    } else {
      const Bytes size = RoundedSize(facts.trace[call.block]);
      const std::optional<Bytes> offset = placer->Malloc(call, size);
      if (!offset || *offset + size < *offset) {
        return Error{.message = "no memory for block " + std::to_string(call.block.value)};
      }
      PlannedArena& arena = planned->arenas[first + call.pool];
      planned->placements.push_back({call.block.value, first + call.pool, *offset, size});
      arena.peak = std::max(arena.peak, *offset + size);
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

int AfterFree(void* context, uint32_t earlier) {
  const Query& query = *static_cast<const Query*>(context);
  return query.After(query.at_free, earlier);
}

int AfterLastUse(void* context, uint32_t earlier) {
  const Query& query = *static_cast<const Query*>(context);
  return query.After(query.last_use, earlier);
}

class UserPlacer final : public Placer {
 public:
  UserPlacer(const Facts& facts, const graphkit_allocator_table& table, GraphId graph,
             std::span<const PoolBlocks> pools)
      : table_(table),
        pools_(pools),
        query_{
            facts.Blocks(MarkerRule::kAtFree), facts.Blocks(MarkerRule::kLastUse), facts.trace, {}},
        allocator_(table.capture_begin(graph.value)) {}
  UserPlacer(const UserPlacer&) = delete;
  UserPlacer& operator=(const UserPlacer&) = delete;
  ~UserPlacer() override { table_.capture_end(allocator_); }

  std::optional<Bytes> Malloc(const AllocatorCall& call, Bytes size) override {
    query_.block = call.block;
    const graphkit_order order{&query_, AfterFree, AfterLastUse};
    const PoolId pool = pools_[call.pool].pool;
    const Bytes offset = table_.malloc(allocator_, call.block.value, size, NumberOf(call.stream),
                                       pool ? pool.value : 0, &order);
    return offset == GRAPHKIT_NO_MEMORY ? std::nullopt : std::optional(offset);
  }
  void RecordStream(const AllocatorCall& call) override {
    table_.record_stream(allocator_, call.block.value, NumberOf(call.stream));
  }
  void Free(const AllocatorCall& call) override { table_.free(allocator_, call.block.value); }

 private:
  static uint32_t NumberOf(StreamId stream) { return stream ? stream.value : GRAPHKIT_NO_STREAM; }

  const graphkit_allocator_table& table_;
  std::span<const PoolBlocks> pools_;
  Query query_;
  void* allocator_;
};

// A model for each pool. Blocks without bytes lie at 0.
class ModelPlacer final : public Placer {
 public:
  ModelPlacer(const Facts& facts, ModelKind kind, size_t pools)
      : facts_(facts), order_(facts.Blocks(MarkerRule::kAtFree)), drivers_(pools) {
    for (BumpDriver& driver : drivers_) models_.push_back(InfoOf(kind).make(&driver));
  }

  std::optional<Bytes> Malloc(const AllocatorCall& call, Bytes size) override {
    if (size == 0) return 0;
    const auto after = [&](uint32_t freed) { return order_.Before(BlockId(freed), call.block); };
    const std::optional<Address> address =
        models_[call.pool]->Malloc({call.block.value, size, call.stream.value}, after);
    return *address - BumpDriver::kFirstAddress;
  }
  void RecordStream(const AllocatorCall& call) override {
    const Block& block = facts_.trace[call.block];
    const bool other = call.stream.valid() && call.stream != block.stream;
    if (!other || call.seq >= block.free_requested || RoundedSize(block) == 0) return;
    models_[call.pool]->RecordStream(call.block.value, call.stream.value);
  }
  void Free(const AllocatorCall& call) override {
    if (RoundedSize(facts_.trace[call.block]) == 0) return;
    models_[call.pool]->Free(call.block.value, call.stream.value);
  }
  Bytes reserved() const {
    Bytes sum = 0;
    for (const auto& model : models_) sum += model->reserved();
    return sum;
  }

 private:
  const Facts& facts_;
  BlockOrder order_;
  std::vector<BumpDriver> drivers_;
  std::vector<std::unique_ptr<AllocatorModel>> models_;
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

Result<PlannedMemory> PlaceByAllocator(const Facts& facts, const graphkit_allocator_table& table) {
  PlannedMemory planned;
  planned.of_trace = true;
  const Grouped streams = StreamsOfBlocks(facts.trace);
  for (size_t i = 0; i < facts.blocks().size(); ++i) {
    const std::vector<PoolBlocks> pools = BlocksByPool(facts, GraphId(i));
    if (pools.empty()) continue;
    UserPlacer placer(facts, table, GraphId(i), pools);
    Result<void> placed = PlaceGraph(facts, GraphId(i), pools, streams, &placer, &planned);
    if (!placed) {
      return Error{.message = std::string(table.name) + " has " + placed.error().message};
    }
  }
  for (const PlannedArena& arena : planned.arenas) planned.peak += arena.peak;
  return planned;
}

PolicyReplay ReplayModel(const Facts& facts, ModelKind kind, const ReplayOptions& options) {
  const Grouped streams = StreamsOfBlocks(facts.trace);
  std::vector<PlannedMemory> plans(facts.blocks().size());
  std::vector<Bytes> reserved(plans.size());
  ForEachGraph(facts.trace, facts.blocks(), [&](GraphId graph) {
    const std::vector<PoolBlocks> pools = BlocksByPool(facts, graph);
    ModelPlacer placer(facts, kind, pools.size());
    const Result<void> placed =
        PlaceGraph(facts, graph, pools, streams, &placer, &plans[graph.index()]);
    if (placed) reserved[graph.index()] = placer.reserved();  // the driver has no end
  });
  PolicyReplay replay = ReplayPlan(facts, JoinPlans(std::move(plans)), options, InfoOf(kind).name);
  replay.figures.peak_reserved = 0;
  for (GraphReplay& graph : replay.graphs) {
    graph.figures.peak_reserved = reserved[graph.graph.index()];
    replay.figures.peak_reserved += graph.figures.peak_reserved;
  }
  return replay;
}

}  // namespace graphkit
