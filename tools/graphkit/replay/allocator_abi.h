/* A user's allocator in a replay: `graphkit replay trace.json --allocator ./libmine.so`.

   The library exports one C function, graphkit_allocator, that returns a table of what the replay
   calls. For each graph of the trace an allocator is created, told of every allocation, every use
   on another stream, and every free, in capture order, and destroyed. It says where each block
   lies, as an offset in one arena for each pool; the replay measures what that takes, and with
   --verify finds out whether it was safe. docs/replay.md.

   Ids are those of the trace. Nothing here may throw across the boundary. */
#ifndef GRAPHKIT_ALLOCATOR_ABI_H
#define GRAPHKIT_ALLOCATOR_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRAPHKIT_ALLOCATOR_ABI 1
#define GRAPHKIT_NO_STREAM 0xffffffffu
#define GRAPHKIT_NO_MEMORY UINT64_MAX /* returned by malloc: the replay ends */

/* What may be asked during malloc, of the block that is being allocated. */
typedef struct graphkit_order {
  void* context;
  /* Whether the new block may lie where `earlier` lay: 1 when all uses of `earlier` (known by its
     free and its streams) are over before the new block can be touched, in every execution of the
     graph. 0 for a block whose free wasn't requested so far. */
  int (*after)(void* context, uint32_t earlier);
  /* The same, by the last nodes that touch `earlier`. */
  int (*after_last_use)(void* context, uint32_t earlier);
} graphkit_order;

typedef struct graphkit_allocator_table {
  uint32_t abi; /* GRAPHKIT_ALLOCATOR_ABI */
  const char* name;
  void* (*capture_begin)(uint32_t graph);
  void (*capture_end)(void* allocator);
  /* An offset in the pool's arena. `size` is rounded up to 512. */
  uint64_t (*malloc)(void* allocator, uint32_t block, uint64_t size, uint32_t stream, uint32_t pool,
                     const graphkit_order* order);
  void (*record_stream)(void* allocator, uint32_t block, uint32_t stream);
  void (*free)(void* allocator, uint32_t block);
} graphkit_allocator_table;

/* const graphkit_allocator_table* graphkit_allocator(void); */
typedef const graphkit_allocator_table* (*graphkit_allocator_function)(void);

#ifdef __cplusplus
}
#endif

#endif
