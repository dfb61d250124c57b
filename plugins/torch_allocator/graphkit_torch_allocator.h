/* graphkit's allocator for PyTorch: what libgraphkit_torch_allocator.so exports.
 *
 * The first block is what torch.cuda.memory.CUDAPluggableAllocator takes by name, or its
 * allocator().set_..._fn by address; cudagraphkit.torch_allocator.enable() (Python) hands over all
 * of it. The rest is for figures, and for programs without PyTorch.
 *
 * Streams are CUstream or cudaStream_t; one that allocated in a capture has to live until the
 * pool's end (PyTorch's streams live as long as the process). All functions may be called from any
 * thread. None needs a current context; none is forbidden during a capture.
 *
 * Environment, read when the library is first used:
 *   GRAPHKIT_PLAN=plan.json          place blocks in captures as planned (`graphkit plan`)
 *   GRAPHKIT_ASSUME=arguments        believe the plan where the streams don't prove it
 *   GRAPHKIT_EDGES=pytorch           take programmatic edges for full ones, as PyTorch does
 *   GRAPHKIT_ALLOCATOR_REPORT=FILE   write the figures there, as JSON, when the process ends
 */
#ifndef GRAPHKIT_TORCH_ALLOCATOR_H
#define GRAPHKIT_TORCH_ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;
typedef struct CUstream_st* graphkit_stream;

/* NULL: size is 0, or the device is out of memory, which is also said on stderr. */
void* graphkit_allocator_malloc(size_t size, int device, graphkit_stream stream);
/* The same, but throws std::bad_alloc when the device is out of memory: PyTorch doesn't look at
 * what it gets. */
void* graphkit_torch_malloc(size_t size, int device, graphkit_stream stream);
/* Of a pointer that isn't from here: says so once on stderr, and does nothing. */
void graphkit_allocator_free(void* pointer, size_t size, int device, graphkit_stream stream);

void graphkit_allocator_record_stream(void* pointer, graphkit_stream stream);
void graphkit_allocator_init(int device_count);
void graphkit_allocator_empty_cache(void);
/* At most this share of the device's memory. */
void graphkit_allocator_memory_fraction(double fraction, int device);
/* The segment that the pointer lies in, and its size. */
void* graphkit_allocator_base(void* pointer, size_t* size);

/* Pools, for callers in C. PyTorch's own types are C++'s: graphkit_torch_begin_pool and so on
 * (exports.cpp). `accepts` says which streams' mallocs go to the pool; NULL: all. */
typedef struct graphkit_allocator_pool {
  uint64_t first;
  uint64_t second;
} graphkit_allocator_pool;
typedef int (*graphkit_allocator_accepts)(void* context, graphkit_stream stream);
void graphkit_allocator_begin_pool(int device, graphkit_allocator_pool pool,
                                   graphkit_allocator_accepts accepts, void* context);
/* After the capture has ended: what it held back is free for the pool's next one. */
void graphkit_allocator_end_pool(int device, graphkit_allocator_pool pool);
/* No graph of the pool will be launched again: its memory goes back to the driver as soon as its
 * blocks are freed. */
void graphkit_allocator_release_pool(int device, graphkit_allocator_pool pool);

/* Lends this thread's mallocs on the stream, outside of captures, what the pool's graphs leave
 * nothing in between two launches; what doesn't fit goes where it always does. Returns the bytes;
 * 0: nothing is lent: there is no such pool, none of its captures has ended, or it is lent already.
 * The caller orders the stream after the pool's launches so far; until the return it launches no
 * graph of the pool, and captures none into it. */
uint64_t graphkit_allocator_borrow(int device, graphkit_allocator_pool pool,
                                   graphkit_stream stream);
/* Ends it. Returns how many lent blocks aren't freed, and writes up to `room` of them: as long as
 * there are any, the memory isn't back; ask again when they are freed. 0: it is back: what comes
 * after the stream comes after all uses of it. One block without a pointer: all are freed, but the
 * driver wouldn't let the stream wait for another one that used them. */
typedef struct graphkit_lent_block {
  void* pointer;
  uint64_t size;
} graphkit_lent_block;
size_t graphkit_allocator_return(int device, graphkit_allocator_pool pool,
                                 graphkit_lent_block* late, size_t room);
/* Called after each malloc that was served with lent memory, on its thread. NULL: nothing is. */
void graphkit_allocator_on_lent(void (*called)(void* pointer, size_t size));

/* Segments for torch.cuda.MemPool(allocator), whose blocks PyTorch places itself: the driver's
 * memory as it is, named in traces and counted. */
void* graphkit_torch_segment_malloc(size_t size, int device, graphkit_stream stream);
void graphkit_torch_segment_free(void* pointer, size_t size, int device, graphkit_stream stream);

#define GRAPHKIT_ALLOCATOR_FIGURES 2
typedef struct graphkit_allocator_figures {
  uint64_t mallocs;
  uint64_t frees;
  uint64_t record_streams;
  uint64_t out_of_memory;
  uint64_t allocated; /* bytes in blocks that aren't freed */
  uint64_t peak_allocated;
  uint64_t reserved; /* bytes got from the driver */
  uint64_t peak_reserved;
  uint64_t captures; /* that allocated something */
  uint64_t captured_mallocs;
  uint64_t proved_frees;   /* of blocks in captures: reusable before the capture's end */
  uint64_t deferred_frees; /* not before its end */
  uint64_t deferred_bytes;
  uint64_t planned;         /* blocks that lie where the plan says */
  uint64_t plan_departures; /* mallocs that the plan doesn't have, placed without it */
  uint64_t plan_refusals;   /* planned places that weren't known to be free, not used */
  uint64_t plan_unused;     /* blocks of the plan that weren't asked for */
  uint64_t borrowed;        /* mallocs that were served with lent memory */
  uint64_t peak_borrowed;   /* most bytes of it in use at once, of one pool */
} graphkit_allocator_figures;
/* Returns 0; 1 for a device that nothing was asked of, or another version of the struct. */
int graphkit_allocator_figures_of(int device, uint32_t version, graphkit_allocator_figures* out);
/* Peaks are from here on. */
void graphkit_allocator_reset_peaks(int device);
/* Writes the report of GRAPHKIT_ALLOCATOR_REPORT; returns 0, or 1 if the file can't be written. */
int graphkit_allocator_report(const char* path);

#ifdef __cplusplus
}
#endif

#endif
