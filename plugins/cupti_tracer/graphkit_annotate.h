/* An allocator's annotations for graphkit, beside the NVTX memory extension.
 *
 * NVTX (nvtx3/nvToolsExtMem.h) has words for heaps and for regions inside them, but none for the
 * stream that a region belongs to, for the other streams that use it, nor for a free that has been
 * asked for and is not done. These are what decides whether memory can be used again in a capture.
 *
 *     graphkit_pool(segment, size, "capture 1");     what lies there belongs to this pool
 *     nvtxMemHeapRegister(...);                      a segment from the driver
 *     ...
 *     nvtxMemRegionsRegister(...);                   a block handed out of it
 *     graphkit_block_stream(block, size, stream);    for this stream
 *     ...
 *     graphkit_record_stream(block, size, other);    it is used on another stream
 *     ...
 *     graphkit_free_requested(block, stream);        the user lets go of it
 *     ...                                            deferred: it can't be handed out yet
 *     nvtxMemRegionsUnregister(...);                 it may be handed out again
 *
 * A free that completes at once needs one call only: nvtxMemRegionsUnregister, or
 * graphkit_free_completed without a request. An allocator that doesn't use NVTX calls
 * graphkit_alloc in the place of nvtxMemRegionsRegister and graphkit_block_stream.
 *
 * C99 and C++; needs <dlfcn.h> only, and nothing at link time beside libdl (part of libc since
 * glibc 2.34). In a program that isn't traced a call costs a load and a compare. All functions may
 * be called from any thread; addresses are device addresses, sizes are bytes.
 */
#ifndef GRAPHKIT_ANNOTATE_H_
#define GRAPHKIT_ANNOTATE_H_

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of calls. The numbers are the contract with the tracer: they never change meaning. */
enum graphkit_annotation {
  GRAPHKIT_BLOCK_STREAM = 1,   /* the region at address has allocation stream `stream` */
  GRAPHKIT_RECORD_STREAM = 2,  /* the block at address is used on `stream` as well */
  GRAPHKIT_FREE_REQUESTED = 3, /* the user let go of the block; stream: its allocation stream */
  GRAPHKIT_FREE_COMPLETED = 4, /* the memory at address may be used again */
  GRAPHKIT_ALLOC = 5,          /* without NVTX: a block of `size` bytes for `stream` */
  GRAPHKIT_POOL = 6            /* the blocks in [address, address + size) belong to pool `name` */
};

/* The function that the tracer exports as "graphkit_annotate_v1". Returns 0; `name` is copied. */
typedef int (*graphkit_annotate_function)(uint32_t kind, const void* address, uint64_t size,
                                          void* stream, const char* name);

/* Does nothing: what is called once it is clear that no tracer will come. */
static inline int graphkit_annotate_nothing(uint32_t kind, const void* address, uint64_t size,
                                            void* stream, const char* name) {
  (void)kind, (void)address, (void)size, (void)stream, (void)name;
  return 0;
}

/* The tracer's function; graphkit_annotate_nothing where none will come; NULL while the library
 * that CUDA_INJECTION64_PATH names isn't loaded: the driver loads it when it is initialised. */
static inline graphkit_annotate_function graphkit_annotate_find(void) {
  graphkit_annotate_function found = &graphkit_annotate_nothing;
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* library;
  void* symbol;
  if (path == NULL || path[0] == '\0') return found;
  library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return NULL;
  symbol = dlsym(library, "graphkit_annotate_v1");
  if (symbol == NULL) {
    dlclose(library); /* another tool's */
    return found;
  }
  memcpy(&found, &symbol, sizeof found); /* ISO C has no cast from object to function pointer */
  return found;                          /* the library stays open as long as it may be called */
}

/* Passes one annotation to the tracer, if there is one. */
static inline void graphkit_annotate(enum graphkit_annotation kind, const void* address,
                                     uint64_t size, void* stream, const char* name) {
  static graphkit_annotate_function cached = NULL;
  graphkit_annotate_function call = __atomic_load_n(&cached, __ATOMIC_ACQUIRE);
  if (call == &graphkit_annotate_nothing) return;
  if (call == NULL) {
    call = graphkit_annotate_find();
    if (call == NULL) return; /* not yet: asked again at the next call */
    __atomic_store_n(&cached, call, __ATOMIC_RELEASE);
  }
  (void)call((uint32_t)kind, address, size, stream, name);
}

/* The region of `size` bytes at `address`, just registered through NVTX, was allocated for `stream`
 * (a cudaStream_t): it may be used there without a graphkit_record_stream. */
static inline void graphkit_block_stream(const void* address, uint64_t size, void* stream) {
  graphkit_annotate(GRAPHKIT_BLOCK_STREAM, address, size, stream, NULL);
}

/* The block at `address` is used on `stream` too, which isn't its allocation stream. */
static inline void graphkit_record_stream(const void* address, uint64_t size, void* stream) {
  graphkit_annotate(GRAPHKIT_RECORD_STREAM, address, size, stream, NULL);
}

/* The user freed the block at `address`, and it can't be handed out yet. `stream`: its allocation
 * stream. */
static inline void graphkit_free_requested(const void* address, void* stream) {
  graphkit_annotate(GRAPHKIT_FREE_REQUESTED, address, 0, stream, NULL);
}

/* The memory of the block at `address` may be handed out again. Not needed where the region is
 * unregistered through NVTX. */
static inline void graphkit_free_completed(const void* address) {
  graphkit_annotate(GRAPHKIT_FREE_COMPLETED, address, 0, NULL, NULL);
}

/* A block of `size` bytes at `address` was allocated for `stream`, for allocators without NVTX. */
static inline void graphkit_alloc(const void* address, uint64_t size, void* stream) {
  graphkit_annotate(GRAPHKIT_ALLOC, address, size, stream, NULL);
}

/* The blocks in [address, address + size) belong to the pool called `name`: blocks are reused
 * within a pool only. Called again with another name, it holds for blocks from then on. */
static inline void graphkit_pool(const void* address, uint64_t size, const char* name) {
  graphkit_annotate(GRAPHKIT_POOL, address, size, NULL, name);
}

#ifdef __cplusplus
}
#endif

#endif /* GRAPHKIT_ANNOTATE_H_ */
