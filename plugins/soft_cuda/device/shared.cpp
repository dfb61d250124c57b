#include "plugins/soft_cuda/device/shared.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"

namespace graphkit::soft {
namespace {

// The stream ids that CUPTI was seen to give: the legacy stream has 7, others count on from there.
constexpr uint64_t kStreamIdOffset = 6;

CUcontext CurrentContextAndUid(uint32_t* uid) {
  Context* context = CurrentContext();
  *uid = context != nullptr ? context->uid : 0;
  return context != nullptr ? context->handle() : nullptr;
}

const char* SymbolName(const void* handle) {
  auto* function = Resolve<Function>(const_cast<void*>(handle));
  return function != nullptr ? function->info.name.c_str() : nullptr;
}

// The file name of the library or program whose code this is.
std::string LibraryOf(const void* code) {
  Dl_info info{};
  if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) return "unknown code";
  const std::string_view path = info.dli_fname;
  return std::string(path.substr(path.rfind('/') + 1));
}

// Advice for functions where "not supported" isn't enough.
const char* Advice(std::string_view function) {
  if (function == "cuGetExportTable" || function == "cudaGetExportTable") {
    return "NVIDIA's CUDA runtime inside it needs undocumented tables: rebuild with symbols, or "
           "with nvcc -cudart shared, and start it by graphkit trace; or run on a GPU";
  }
  return "run on a GPU (graphkit trace --device cuda), or avoid the call";
}

void SayNotModelled(const char* function, const void* caller) {
  Device& device = Device::Get();
  const std::string library = LibraryOf(caller);
  const Lock lock(device.mutex);
  if (!device.not_modelled.insert({function, library}).second) return;
  std::fprintf(stderr,
               "graphkit soft device: %s is not modelled and returns 'not supported' to %s; %s\n",
               function, library.c_str(), Advice(function));
}

bool GraphIdOf(CUgraph handle, uint32_t* id) {
  const auto* graph = Resolve<Graph>(handle);
  if (graph != nullptr) *id = graph->id;
  return graph != nullptr;
}

bool NodeIdOf(CUgraphNode handle, uint64_t* id) {
  const auto* node = Resolve<Node>(handle);
  if (node != nullptr) *id = uint64_t{node->graph->id} << 32 | node->index;
  return node != nullptr;
}

bool ExecIdOf(CUgraphExec handle, uint32_t* id) {
  const auto* exec = Resolve<Graph>(handle);
  if (exec == nullptr || exec->kind != GraphKind::kExec) return false;
  *id = exec->id;
  return true;
}

bool StreamIdOf(CUcontext context_handle, CUstream handle, bool per_thread, uint32_t* id) {
  const Lock lock = LockDevice();
  Stream* stream = nullptr;
  const auto* context =
      context_handle != nullptr ? Resolve<Context>(context_handle) : CurrentContext();
  if (handle == nullptr && !per_thread) {
    stream = context != nullptr ? context->legacy : nullptr;
  } else {
    stream = FindStream(handle == nullptr ? CU_STREAM_PER_THREAD : handle);
  }
  if (stream == nullptr || (context_handle != nullptr && stream->context != context)) return false;
  *id = static_cast<uint32_t>(stream->id + kStreamIdOffset);
  return true;
}

bool ContextIdOf(CUcontext handle, uint32_t* id) {
  const auto* context = Resolve<Context>(handle);
  if (context != nullptr) *id = context->uid;
  return context != nullptr;
}

bool DeviceIdOf(CUcontext handle, uint32_t* id) {
  const auto* context = handle != nullptr ? Resolve<Context>(handle) : CurrentContext();
  *id = context != nullptr ? static_cast<uint32_t>(context->gpu->ordinal) : 0;
  return context != nullptr;
}

CUcontext PrimaryOf(int device) {
  const Lock lock = LockDevice();
  const Gpu* gpu = Device::Get().FindGpu(device);
  return gpu != nullptr && gpu->primary != nullptr ? gpu->primary->handle() : nullptr;
}

uint64_t HostTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

CUresult CheckUnsafe() {
  const Lock lock = LockDevice();
  return Device::Get().captures.CheckUnsafe(CurrentThread());
}

int DeviceCount() {
  return static_cast<int>(Device::Get().gpus.size() + Device::Get().hidden_gpus.size());
}

bool FactsOf(int place, DeviceFacts* facts) {
  const Lock lock = LockDevice();
  const Gpu* gpu = Device::Get().FindPlace(place);
  if (gpu == nullptr) return false;
  std::snprintf(facts->name, sizeof facts->name, "%s", gpu->figures.name.c_str());
  std::snprintf(facts->bus_id, sizeof facts->bus_id, "%s", PciBusId(*gpu).c_str());
  std::snprintf(facts->uuid, sizeof facts->uuid, "%s", UuidText(*gpu).c_str());
  facts->bytes = gpu->figures.bytes;
  facts->free_bytes = gpu->free_bytes();
  facts->architecture = gpu->figures.architecture;
  return true;
}

ThreadState* ThreadStateOf() { return &CurrentThread(); }
bool DriverReady() { return Device::Get().ready.load(std::memory_order_acquire); }

}  // namespace
}  // namespace graphkit::soft

const graphkit::soft::Shared* graphkit_soft_shared() {
  using namespace graphkit::soft;
  static const Shared shared{&Device::Get().hub, ThreadStateOf,  CurrentContextAndUid,
                             SymbolName,         SayNotModelled, DriverReady,
                             GraphIdOf,          NodeIdOf,       ExecIdOf,
                             StreamIdOf,         ContextIdOf,    DeviceIdOf,
                             HostTime,           PrimaryOf,      CheckUnsafe,
                             DeviceCount,        FactsOf};
  return &shared;
}
