#include "plugins/soft_cuda/device/shared.h"

#include <dlfcn.h>
#include <elf.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "plugins/soft_cuda/audit/elf_symbols.h"
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

// The library or program whose code this is; empty: unknown.
std::string FileOf(const void* code) {
  Dl_info info{};
  return dladdr(code, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

// NVRTC compiles without the tables that it asks for (seen with 13.2 and 13.5).
bool IsNvrtc(const std::string& path) {
  bool found = false;
  MappedElf(path.c_str()).ForEachFunction(SHT_DYNSYM, [&](const char* name, uint64_t, uint64_t) {
    found |= std::string_view(name) == "nvrtcVersion";
  });
  return found;
}

// NVIDIA's runtime asks for undocumented tables. Why it, in this file, isn't led to the software
// device, and what its user can do.
const char* AdviceOnTables(const std::string& path) {
  const MappedElf file(path.c_str());
  bool shared_runtime = false;
  file.ForEachVersion([&](const char* version) {
    shared_runtime |= std::string_view(version).starts_with("libcudart.so.");
  });
  if (shared_runtime || file.Mentions(SHT_SYMTAB, "__cudaRegisterFatBinary")) {
    return "NVIDIA's CUDA runtime in it needs undocumented tables: start the program by graphkit "
           "trace, which leads that runtime to the software device, or run it on a GPU";
  }
  if (!file.Mentions(SHT_SYMTAB, "")) {
    return "its tables are undocumented; NVIDIA's CUDA runtime asks for them, and inside a file "
           "whose symbol table is stripped it can't be led to the software device: install a build "
           "of the file that uses a shared CUDA runtime, build it with nvcc -cudart shared or "
           "without strip, or run it on a GPU";
  }
  return "its tables are undocumented: run on a GPU (graphkit trace --device cuda), or avoid the "
         "call";
}

// Advice for functions where "not supported" isn't enough.
const char* Advice(std::string_view function, const std::string& path) {
  if (function == "cuGetExportTable" || function == "cudaGetExportTable") {
    return AdviceOnTables(path);
  }
  return "run on a GPU (graphkit trace --device cuda), or avoid the call";
}

void SayNotModelled(const char* function, const void* caller) {
  Device& device = Device::Get();
  const std::string path = FileOf(caller);
  const std::string library = path.empty() ? "unknown code" : path.substr(path.rfind('/') + 1);
  const Lock lock(device.mutex);
  if (!device.not_modelled.insert({function, library}).second) return;
  if (std::string_view(function) == "cuGetExportTable" && IsNvrtc(path)) return;
  std::fprintf(stderr,
               "graphkit soft device: %s is not modelled and returns 'not supported' to %s; %s\n",
               function, library.c_str(), Advice(function, path));
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
