#include "tools/graphkit/replay/user_allocator.h"

#include <dlfcn.h>

#include "libgraphkit/replay/place_graph.h"

namespace graphkit {
namespace {

// The questions that a malloc may ask.
struct Query {
  BlockOrder at_free;
  BlockOrder last_use;
  const Ran& trace;
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

}  // namespace graphkit
