/* The C interface between graphkit and the plugin that runs graphs on a device (plugins/cuda_exec).
 * A graph comes as one job for each order: plain nodes and edges, and for each node which stretches
 * of memory it touches. The plugin builds a CUDA graph of it, launches it, and says which node
 * first found its bytes destroyed.
 *
 * A canary is written into every 8 bytes of a stretch: (node + 1) << 32 | (block + 1) of who wrote
 * it. */
#ifndef GRAPHKIT_EXECUTOR_ABI_H
#define GRAPHKIT_EXECUTOR_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRAPHKIT_EXECUTOR_ABI 1u
#define GRAPHKIT_EXECUTOR_NAME "graphkit_executor_v1"

/* In bytes from the start of the memory; multiples of 8. */
typedef struct {
  uint64_t offset;
  uint64_t size;
} graphkit_stretch;

/* A node checks that the block's canaries are there, writes its own, or both, in this order. */
typedef struct {
  uint32_t first_stretch;
  uint32_t stretches;
  uint32_t block;
  uint8_t checks;
  uint8_t writes;
  uint16_t unused;
} graphkit_touch;

typedef struct {
  uint32_t first_touch;
  uint32_t touches;
  uint32_t held_us; /* how long a kernel stays before it ends */
  uint8_t kernel;   /* a kernel even if it touches nothing: ends of programmatic edges */
  uint8_t
      waits; /* for its grid dependencies before it ends; on a device, before it touches anything */
  uint16_t unused;
} graphkit_job_node;

/* Ports and type as in CUgraphEdgeData. */
typedef struct {
  uint32_t from;
  uint32_t to;
  uint8_t from_port;
  uint8_t to_port;
  uint8_t type;
  uint8_t unused;
} graphkit_job_edge;

/* Nodes are created in the order given; edges lead from earlier to later ones. */
typedef struct {
  const graphkit_job_node* nodes;
  const graphkit_job_edge* edges;
  const graphkit_touch* touches;
  const graphkit_stretch* stretches;
  uint32_t node_count;
  uint32_t edge_count;
  uint32_t touch_count;
  uint32_t stretch_count;
  uint64_t memory_bytes; /* cleared before the launch */
} graphkit_job;

typedef struct {
  uint64_t checks;
  uint8_t faulty;  /* then: */
  uint32_t node;   /* which found it */
  uint32_t touch;  /* in the job's touches */
  uint64_t found;  /* what lies there; 0: never written */
  char error[256]; /* empty: it ran */
} graphkit_job_outcome;

typedef struct {
  uint32_t abi; /* GRAPHKIT_EXECUTOR_ABI */
  /* Opens the driver (a path, or "libcuda.so.1") and its first device. With host_nodes every node
   * is a host function, in host memory. NULL: not possible, and `error` says why. */
  void* (*open)(const char* driver, int host_nodes, char* error, size_t error_size);
  /* Whether edges can be programmatic there. */
  int (*programmatic)(void* executor);
  void (*run)(void* executor, const graphkit_job* job, graphkit_job_outcome* outcome);
  void (*close)(void* executor);
} graphkit_executor_table;

/* What the plugin exports: const graphkit_executor_table* graphkit_executor_v1(void). */
typedef const graphkit_executor_table* (*graphkit_executor_function)(void);

#ifdef __cplusplus
}
#endif

#endif
