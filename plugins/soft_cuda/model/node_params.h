// Parameters of a graph node, by type. Node owns them; copying a node copies them deeply.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

namespace graphkit::soft {

struct Event;
struct Function;
struct Graph;
struct Semaphore;

struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
};

// A copy of the argument values of a launch, laid out as the kernel expects them.
struct KernelArguments {
  std::unique_ptr<std::byte[]> bytes;  // null: the layout is unknown
  size_t size = 0;
  std::unique_ptr<void*[]> pointers;  // one per parameter, into bytes; made on request
  bool as_buffer = false;             // given as CU_LAUNCH_PARAM_BUFFER_POINTER
};

struct KernelParams {
  Function* function = nullptr;
  CUcontext context = nullptr;
  LaunchShape shape;
  KernelArguments arguments;
  std::vector<CUlaunchAttribute> attributes;
};

struct MemcpyParams {
  CUDA_MEMCPY3D copy;
  CUcontext context;
};

struct MemsetParams {
  CUDA_MEMSET_NODE_PARAMS set;
  CUcontext context;
};

struct HostParams {
  CUhostFn function;
  void* user_data;
};

struct ChildParams {
  Graph* graph;  // owned by the node
};

struct EventParams {
  Event* event;
};

struct MemAllocParams {
  CUDA_MEM_ALLOC_NODE_PARAMS params;
  std::vector<CUmemAccessDesc> access;
};

struct MemFreeParams {
  CUdeviceptr address;
};

struct SignalParams {
  std::vector<CUexternalSemaphore> semaphores;
  std::vector<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> values;
};

struct WaitParams {
  std::vector<CUexternalSemaphore> semaphores;
  std::vector<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> values;
};

struct BatchParams {
  CUcontext context;
  std::vector<CUstreamBatchMemOpParams> operations;
  unsigned flags;
};

struct ConditionalParams {
  CUgraphConditionalHandle handle;
  CUgraphConditionalNodeType kind;
  std::vector<Graph*> bodies;  // owned by the node
  std::vector<CUgraph> shown;  // the same, as the caller sees them in phGraph_out
};

using NodeParams =
    std::variant<std::monostate, std::unique_ptr<KernelParams>, std::unique_ptr<MemcpyParams>,
                 std::unique_ptr<MemsetParams>, HostParams, ChildParams, EventParams,
                 std::unique_ptr<MemAllocParams>, MemFreeParams, std::unique_ptr<SignalParams>,
                 std::unique_ptr<WaitParams>, std::unique_ptr<BatchParams>,
                 std::unique_ptr<ConditionalParams>>;

// A deep copy of everything but the graphs that a node owns, which stay out: who copies clones
// them.
NodeParams CopyParams(const NodeParams& params);
std::unique_ptr<KernelParams> CopyKernelParams(const KernelParams& params);

}  // namespace graphkit::soft
