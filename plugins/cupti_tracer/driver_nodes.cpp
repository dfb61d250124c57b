// Parameters of explicitly added nodes.
#include <cuda.h>
#include <cupti.h>

#include "plugins/cupti_tracer/driver_decoders.h"
#include "plugins/cupti_tracer/driver_node_params.h"
#include "plugins/cupti_tracer/driver_params.h"

namespace graphkit::decode {
namespace {

// All cuGraphAdd…Node parameters begin alike.
template <typename Params>
const Params& AddedNode(const CallParams& params, Call& call) {
  const auto& p = *static_cast<const Params*>(params.raw);
  call.graph = Address(p.hGraph);
  return p;
}

template <typename SetParams>
void Set(const SetParams& p, Call& call) {
  SetRange(p.dst, p.pitch, p.width * p.elementSize, p.height, call);
}

template <typename AllocParams>
void Alloc(const CallParams& params, const AllocParams& p, Call& call) {
  call.size = p.bytesize;
  call.is_allocation = true;
  if (params.done) call.address = p.dptr;
}

void Conditional(const CallParams& params, const CUDA_CONDITIONAL_NODE_PARAMS& p, Call& call) {
  const bool known = p.type <= CU_GRAPH_COND_TYPE_SWITCH;  // others may come
  call.conditional = known ? static_cast<ConditionalType>(p.type) : ConditionalType::kUnknown;
  if (!params.done || p.phGraph_out == nullptr) return;
  static_assert(sizeof(CUgraph) == sizeof(uint64_t));
  call.bodies = reinterpret_cast<const uint64_t*>(p.phGraph_out);
  call.body_count = p.size;
}

}  // namespace

void AnyNode(const CallParams& params, const CUgraphNodeParams* p, Call& call) {
  if (p == nullptr) return;
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      bool by_kernel = p->kernel.func == nullptr;
      KernelNode(p->kernel, by_kernel ? Address(p->kernel.kern) : Address(p->kernel.func),
                 call.kernel);
      break;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      CopyEnds(p->memcpy.copyParams, call);
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      Set(p->memset, call);
      break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      call.original = Address(p->graph.graph);
      call.moves_graph = p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
      break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      call.event = Address(p->eventWait.event);
      break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      call.event = Address(p->eventRecord.event);
      break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      Alloc(params, p->alloc, call);
      break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      call.address = p->free.dptr;
      break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      MemoryOperations(params, p->memOp.paramArray, p->memOp.count, call);
      break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      Conditional(params, p->conditional, call);
      break;
    default:
      break;
  }
}

void AddKernel(const CallParams& params, Call& call) {
  const auto& p = AddedNode<cuGraphAddKernelNode_params>(params, call);
  if (p.nodeParams != nullptr) KernelNode(*p.nodeParams, Address(p.nodeParams->func), call.kernel);
}

void AddKernelV2(const CallParams& params, Call& call) {
  const auto& p = AddedNode<cuGraphAddKernelNode_v2_params>(params, call);
  if (p.nodeParams == nullptr) return;
  bool by_kernel = p.nodeParams->func == nullptr;
  KernelNode(*p.nodeParams, by_kernel ? Address(p.nodeParams->kern) : Address(p.nodeParams->func),
             call.kernel);
}

void AddCopy(const CallParams& params, Call& call) {
  const auto& p = AddedNode<cuGraphAddMemcpyNode_params>(params, call);
  if (p.copyParams != nullptr) CopyEnds(*p.copyParams, call);
}

void AddSet(const CallParams& params, Call& call) {
  const auto& p = AddedNode<cuGraphAddMemsetNode_params>(params, call);
  if (p.memsetParams != nullptr) Set(*p.memsetParams, call);
}

void AddChild(const CallParams& params, Call& call) {
  call.original = Address(AddedNode<cuGraphAddChildGraphNode_params>(params, call).childGraph);
}

void AddEvent(const CallParams& params, Call& call) {
  call.event = Address(AddedNode<cuGraphAddEventRecordNode_params>(params, call).event);
}

void AddAlloc(const CallParams& params, Call& call) {
  const auto& p = AddedNode<cuGraphAddMemAllocNode_params>(params, call);
  if (p.nodeParams != nullptr) Alloc(params, *p.nodeParams, call);
}

void AddFree(const CallParams& params, Call& call) {
  call.address = AddedNode<cuGraphAddMemFreeNode_params>(params, call).dptr;
}

void AddBatch(const CallParams& params, Call& call) {
  const auto& p = AddedNode<cuGraphAddBatchMemOpNode_params>(params, call);
  if (p.nodeParams == nullptr) return;
  MemoryOperations(params, p.nodeParams->paramArray, p.nodeParams->count, call);
}

void AddPlain(const CallParams& params, Call& call) {
  AddedNode<cuGraphAddEmptyNode_params>(params, call);
}

void AddNode(const CallParams& params, Call& call) {
  AnyNode(params, AddedNode<cuGraphAddNode_params>(params, call).nodeParams, call);
}

void AddNodeV2(const CallParams& params, Call& call) {
  const auto& p = AddedNode<cuGraphAddNode_v2_params>(params, call);
  AnyNode(params, p.nodeParams, call);
  for (size_t i = 0; p.dependencyData != nullptr && i < p.numDependencies; ++i) {
    const CUgraphEdgeData& data = p.dependencyData[i];
    call.dependencies.push_back(
        {Address(p.dependencies[i]), 0, data.from_port, data.to_port, data.type});
  }
}

}  // namespace graphkit::decode
