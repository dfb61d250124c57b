#include "libgraphkit/replay/user_allocator.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {
namespace {

// What a malloc may ask.
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

struct UserCall {
  enum class Kind : uint8_t { kMalloc, kStream, kFree };
  Seq seq = 0;
  Kind kind = Kind::kMalloc;
  BlockId block;
  StreamId stream = {};
  uint32_t arena = 0;
};

class GraphPlacer {
 public:
  GraphPlacer(const Facts& facts, const graphkit_allocator_table& table, PlannedMemory* planned)
      : facts_(facts),
        table_(table),
        planned_(planned),
        query_{facts.Blocks(MarkerRule::kAtFree),
               facts.Blocks(MarkerRule::kLastUse),
               facts.trace,
               {}} {}

  Result<void> Place(GraphId graph) {
    arena_of_.assign(facts_.trace.blocks.size(), kNoArena);
    for (const PoolBlocks& pool : BlocksByPool(facts_, graph)) AddPool(graph, pool);
    if (calls_.empty()) return {};
    for (const BlockStream& use : facts_.trace.block_streams) {
      if (arena_of_[use.block.index()] == kNoArena) continue;
      calls_.push_back({use.seq, UserCall::Kind::kStream, use.block, use.stream});
    }
    std::ranges::stable_sort(calls_, {}, &UserCall::seq);
    void* allocator = table_.capture_begin(graph.value);
    Result<void> result;
    for (const UserCall& call : calls_) {
      if (result = Make(call, allocator); !result) break;
    }
    table_.capture_end(allocator);
    return result;
  }

 private:
  static constexpr uint32_t kNoArena = 0xffffffffu;

  void AddPool(GraphId graph, const PoolBlocks& pool) {
    const auto arena = static_cast<uint32_t>(planned_->arenas.size());
    planned_->arenas.push_back({.graph = graph, .pool = pool.pool, .blocks = pool.blocks.size()});
    for (const BlockId block : pool.blocks) {
      arena_of_[block.index()] = arena;
      const Block& b = facts_.trace[block];
      calls_.push_back({b.allocated, UserCall::Kind::kMalloc, block, b.stream, arena});
      if (facts_.lives[block].freed) {
        calls_.push_back({b.free_requested, UserCall::Kind::kFree, block});
      }
    }
  }

  Result<void> Make(const UserCall& call, void* allocator) {
    const uint32_t stream = call.stream ? call.stream.value : GRAPHKIT_NO_STREAM;
    if (call.kind == UserCall::Kind::kFree) {
      table_.free(allocator, call.block.value);
      return {};
    }
    if (call.kind == UserCall::Kind::kStream) {
      table_.record_stream(allocator, call.block.value, stream);
      return {};
    }
    query_.block = call.block;
    const graphkit_order order{&query_, AfterFree, AfterLastUse};
    const Bytes size = RoundedSize(facts_.trace[call.block]);
    PlannedArena& arena = planned_->arenas[call.arena];
    const Bytes offset = table_.malloc(allocator, call.block.value, size, stream,
                                       arena.pool ? arena.pool.value : 0, &order);
    if (offset == GRAPHKIT_NO_MEMORY || offset + size < offset) {
      return Error{.message = std::string(table_.name) + " has no memory for block " +
                              std::to_string(call.block.value)};
    }
    planned_->placements.push_back({call.block.value, call.arena, offset, size});
    arena.peak = std::max(arena.peak, offset + size);
    return {};
  }

  const Facts& facts_;
  const graphkit_allocator_table& table_;
  PlannedMemory* planned_;
  Query query_;
  std::vector<uint32_t> arena_of_;  // by block
  std::vector<UserCall> calls_;
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
  for (size_t i = 0; i < facts.blocks.size(); ++i) {
    if (Result<void> ok = GraphPlacer(facts, table, &planned).Place(GraphId(i)); !ok) {
      return ok.error();
    }
  }
  for (const PlannedArena& arena : planned.arenas) planned.peak += arena.peak;
  return planned;
}

}  // namespace graphkit
