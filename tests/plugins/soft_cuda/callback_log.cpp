// A library for CUDA_INJECTION64_PATH that writes every callback as a line, with ids in place of
// handles:
//   enter runtime cudaGraphCreate          one call in another is indented
//   12 g1 n1.0 type 0                      a resource callback: graph 1, its node 0
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

FILE* out = nullptr;
thread_local int depth = 0;

template <typename T>
T Load(const char* name) {
  static void* cupti = dlopen("libcupti.so.13", RTLD_NOW);
  return cupti != nullptr ? reinterpret_cast<T>(dlsym(cupti, name)) : nullptr;
}

std::string Name(CUgraph graph) {
  static auto* id_of = Load<CUptiResult (*)(CUgraph, uint32_t*)>("cuptiGetGraphId");
  uint32_t id = 0;
  if (graph == nullptr) return "";
  return id_of(graph, &id) == CUPTI_SUCCESS ? " g" + std::to_string(id) : " g?";
}

std::string Name(CUgraphNode node) {
  static auto* id_of = Load<CUptiResult (*)(CUgraphNode, uint64_t*)>("cuptiGetGraphNodeId");
  uint64_t id = 0;
  if (node == nullptr) return "";
  if (id_of(node, &id) != CUPTI_SUCCESS) return " n?";
  return " n" + std::to_string(id >> 32) + "." + std::to_string(id & 0xffffffff);
}

std::string Name(CUgraphExec exec) {
  static auto* id_of = Load<CUptiResult (*)(CUgraphExec, uint32_t*)>("cuptiGetGraphExecId");
  uint32_t id = 0;
  if (exec == nullptr) return "";
  return id_of(exec, &id) == CUPTI_SUCCESS ? " exec" + std::to_string(id) : " exec?";
}

void LogCall(const char* domain, const CUpti_CallbackData& data) {
  const bool enter = data.callbackSite == CUPTI_API_ENTER;
  if (!enter) --depth;
  std::fprintf(out, "%*s%s %s %s", 2 * depth, "", enter ? "enter" : "exit", domain,
               data.functionName);
  // The symbol is valid for launches only.
  if (enter && std::strstr(data.functionName, "LaunchKernel") != nullptr &&
      data.symbolName != nullptr)
    std::fprintf(out, " %s", data.symbolName);
  if (!enter && data.functionReturnValue != nullptr)
    std::fprintf(out, " %d", *static_cast<int*>(data.functionReturnValue));
  std::fprintf(out, "\n");
  if (enter) ++depth;
}

void LogResource(uint32_t cbid, const CUpti_ResourceData& resource) {
  std::fprintf(out, "%*s%u", 2 * depth, "", cbid);
  const bool graph = cbid >= CUPTI_CBID_RESOURCE_GRAPH_CREATED &&
                     cbid <= CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS &&
                     cbid != CUPTI_CBID_RESOURCE_STREAM_ATTRIBUTE_CHANGED;
  if (graph) {
    const auto& data = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
    std::fprintf(out, "%s%s", Name(data.graph).c_str(), Name(data.node).c_str());
    if (data.dependency != nullptr) std::fprintf(out, " after%s", Name(data.dependency).c_str());
    if (data.originalGraph != nullptr)
      std::fprintf(out, " of%s%s", Name(data.originalGraph).c_str(),
                   Name(data.originalNode).c_str());
    if (data.graphExec != nullptr) std::fprintf(out, "%s", Name(data.graphExec).c_str());
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING)
      std::fprintf(out, " type %d", data.nodeType);
    if (resource.context != nullptr) std::fprintf(out, " context");
  }
  std::fprintf(out, "\n");
}

void CUPTIAPI OnCallback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                         const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    LogResource(cbid, *static_cast<const CUpti_ResourceData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    LogCall("runtime", *static_cast<const CUpti_CallbackData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    LogCall("driver", *static_cast<const CUpti_CallbackData*>(data));
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* path = std::getenv("CALLBACK_LOG");
  out = path != nullptr ? std::fopen(path, "w") : stderr;
  std::setvbuf(out, nullptr, _IOLBF, BUFSIZ);  // kept where the program crashes
  auto* subscribe =
      Load<CUptiResult (*)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*)>("cuptiSubscribe");
  auto* enable = Load<CUptiResult (*)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain)>(
      "cuptiEnableDomain");
  CUpti_SubscriberHandle subscriber = nullptr;
  if (subscribe == nullptr || subscribe(&subscriber, OnCallback, nullptr) != CUPTI_SUCCESS)
    return 0;
  for (auto domain :
       {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE}) {
    enable(1, subscriber, domain);
  }
  return 1;
}
