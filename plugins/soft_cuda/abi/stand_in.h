/* The software device's libcuda.so.1, for the libraries that stand in for cuBLAS, cuDNN and others:
 * work that is named after their call, with the memory that it touches. Plain C. */
#pragma once

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum graphkit_soft_use {
  GRAPHKIT_SOFT_READS = 1,
  GRAPHKIT_SOFT_WRITES = 2,
  GRAPHKIT_SOFT_UPDATES = 3,  /* reads and writes */
  GRAPHKIT_SOFT_ADDRESSES = 5 /* reads addresses there; what they lead to is touched as well */
};

/* Memory that a kernel touches: from the first byte to the last, gaps of a stride included. One of
 * 0 bytes or at null is none. Also the layout of a parameter of the kernel. */
struct graphkit_soft_operand {
  uint64_t address;
  uint64_t bytes;
  uint64_t use; /* graphkit_soft_use */
};

/* A kernel's operation together with other ranks. Also the layout of a parameter, behind those of
 * the operands. */
struct graphkit_soft_collective {
  uint64_t communicator; /* the same in all its ranks */
  uint32_t ranks;
  uint32_t rank;
  uint32_t kind; /* a number in docs/format.md's list of kinds, from 0 */
  uint32_t type; /* ncclDataType_t */
  uint64_t count;
  int64_t peer; /* -1: none */
};

/* A launch: a kernel `name`, with one parameter for each operand and each collective. */
struct graphkit_soft_work {
  const char* name;
  const struct graphkit_soft_operand* operands;
  size_t operand_count;
  const struct graphkit_soft_collective* collectives;
  size_t collective_count;
};

/* Launches by cuLaunchKernel: tools and captures see it. Needs a current context. The error is
 * cuLaunchKernel's. */
__attribute__((visibility("default"))) CUresult graphkit_soft_launch(
    const struct graphkit_soft_work* work, CUstream stream);

/* True if a CUfunction or CUkernel was launched this way: its parameters are operands and
 * collectives, distinguished by their size. */
__attribute__((visibility("default"))) int graphkit_soft_has_operands(uint64_t function);

#ifdef __cplusplus
}
#endif
