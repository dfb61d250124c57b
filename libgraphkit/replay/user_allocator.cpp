#include "libgraphkit/replay/user_allocator.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/replay/allocator_calls.h"

namespace graphkit {
namespace {

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

class GraphPlacer {
 public:
  GraphPlacer(const Facts& facts, const graphkit_allocator_table& table, const Grouped& streams,
              PlannedMemory* planned)
      : facts_(facts),
        table_(table),
        streams_(streams),
        first_arena_(static_cast<uint32_t>(planned->arenas.size())),
        planned_(planned),
        query_{facts.Blocks(MarkerRule::kAtFree),
               facts.Blocks(MarkerRule::kLastUse),
               facts.trace,
               {}} {}

  Result<void> Place(GraphId graph) {
    const std::vector<PoolBlocks> pools = BlocksByPool(facts_, graph);
    if (pools.empty()) return {};
    for (const PoolBlocks& pool : pools) {
      planned_->arenas.push_back({.graph = graph, .pool = pool.pool, .blocks = pool.blocks.size()});
    }
    void* allocator = table_.capture_begin(graph.value);
    Result<void> result;
    for (const AllocatorCall& call : CallsOf(facts_, pools, streams_)) {
      if (result = Make(call, allocator); !result) break;
    }
    table_.capture_end(allocator);
    return result;
  }

 private:
  Result<void> Make(const AllocatorCall& call, void* allocator) {
    const uint32_t stream = call.stream ? call.stream.value : GRAPHKIT_NO_STREAM;
    if (call.kind == AllocatorCall::Kind::kFree) {
      table_.free(allocator, call.block.value);
      return {};
    }
    if (call.kind == AllocatorCall::Kind::kRecordStream) {
      table_.record_stream(allocator, call.block.value, stream);
      return {};
    }
    query_.block = call.block;
    const graphkit_order order{&query_, AfterFree, AfterLastUse};
    const Bytes size = RoundedSize(facts_.trace[call.block]);
    const uint32_t number = first_arena_ + call.pool;
    PlannedArena& arena = planned_->arenas[number];
    const Bytes offset = table_.malloc(allocator, call.block.value, size, stream,
                                       arena.pool ? arena.pool.value : 0, &order);
    if (offset == GRAPHKIT_NO_MEMORY || offset + size < offset) {
      return Error{.message = std::string(table_.name) + " has no memory for block " +
                              std::to_string(call.block.value)};
    }
    planned_->placements.push_back({call.block.value, number, offset, size});
    arena.peak = std::max(arena.peak, offset + size);
    return {};
  }

  const Facts& facts_;
  const graphkit_allocator_table& table_;
  const Grouped& streams_;
  uint32_t first_arena_;  // of the graph
  PlannedMemory* planned_;
  Query query_;
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
    if (Result<void> ok = GraphPlacer(facts, table, streams, &planned).Place(GraphId(i)); !ok) {
      return ok.error();
    }
  }
  for (const PlannedArena& arena : planned.arenas) planned.peak += arena.peak;
  return planned;
}

}  // namespace graphkit
