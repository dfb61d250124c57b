// Parameters of calls that give a node new parameters, or switch it on or off.
#include <cuda.h>
#include <cupti.h>

#include "plugins/cupti_tracer/driver_decoders.h"
#include "plugins/cupti_tracer/driver_node_params.h"
#include "plugins/cupti_tracer/driver_params.h"

namespace graphkit::decode {
namespace {

// All of them begin alike: an exec, where it is about one, and the node of the graph.
template <typename Params>
const Params& SetNode(const CallParams& params, Call& call) {
  const auto& p = *static_cast<const Params*>(params.raw);
  if constexpr (requires { p.hGraphExec; }) call.exec = Address(p.hGraphExec);
  call.node = Address(p.hNode);
  return p;
}

template <typename Params>
void Kernel(const CallParams& params, Call& call) {
  const auto& p = SetNode<Params>(params, call);
  if (p.nodeParams == nullptr) return;
  uint64_t function = Address(p.nodeParams->func);
  if constexpr (requires { p.nodeParams->kern; }) {
    if (function == 0) function = Address(p.nodeParams->kern);
  }
  KernelNode(*p.nodeParams, function, call.kernel);
}

template <typename Set>
void Fill(const Set* p, Call& call) {
  if (p != nullptr) SetRange(p->dst, p->pitch, p->width * p->elementSize, p->height, call);
}

}  // namespace

void SetKernel(const CallParams& params, Call& call) {
  Kernel<cuGraphKernelNodeSetParams_params>(params, call);
}
void SetKernelV2(const CallParams& params, Call& call) {
  Kernel<cuGraphKernelNodeSetParams_v2_params>(params, call);
}
void ExecSetKernel(const CallParams& params, Call& call) {
  Kernel<cuGraphExecKernelNodeSetParams_params>(params, call);
}
void ExecSetKernelV2(const CallParams& params, Call& call) {
  Kernel<cuGraphExecKernelNodeSetParams_v2_params>(params, call);
}

void SetCopy(const CallParams& params, Call& call) {
  const auto& p = SetNode<cuGraphMemcpyNodeSetParams_params>(params, call);
  if (p.nodeParams != nullptr) CopyEnds(*p.nodeParams, call);
}
void ExecSetCopy(const CallParams& params, Call& call) {
  const auto& p = SetNode<cuGraphExecMemcpyNodeSetParams_params>(params, call);
  if (p.copyParams != nullptr) CopyEnds(*p.copyParams, call);
}
void SetFill(const CallParams& params, Call& call) {
  Fill(SetNode<cuGraphMemsetNodeSetParams_params>(params, call).nodeParams, call);
}
void ExecSetFill(const CallParams& params, Call& call) {
  Fill(SetNode<cuGraphExecMemsetNodeSetParams_params>(params, call).memsetParams, call);
}

void SetEvent(const CallParams& params, Call& call) {
  call.event = Address(SetNode<cuGraphEventRecordNodeSetEvent_params>(params, call).event);
}
void ExecSetEvent(const CallParams& params, Call& call) {
  call.event = Address(SetNode<cuGraphExecEventRecordNodeSetEvent_params>(params, call).event);
}

void ExecSetChild(const CallParams& params, Call& call) {
  call.original =
      Address(SetNode<cuGraphExecChildGraphNodeSetParams_params>(params, call).childGraph);
}

template <typename Params>
static void Batch(const CallParams& params, Call& call) {
  const auto& p = SetNode<Params>(params, call);
  if (p.nodeParams == nullptr) return;
  MemoryOperations(params, p.nodeParams->paramArray, p.nodeParams->count, call);
}
void SetBatch(const CallParams& params, Call& call) {
  Batch<cuGraphBatchMemOpNodeSetParams_params>(params, call);
}
void ExecSetBatch(const CallParams& params, Call& call) {
  Batch<cuGraphExecBatchMemOpNodeSetParams_params>(params, call);
}

// Host functions, semaphores.
void SetOther(const CallParams& params, Call& call) {
  SetNode<cuGraphHostNodeSetParams_params>(params, call);
}
void ExecSetOther(const CallParams& params, Call& call) {
  SetNode<cuGraphExecHostNodeSetParams_params>(params, call);
}

void SetAny(const CallParams& params, Call& call) {
  AnyNode(params, SetNode<cuGraphNodeSetParams_params>(params, call).nodeParams, call);
}
void ExecSetAny(const CallParams& params, Call& call) {
  AnyNode(params, SetNode<cuGraphExecNodeSetParams_params>(params, call).nodeParams, call);
}

// Of all attributes of kernel nodes one is recorded.
void SetAttribute(const CallParams& params, Call& call) {
  const auto& p = SetNode<cuGraphKernelNodeSetAttribute_params>(params, call);
  bool updatable = p.attr == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  if (updatable && p.value != nullptr) {
    call.flags = p.value->deviceUpdatableKernelNode.deviceUpdatable != 0;
  }
}

void SetEnabled(const CallParams& params, Call& call) {
  call.flags = SetNode<cuGraphNodeSetEnabled_params>(params, call).isEnabled;
}

}  // namespace graphkit::decode
