// The device memory of an exec beyond the program's allocations. NVIDIA's driver doesn't document
// how it counts; this is a model, made to be recognised in a tool's measurements:
//
//   * an exec takes a fixed part and one for each of its nodes by kind, nodes inside others too,
//     when it is instantiated; when it is uploaded or launched for the first time, a quarter of the
//     nodes' part more; it gives all back when it is destroyed;
//   * all execs of a GPU lie one beside the other in chunks of 2 MiB. What the device has free
//     changes by whole chunks, and one that isn't needed any more is given back at once.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace graphkit::soft {

struct Gpu;
struct Graph;

inline constexpr uint64_t kExecChunk = uint64_t{2} << 20;
inline constexpr uint64_t kExecBytes = 96 << 10;  // of each exec

// Of one node, without what is inside it.
constexpr uint64_t ExecNodeBytes(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return 12 << 10;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return 6 << 10;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return 16 << 10;
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return 0;
    default:
      return 2 << 10;
  }
}

// False: the device hasn't that much free. An exec has each part once.
bool TakeExecMemory(Graph* exec, Gpu* gpu);
bool TakeUploadMemory(Graph* exec);
void GiveBackExecMemory(Graph* exec);

}  // namespace graphkit::soft
