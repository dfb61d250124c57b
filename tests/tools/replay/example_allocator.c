/* An allocator for `graphkit replay --allocator ./libexample_allocator.so`: first fit among the
   blocks that the order puts before the new one, in plain C. EXAMPLE_UNSAFE in the environment
   makes it forget to ask. */
#include <stdlib.h>

#include "tools/graphkit/replay/allocator_abi.h"

typedef struct Placed {
  uint32_t block;
  uint32_t pool;
  uint64_t offset;
  uint64_t size;
  int freed;
} Placed;

typedef struct Arena {
  Placed* placed;
  size_t count;
  size_t room;
} Arena;

static void* Begin(uint32_t graph) {
  (void)graph;
  return calloc(1, sizeof(Arena));
}

static void End(void* allocator) {
  free(((Arena*)allocator)->placed);
  free(allocator);
}

static uint64_t Malloc(void* allocator, uint32_t block, uint64_t size, uint32_t stream,
                       uint32_t pool, const graphkit_order* order) {
  Arena* arena = allocator;
  const int unsafe = getenv("EXAMPLE_UNSAFE") != NULL;
  uint64_t offset = 0;
  (void)stream;
  for (size_t i = 0; i < arena->count;) {
    const Placed* p = &arena->placed[i++];
    const int apart =
        p->pool != pool || p->offset >= offset + size || p->offset + p->size <= offset;
    if (apart || (p->freed && (unsafe || order->after_last_use(order->context, p->block))))
      continue;
    offset = p->offset + p->size;
    i = 0;
  }
  if (arena->count == arena->room) {
    arena->room = 2 * arena->room + 16;
    arena->placed = realloc(arena->placed, arena->room * sizeof(Placed));
  }
  arena->placed[arena->count++] = (Placed){block, pool, offset, size, 0};
  return offset;
}

static void RecordStream(void* allocator, uint32_t block, uint32_t stream) {
  (void)allocator;
  (void)block;
  (void)stream;
}

static void Free(void* allocator, uint32_t block) {
  Arena* arena = allocator;
  for (size_t i = 0; i < arena->count; ++i) {
    if (arena->placed[i].block == block) arena->placed[i].freed = 1;
  }
}

const graphkit_allocator_table* graphkit_allocator(void) {
  static const graphkit_allocator_table table = {
      GRAPHKIT_ALLOCATOR_ABI, "example", Begin, End, Malloc, RecordStream, Free};
  return &table;
}
