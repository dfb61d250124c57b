// The callbacks that a CUPTI subscriber asked for, and their delivery. There is one hub in the
// process, inside libcuda.so.1; the runtime and CUPTI libraries reach it through shared.h, so
// everything here is inline.
#pragma once

#include <cuda.h>
#include <cupti_callbacks.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace graphkit::soft {

struct Hub {
  static constexpr size_t kDomains = 16;
  static constexpr size_t kCallbacks = 1024;  // more than any header's cbids

  std::atomic<uint8_t> enabled[kDomains][kCallbacks] = {};
  std::atomic<CUpti_CallbackFunc> callback{nullptr};
  std::atomic<void*> user_data{nullptr};
  // Every call of every thread changes it: on a cache line of its own.
  alignas(64) std::atomic<uint32_t> correlation{0};
  char rest_of_the_line[64 - sizeof(std::atomic<uint32_t>)] = {};
  std::atomic<bool> takes_buffers{false};  // of activity records: callbacks are registered
  std::atomic<int> thread_id_type{0};      // of activity records
  std::mutex mutex;                        // guards what follows
  bool subscribed = false;
  std::string name;
  std::map<int, uint64_t> activity_attributes;  // those that were set

  bool Wants(CUpti_CallbackDomain domain, uint32_t cbid) const {
    return enabled[domain][cbid].load(std::memory_order_relaxed) != 0;
  }

  void Deliver(CUpti_CallbackDomain domain, uint32_t cbid, const void* data) const {
    if (CUpti_CallbackFunc f = callback.load(std::memory_order_acquire)) {
      f(user_data.load(std::memory_order_relaxed), domain, cbid, data);
    }
  }
};

// Delivers a callback of the resource domain about a context, stream or module.
inline void NotifyResource(const Hub& hub, CUpti_CallbackIdResource cbid, CUcontext context,
                           CUstream stream, void* descriptor = nullptr) {
  if (!hub.Wants(CUPTI_CB_DOMAIN_RESOURCE, cbid)) return;
  CUpti_ResourceData data{};
  data.context = context;
  data.resourceHandle.stream = stream;
  data.resourceDescriptor = descriptor;
  hub.Deliver(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

// The contents of a callback about a graph; the fields of CUpti_GraphData, of which each callback
// fills a few.
struct GraphNews {
  CUgraph graph = nullptr;
  CUgraph original_graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphNode original_node = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
  CUgraphNode dependency = nullptr;
  CUgraphExec exec = nullptr;
};

// Delivers a callback about a graph, node, edge or exec. `context` is null for all but the making
// of an exec.
inline void NotifyGraph(const Hub& hub, CUpti_CallbackIdResource cbid, const GraphNews& news,
                        CUcontext context) {
  CUpti_GraphData data{};
  data.graph = news.graph;
  data.originalGraph = news.original_graph;
  data.node = news.node;
  data.originalNode = news.original_node;
  data.nodeType = news.type;
  data.dependency = news.dependency;
  data.graphExec = news.exec;
  NotifyResource(hub, cbid, context, nullptr, &data);
}

}  // namespace graphkit::soft
