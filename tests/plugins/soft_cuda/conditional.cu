// Conditional nodes: handles, body graphs, and which body a launch runs. No kernel sets a handle
// here, so that the default values decide on a GPU as well.
#include <cstdint>
#include <vector>

#include "conformance.h"
#include "kernels.h"

namespace {

cudaStream_t stream;
unsigned* counts;  // on the device; a body writes its number into one element

unsigned Read(int index) {
  unsigned value = 0;
  EXPECT_OK(cudaMemcpy(&value, counts + index, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void Clear() { EXPECT_OK(cudaMemset(counts, 0, 8 * sizeof(unsigned))); }

cudaGraphNode_t AddWrite(cudaGraph_t graph, int index, unsigned value) {
  cudaMemsetParams params = {};
  params.dst = counts + index;
  params.value = value;
  params.elementSize = 4;
  params.width = 1;
  params.height = 1;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  return node;
}

cudaGraphConditionalHandle Handle(cudaGraph_t graph, unsigned value, bool by_default = true) {
  cudaGraphConditionalHandle handle = 0;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&handle, graph, value,
                                             by_default ? cudaGraphCondAssignDefault : 0));
  return handle;
}

std::vector<cudaGraph_t> AddConditional(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                                        cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraphNodeType got = cudaGraphNodeTypeEmpty;
  EXPECT_OK(cudaGraphNodeGetType(node, &got));
  EXPECT(got == cudaGraphNodeTypeConditional);
  return {params.conditional.phGraph_out, params.conditional.phGraph_out + size};
}

void Launch(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaGraphExecDestroy(exec));
}

// effect: cudaGraphConditionalHandleCreate
CASE(IfTakesItsFirstBodyWhenTheHandleIsSet) {
  for (unsigned value : {0u, 1u, 7u}) {
    Clear();
    cudaGraph_t graph = nullptr;
    EXPECT_OK(cudaGraphCreate(&graph, 0));
    auto bodies = AddConditional(graph, Handle(graph, value), cudaGraphCondTypeIf, 2);
    AddWrite(bodies[0], 0, 11);
    AddWrite(bodies[1], 1, 12);
    Launch(graph);
    EXPECT(Read(0) == (value != 0 ? 11u : 0u));
    EXPECT(Read(1) == (value == 0 ? 12u : 0u));
    EXPECT_OK(cudaGraphDestroy(graph));
  }
}

CASE(SwitchTakesTheBodyOfItsNumber) {
  for (unsigned value = 0; value < 4; ++value) {
    Clear();
    cudaGraph_t graph = nullptr;
    EXPECT_OK(cudaGraphCreate(&graph, 0));
    auto bodies = AddConditional(graph, Handle(graph, value), cudaGraphCondTypeSwitch, 3);
    for (int i = 0; i < 3; ++i) AddWrite(bodies[i], i, 20 + i);
    Launch(graph);
    for (unsigned i = 0; i < 3; ++i) EXPECT(Read(i) == (i == value ? 20 + i : 0));
    EXPECT_OK(cudaGraphDestroy(graph));
  }
}

CASE(WhileDoesNotRunWhenTheHandleIsZero) {
  Clear();
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  auto bodies = AddConditional(graph, Handle(graph, 0), cudaGraphCondTypeWhile, 1);
  AddWrite(bodies[0], 0, 1);
  Launch(graph);
  EXPECT(Read(0) == 0);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaStreamBeginCaptureToGraph
CASE(BodiesTakeCapturesAndNest) {
  Clear();
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  auto outer = AddConditional(graph, Handle(graph, 1), cudaGraphCondTypeIf, 1);
  EXPECT_OK(cudaStreamBeginCaptureToGraph(stream, outer[0], nullptr, nullptr, 0,
                                          cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaMemsetAsync(counts, 1, sizeof(unsigned), stream));
  cudaGraph_t captured = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &captured));
  EXPECT(captured == outer[0]);
  auto inner = AddConditional(outer[0], Handle(graph, 1), cudaGraphCondTypeIf, 1);
  AddWrite(inner[0], 1, 5);
  size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(outer[0], nullptr, &count));
  EXPECT(count == 2);
  Launch(graph);
  EXPECT(Read(0) == 0x01010101 && Read(1) == 5);
  EXPECT_OK(cudaGraphDestroy(graph));
}

CASE(WhatBodiesCannotHold) {
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreate(&event));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  auto bodies = AddConditional(graph, Handle(graph, 1), cudaGraphCondTypeIf, 1);
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddEventRecordNode(&node, bodies[0], nullptr, 0, event));
  cudaMemAllocNodeParams alloc = {};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
  alloc.bytesize = 256;
  EXPECT_OK(cudaGraphAddMemAllocNode(&node, bodies[0], nullptr, 0, &alloc));
  cudaGraphInstantiateParams refused = {};
  EXPECT_FAILS(cudaGraphDestroy(bodies[0]));
  cudaGraphExec_t exec = nullptr;
  EXPECT_FAILS(cudaGraphInstantiate(&exec, bodies[0], 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &refused));
  EXPECT(refused.result_out == cudaGraphInstantiateNodeOperationNotSupported);
  cudaGraph_t clone = nullptr;
  EXPECT_FAILS(cudaGraphClone(&clone, graph));
  cudaGraph_t parent = nullptr;
  EXPECT_OK(cudaGraphCreate(&parent, 0));
  EXPECT_FAILS(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, graph));
  EXPECT_OK(cudaGraphDestroy(parent));
  EXPECT_OK(cudaGraphDestroy(graph));
}

CASE(Handles) {
  cudaGraph_t graph = nullptr;
  cudaGraph_t other = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphCreate(&other, 0));
  cudaGraphConditionalHandle handle = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&handle, graph, 0, 2));
  EXPECT_OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphInstantiateParams unused = {};
  cudaGraphExec_t exec = nullptr;
  EXPECT_FAILS(cudaGraphInstantiateWithParams(&exec, graph, &unused));
  EXPECT(unused.result_out == cudaGraphInstantiateConditionalHandleUnused);

  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 2;
  cudaGraphNode_t node = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  params.conditional.size = 1;
  EXPECT_FAILS(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &params));
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  EXPECT_FAILS(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  EXPECT_OK(cudaGraphDestroy(other));
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMalloc(&counts, 8 * sizeof(unsigned)));
  conformance::RunCases();
  EXPECT_OK(cudaFree(counts));
  return conformance::Finish("conditional");
}
