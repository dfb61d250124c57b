// The parts of CUPTI that the tracer uses: the layouts of three structures, and numbers. They are
// the same from CUDA 12.0 to 13.0, so that one build attaches to any libcupti. Checked against the
// headers where the plugin is built (driver_calls.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace graphkit::cupti {

// CUpti_CallbackDomain
inline constexpr uint32_t kDriverDomain = 1;
inline constexpr uint32_t kRuntimeDomain = 2;
inline constexpr uint32_t kResourceDomain = 3;

// CUpti_CallbackIdResource
inline constexpr uint32_t kGraphCreated = 9;
inline constexpr uint32_t kGraphDestroyStarting = 10;
inline constexpr uint32_t kGraphCloned = 11;
inline constexpr uint32_t kNodeCreateStarting = 12;
inline constexpr uint32_t kNodeCreated = 13;
inline constexpr uint32_t kDependencyCreated = 15;
inline constexpr uint32_t kDependencyDestroyStarting = 16;
inline constexpr uint32_t kNodeCloned = 20;
inline constexpr uint32_t kModuleLoaded = 6;
inline constexpr uint32_t kModuleUnloadStarting = 7;

// CUptiResult
inline constexpr int kSuccess = 0;
inline constexpr int kNotInitialized = 15;  // also: made for a later driver
inline constexpr int kMultipleSubscribers = 39;
inline constexpr int kUnknownError = 999;

// CUpti_SubscriberParams of CUPTI 13.3 (cupti_callbacks.h in nvidia-cuda-cupti 13.3.75). That of
// CUPTI 13.0 ends before allow_others: `size` tells how much of it there is.
struct SubscriberParams {
  size_t size = sizeof(SubscriberParams);
  const char* name = nullptr;  // at most 53 bytes
  char* old_name = nullptr;    // gets that of the first subscriber
  size_t old_size = 0;
  uint8_t allow_others = 0;  // allowMultipleSubscribers
  uint8_t padding[7] = {};
};
static_assert(offsetof(SubscriberParams, allow_others) == 32 && sizeof(SubscriberParams) == 40);
inline constexpr size_t kSubscriberParams13_0 = 32;
inline constexpr uint32_t kVersion13_3 = 130300;  // cuptiGetVersion

inline constexpr uint32_t kApiEnter = 0;
inline constexpr uint32_t kApiExit = 1;

struct CallbackData {  // CUpti_CallbackData
  uint32_t site;
  const char* function_name;
  const void* params;
  const void* return_value;
  const char* symbol_name;
  void* context;
  uint32_t context_uid;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};
static_assert(sizeof(CallbackData) == 72);

struct GraphData {  // CUpti_GraphData
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
  int node_type;
  void* dependency;
  void* exec;
};
static_assert(sizeof(GraphData) == 56);

struct ModuleData {  // CUpti_ModuleResourceData
  uint32_t module_id;
  size_t cubin_size;
  const char* cubin;
};
static_assert(sizeof(ModuleData) == 24);

struct ResourceData {  // CUpti_ResourceData
  void* context;
  void* handle;
  void* descriptor;  // GraphData with the graph callbacks, ModuleData with the module's
};
static_assert(sizeof(ResourceData) == 24);

using Callback = void (*)(void* user, uint32_t domain, uint32_t id, const void* data);

}  // namespace graphkit::cupti
