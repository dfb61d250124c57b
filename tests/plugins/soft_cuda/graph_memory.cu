// Allocation and free nodes: addresses, accounts, and what a graph that has them can't do.
#include "graphs.h"

using namespace conformance;

namespace {

constexpr size_t kBytes = 32 << 20;  // graphs' memory is mapped in steps of this

cudaStream_t stream;

unsigned long long Account(cudaGraphMemAttributeType attribute) {
  unsigned long long value = 0;
  EXPECT_OK(cudaDeviceGetGraphMemAttribute(0, attribute, &value));
  return value;
}

// effect: cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode cudaGraphMemAllocNodeGetParams
// effect: cudaGraphMemFreeNodeGetParams
CASE(Nodes) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t alloc = nullptr;
  void* memory = AddAllocation(graph, kBytes, &alloc);
  cudaGraphNode_t set = nullptr;
  const cudaMemsetParams params = SetWords(memory, 7);
  EXPECT_OK(cudaGraphAddMemsetNode(&set, graph, &alloc, 1, &params));
  unsigned read = 0;
  cudaGraphNode_t copy = nullptr;
  EXPECT_OK(
      cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, &read, memory, 4, cudaMemcpyDeviceToHost));
  cudaGraphNode_t free = AddFree(graph, memory, {copy});
  cudaMemAllocNodeParams got = {};
  EXPECT_OK(cudaGraphMemAllocNodeGetParams(alloc, &got));
  EXPECT(got.dptr == memory && got.bytesize == kBytes);
  void* freed = nullptr;
  EXPECT_OK(cudaGraphMemFreeNodeGetParams(free, &freed));
  EXPECT(freed == memory);
  RunOnce(graph, stream);
  EXPECT(read == 7);

  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemAllocNodeGetParams(free, &got));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphMemFreeNodeGetParams(alloc, &freed));
  cudaMemAllocNodeParams wrong = AllocationOf(kBytes);
  wrong.poolProps.allocType = cudaMemAllocationTypeInvalid;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &wrong));
  int devices = 0;
  EXPECT_OK(cudaGetDeviceCount(&devices));
  std::vector<cudaMemAccessDesc> peers(static_cast<size_t>(devices) + 1);
  for (cudaMemAccessDesc& peer : peers)
    peer = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  wrong = AllocationOf(kBytes);
  wrong.accessDescs = peers.data();
  wrong.accessDescCount = peers.size();
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &wrong));
  peers[0].location.id = devices;
  wrong.accessDescCount = 1;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &wrong));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&free, graph, &copy, 1, memory));
  int local = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&free, graph, &copy, 1, &local));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// Memory of the host and managed memory: both can read and write it, and it takes none of the
// device's.
CASE(OtherPlaces) {
  const cudaMemAllocationType types[] = {cudaMemAllocationTypePinned, cudaMemAllocationTypeManaged};
  for (const cudaMemAllocationType type : types) {
    cudaGraph_t graph = NewGraph();
    cudaMemAllocNodeParams params = AllocationOf(kBytes);
    params.poolProps.allocType = type;
    params.poolProps.location = {cudaMemLocationTypeHost, 0};
    cudaGraphNode_t alloc = nullptr;
    EXPECT_OK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
    cudaGraphNode_t set = nullptr;
    const cudaMemsetParams fill = SetWords(params.dptr, 7);
    EXPECT_OK(cudaGraphAddMemsetNode(&set, graph, &alloc, 1, &fill));
    cudaGraphExec_t exec = Instantiate(graph);
    const unsigned long long before = Account(cudaGraphMemAttrUsedMemCurrent);
    LaunchAndWait(exec, stream);
    EXPECT(*static_cast<volatile unsigned*>(params.dptr) == 7);
    ON_SOFT(EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == before));
    cudaPointerAttributes attributes = {};
    EXPECT_OK(cudaPointerGetAttributes(&attributes, params.dptr));
    EXPECT(attributes.type ==
           (type == cudaMemAllocationTypePinned ? cudaMemoryTypeHost : cudaMemoryTypeManaged));
    EXPECT_OK(cudaFreeAsync(params.dptr, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT_OK(cudaGraphExecDestroy(exec));
    EXPECT_OK(cudaGraphDestroy(graph));
  }
}

// An allocation that is ordered after a free may have its address; one that isn't can't.
CASE(Reuse) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t first = nullptr;
  cudaGraphNode_t node = nullptr;
  void* memory = AddAllocation(graph, kBytes, &first);
  cudaGraphNode_t free = AddFree(graph, memory, {first});
  void* beside = AddAllocation(graph, kBytes, &node, {first});
  EXPECT(beside != memory);
  void* behind = AddAllocation(graph, kBytes, &node, {free});
  void* more = AddAllocation(graph, kBytes, &node, {free});
  EXPECT(behind != more && more != beside);
  EXPECT_OK(cudaGraphDestroy(graph));
}

// effect: cudaGraphDestroyNode cudaGraphRemoveDependencies cudaGraphClone
CASE(WhatIsForbidden) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t alloc = nullptr;
  void* memory = AddAllocation(graph, kBytes, &alloc);
  cudaGraphNode_t free = AddFree(graph, memory, {alloc});
  cudaGraphNode_t empty = AddEmpty(graph, {free});
  EXPECT_FAILS(cudaGraphDestroyNode(empty));
  EXPECT_FAILS(cudaGraphRemoveDependencies(graph, &free, &empty, nullptr, 1));
  cudaGraph_t clone = nullptr;
  EXPECT_FAILS(cudaGraphClone(&clone, graph));
  cudaGraph_t parent = NewGraph();
  cudaGraphNode_t child = nullptr;
  EXPECT_FAILS(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  cudaGraphExec_t exec = Instantiate(graph);
  cudaGraphExec_t second = nullptr;
  EXPECT_FAILS(cudaGraphInstantiate(&second, graph, 0));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  exec = Instantiate(graph);
  EXPECT_OK(cudaGraphDestroy(graph));
  LaunchAndWait(exec, stream);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(parent));
}

CASE(UnfreedAllocations) {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t alloc = nullptr;
  void* memory = AddAllocation(graph, kBytes, &alloc);
  cudaGraphExec_t exec = Instantiate(graph);
  LaunchAndWait(exec, stream);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaFree(memory));
  LaunchAndWait(exec, stream);
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  exec = Instantiate(graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  LaunchAndWait(exec, stream);
  LaunchAndWait(exec, stream);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == kBytes);  // outlives the graph and the exec
  EXPECT_OK(cudaMemset(memory, 1, kBytes));
  EXPECT_OK(cudaFree(memory));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == kBytes);  // until it is trimmed
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == 0);
}

// One graph allocates, another frees.
CASE(FreedByAnotherGraph) {
  cudaGraph_t maker = NewGraph();
  cudaGraphNode_t alloc = nullptr;
  void* memory = AddAllocation(maker, kBytes, &alloc);
  cudaGraph_t taker = NewGraph();
  AddFree(taker, memory, {});
  cudaGraphExec_t make = Instantiate(maker);
  cudaGraphExec_t take = Instantiate(taker);
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(cudaGraphLaunch(make, stream));
    LaunchAndWait(take, stream);
  }
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == kBytes);
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == 0);
  EXPECT_OK(cudaGraphExecDestroy(make));
  EXPECT_OK(cudaGraphExecDestroy(take));
  EXPECT_OK(cudaGraphDestroy(maker));
  EXPECT_OK(cudaGraphDestroy(taker));
}

// effect: cudaDeviceGetGraphMemAttribute cudaDeviceSetGraphMemAttribute cudaDeviceGraphMemTrim
CASE(Accounts) {
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t alloc = nullptr;
  void* memory = AddAllocation(graph, kBytes, &alloc);
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == 0);
  unsigned long long zero = 0;
  EXPECT_OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  EXPECT(Account(cudaGraphMemAttrUsedMemHigh) == 0);
  LaunchAndWait(exec, stream);
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == kBytes);
  EXPECT(Account(cudaGraphMemAttrUsedMemHigh) == kBytes);
  EXPECT(Account(cudaGraphMemAttrReservedMemCurrent) >= kBytes);
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == kBytes);  // it is live
  EXPECT_OK(cudaFree(memory));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == kBytes);  // the graphs keep the pages
  EXPECT(Account(cudaGraphMemAttrUsedMemHigh) == kBytes);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == 0);
  EXPECT(Account(cudaGraphMemAttrReservedMemCurrent) == 0);

  unsigned long long one = 1;
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one));
  EXPECT_FAILS(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero));
  EXPECT_FAILS(cudaDeviceGetGraphMemAttribute(-1, cudaGraphMemAttrUsedMemHigh, &one));
  EXPECT_FAILS(cudaDeviceGraphMemTrim(-1));
}

cudaGraphExec_t AllocateAndFree() {
  cudaGraph_t graph = NewGraph();
  cudaGraphNode_t alloc = nullptr;
  void* memory = AddAllocation(graph, kBytes, &alloc);
  AddFree(graph, memory, {alloc});
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT_OK(cudaGraphDestroy(graph));
  return exec;
}

// Launches in one stream share pages, launches in streams that nothing orders don't.
// effect: cudaGraphLaunch cudaGraphUpload cudaDeviceGraphMemTrim
CASE(Pages) {
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  size_t free_before = 0;
  size_t total = 0;
  EXPECT_OK(cudaMemGetInfo(&free_before, &total));
  cudaGraphExec_t first = AllocateAndFree();
  cudaGraphExec_t second = AllocateAndFree();
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == 0);
  EXPECT_OK(cudaGraphUpload(first, stream));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == kBytes);
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(cudaGraphLaunch(first, stream));
    EXPECT_OK(cudaGraphLaunch(second, stream));
  }
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == kBytes);
  cudaStream_t other = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  EXPECT_OK(cudaGraphLaunch(second, other));
  // On a GPU the launches before may be over.
  ON_SOFT(EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == 2 * kBytes));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaGraphLaunch(second, stream));
  ON_SOFT(EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == 2 * kBytes));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT(Account(cudaGraphMemAttrUsedMemCurrent) == 0);
  EXPECT_OK(cudaGraphExecDestroy(first));
  EXPECT_OK(cudaGraphExecDestroy(second));
  size_t free_after = 0;
  EXPECT_OK(cudaMemGetInfo(&free_after, &total));
  EXPECT(free_after == free_before);
  EXPECT_OK(cudaStreamDestroy(other));
}

// A child graph that was moved keeps its memory nodes, and is its parent's.
// effect: cudaGraphAddChildGraphNode cudaGraphChildGraphNodeGetGraph
CASE(MovedChild) {
  cudaGraph_t child = NewGraph();
  cudaGraphNode_t alloc = nullptr;
  void* memory = AddAllocation(child, kBytes, &alloc);
  AddFree(child, memory, {alloc});
  cudaGraph_t graph = NewGraph();
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = child;
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraph_t inside = nullptr;
  EXPECT_OK(cudaGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT(inside == child);
  EXPECT_FAILS(cudaGraphDestroy(child));
  cudaGraphExec_t exec = nullptr;
  EXPECT_FAILS(cudaGraphInstantiate(&exec, child, 0));
  cudaMemAllocNodeParams more = AllocationOf(kBytes);
  EXPECT_FAILS(cudaGraphAddMemAllocNode(&alloc, child, nullptr, 0, &more));
  cudaGraph_t other = NewGraph();
  EXPECT_FAILS(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &params));
  EXPECT_FAILS(cudaGraphChildGraphNodeGetGraph(AddEmpty(other), &inside));
  EXPECT_OK(cudaGraphDestroy(other));
  RunOnce(graph, stream);
  RunOnce(graph, stream);
  EXPECT_OK(cudaGraphDestroy(graph));
}

}  // namespace

int main() {
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaFree(nullptr));
  RunCases();
  return Finish("graph_memory");
}
