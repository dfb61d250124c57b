// CUPTI's callbacks: the parameters of runtime and driver calls and what links the two, resources
// with their handles and ids, and NVTX's injection beside all that. Needs a libcupti.so.13 on the
// loader's path.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cupti_calls.h"
#include "graphs.h"
#include "kernels.h"

// NVTX looks for a library that the program names, then for this.
extern "C" {
extern int (*InitializeInjectionNvtx2_fnptr)(const void* (*)(uint32_t));
}
#define NVTX_STATIC_INJECTION_IMPL
#include <nvtx3/nvToolsExt.h>

using namespace conformance;

namespace {

struct Seen {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId cbid;
  std::string name;
  uint32_t correlation = 0;
  uint32_t context = 0;
};
std::vector<Seen> seen;
CUpti_SubscriberHandle subscriber = nullptr;

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Seen& one : seen) names.push_back(one.name);
  return names;
}

size_t wanted_bytes = 0;
void** wanted_pointer = nullptr;

void CheckParameters(const CUpti_CallbackData& call, CUpti_CallbackDomain domain,
                     CUpti_CallbackId cbid) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020) {
    const auto& p = *static_cast<const cudaMalloc_v3020_params*>(call.functionParams);
    EXPECT(p.size == wanted_bytes && p.devPtr == wanted_pointer);
    if (call.callbackSite == CUPTI_API_EXIT) EXPECT(*p.devPtr != nullptr);
  }
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2) {
    const auto& p = *static_cast<const cuMemAlloc_v2_params*>(call.functionParams);
    EXPECT(p.bytesize == wanted_bytes);
    if (call.callbackSite == CUPTI_API_EXIT)
      EXPECT(*static_cast<CUresult*>(call.functionReturnValue) == CUDA_SUCCESS);
  }
}

void CUPTIAPI Note(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    CheckParameters(call, domain, cbid);
    const char* site = call.callbackSite == CUPTI_API_ENTER ? ">" : "<";
    seen.push_back(
        {domain, cbid, site + std::string(call.functionName), call.correlationId, call.contextUid});
    if (call.symbolName != nullptr) seen.back().name += std::string(" ") + call.symbolName;
    return;
  }
  seen.push_back({domain, cbid, std::to_string(cbid)});
}

void Enable(uint32_t enable, CUpti_CallbackDomain domain) {
  EXPECT(CUPTI(cuptiEnableDomain)(enable, subscriber, domain) == CUPTI_SUCCESS);
}

// effect: cuptiEnableDomain cuptiEnableCallback cuptiGetContextId
void Calls() {
  void* memory = nullptr;
  wanted_bytes = 12345;
  wanted_pointer = &memory;
  seen.clear();
  Enable(1, CUPTI_CB_DOMAIN_RUNTIME_API);
  Enable(1, CUPTI_CB_DOMAIN_DRIVER_API);
  EXPECT_OK(cudaMalloc(&memory, wanted_bytes));
  Enable(0, CUPTI_CB_DOMAIN_DRIVER_API);
  const std::vector<Seen> first = seen;
  seen.clear();
  EXPECT_OK(cudaFree(memory));
  EXPECT((Names() == std::vector<std::string>{">cudaFree", "<cudaFree"}));
  EXPECT(first.size() == 4 && seen.size() == 2);
  if (first.size() != 4 || seen.size() != 2) return;
  EXPECT(first[0].name == ">cudaMalloc" && first[1].name == ">cuMemAlloc_v2");
  EXPECT(first[2].name == "<cuMemAlloc_v2" && first[3].name == "<cudaMalloc");
  // One id for a call and the calls inside it; another for the next.
  EXPECT(first[0].correlation == first[1].correlation && first[0].correlation != 0);
  EXPECT(first[3].correlation == first[0].correlation);
  EXPECT(seen[0].correlation > first[0].correlation);
  CUcontext context = nullptr;
  uint32_t id = 0;
  EXPECT_OK(cuCtxGetCurrent(&context));
  EXPECT(CUPTI(cuptiGetContextId)(context, &id) == CUPTI_SUCCESS && first[0].context == id);

  seen.clear();
  Touch<<<1, 32>>>(nullptr);
  Enable(0, CUPTI_CB_DOMAIN_RUNTIME_API);
  bool launched = false;
  for (const Seen& one : seen)
    launched = launched || (one.name.find(">cudaLaunchKernel") == 0 &&
                            one.name.find("Touch") != std::string::npos);
  EXPECT(launched);

  seen.clear();  // one function of a domain
  EXPECT(CUPTI(cuptiEnableCallback)(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                    CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent) == CUPTI_SUCCESS);
  EXPECT_OK(cuCtxGetCurrent(&context));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(!seen.empty());
  for (const Seen& one : seen) EXPECT(one.name.substr(1) == "cuCtxGetCurrent");
  Enable(0, CUPTI_CB_DOMAIN_DRIVER_API);
}

struct Resource {
  CUpti_CallbackIdResource cbid;
  CUstream stream = nullptr;
  CUpti_GraphData graph = {};
  uint32_t graph_id = 0;
  uint64_t node_id = 0;
};
std::vector<Resource> resources;

bool IsStream(CUpti_CallbackId cbid) {
  return cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED ||
         cbid == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING;
}
bool IsGraph(CUpti_CallbackId cbid) {
  return cbid >= CUPTI_CBID_RESOURCE_GRAPH_CREATED &&
         cbid <= CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING;
}

// Asks CUPTI for ids from inside of the callback, as tools do.
void CUPTIAPI NoteResource(void*, CUpti_CallbackDomain, CUpti_CallbackId cbid, const void* data) {
  const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
  resources.push_back({static_cast<CUpti_CallbackIdResource>(cbid)});
  Resource& last = resources.back();
  if (IsStream(cbid)) last.stream = resource.resourceHandle.stream;
  if (!IsGraph(cbid)) return;
  last.graph = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  if (last.graph.graph != nullptr)
    EXPECT(CUPTI(cuptiGetGraphId)(last.graph.graph, &last.graph_id) == CUPTI_SUCCESS);
  if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
    EXPECT(CUPTI(cuptiGetGraphNodeId)(last.graph.node, &last.node_id) == CUPTI_SUCCESS);
}

const Resource& Last(CUpti_CallbackIdResource cbid) {
  static const Resource none{CUPTI_CBID_RESOURCE_INVALID};
  for (size_t i = resources.size(); i-- > 0;)
    if (resources[i].cbid == cbid) return resources[i];
  Report(__FILE__, __LINE__, "no callback of a resource");
  return none;
}

// effect: cuptiGetGraphId cuptiGetGraphNodeId cuptiGetGraphExecId
void Resources() {
  Enable(1, CUPTI_CB_DOMAIN_RESOURCE);
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT(Last(CUPTI_CBID_RESOURCE_STREAM_CREATED).stream == stream);
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT(Last(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING).stream == stream);

  cudaGraph_t graph = NewGraph();
  const Resource made = Last(CUPTI_CBID_RESOURCE_GRAPH_CREATED);
  EXPECT(made.graph.graph == graph && made.graph_id != 0);
  cudaGraphNode_t a = AddEmpty(graph);
  const Resource node = Last(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  EXPECT(node.graph.graph == graph && node.graph.node == a);
  const Resource starting = Last(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
  EXPECT(starting.graph.nodeType == CU_GRAPH_NODE_TYPE_EMPTY);
  EXPECT(static_cast<uint32_t>(node.node_id >> 32) == made.graph_id);
  cudaGraphNode_t b = AddEmpty(graph);
  EXPECT_OK(cudaGraphAddDependencies(graph, &a, &b, nullptr, 1));
  const Resource edge = Last(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED);
  EXPECT(edge.graph.node == b && edge.graph.dependency == a);
  cudaGraph_t clone = nullptr;
  EXPECT_OK(cudaGraphClone(&clone, graph));
  const Resource cloned = Last(CUPTI_CBID_RESOURCE_GRAPH_CLONED);
  EXPECT(cloned.graph.originalGraph == graph && cloned.graph.graph == clone);
  cudaGraphExec_t exec = Instantiate(graph);
  EXPECT(Last(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED).graph.graphExec == exec);
  uint32_t exec_id = 0;
  EXPECT(CUPTI(cuptiGetGraphExecId)(exec, &exec_id) == CUPTI_SUCCESS && exec_id != 0);
  EXPECT(CUPTI(cuptiGetGraphExecId)(nullptr, &exec_id) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT(Last(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING).graph.graph == graph);
  EXPECT_OK(cudaGraphDestroy(clone));

  CUcontext context = nullptr;
  EXPECT_OK(cuCtxCreate(&context, nullptr, 0, 0));
  Last(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  EXPECT_OK(cuCtxDestroy(context));
  Last(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  Enable(0, CUPTI_CB_DOMAIN_RESOURCE);

  resources.clear();  // one kind of event
  EXPECT(CUPTI(cuptiEnableCallback)(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                    CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING) == CUPTI_SUCCESS);
  EXPECT_OK(cudaGraphDestroy(NewGraph()));
  EXPECT(resources.size() == 1);
  Enable(0, CUPTI_CB_DOMAIN_RESOURCE);
}

int NVTX_API Push(const char* message) {
  seen.push_back({CUPTI_CB_DOMAIN_NVTX, 0, std::string("push ") + message});
  return 0;
}
int NVTX_API Pop() {
  seen.push_back({CUPTI_CB_DOMAIN_NVTX, 0, "pop"});
  return 0;
}

int NVTX_API Inject(NvtxGetExportTableFunc_t find) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(find(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0)
    return 0;
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(Push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(Pop);
  return 1;
}

void RangesBetweenCalls() {
  seen.clear();
  int count = 0;
  Enable(1, CUPTI_CB_DOMAIN_RUNTIME_API);
  nvtxRangePushA("step");
  EXPECT_OK(cudaGetDeviceCount(&count));
  nvtxRangePop();
  Enable(0, CUPTI_CB_DOMAIN_RUNTIME_API);
  EXPECT((Names() == std::vector<std::string>{"push step", ">cudaGetDeviceCount",
                                              "<cudaGetDeviceCount", "pop"}));
}

void Subscribe(CUpti_CallbackFunc callback) {
  EXPECT(CUPTI(cuptiSubscribe)(&subscriber, callback, nullptr) == CUPTI_SUCCESS);
}

}  // namespace

extern "C" {
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = Inject;
}

int main() {
  EXPECT_OK(cudaFree(nullptr));
  if (LoadCupti()) {
    Subscribe(Note);
    Calls();
    RangesBetweenCalls();
    EXPECT(CUPTI(cuptiUnsubscribe)(subscriber) == CUPTI_SUCCESS);
    Subscribe(NoteResource);
    Resources();
    EXPECT(CUPTI(cuptiUnsubscribe)(subscriber) == CUPTI_SUCCESS);
  }
  return Finish("cupti_domains");
}
