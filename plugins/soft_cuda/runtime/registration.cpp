// Functions that nvcc's code calls before main and around each launch: fat binaries, kernels and
// variables are registered; a library is loaded when something in it is first used.
#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "generated_cuda_runtime_api_meta.h"
#include "plugins/soft_cuda/runtime/call.h"

namespace graphkit::soft::runtime {
namespace {

struct FatBinary {
  void* handle;  // held by nvcc's code: its address
  const void* image;
  CUlibrary library = nullptr;
};

struct RegisteredKernel {
  FatBinary* binary;
  std::string name;
  CUkernel kernel = nullptr;
};

struct RegisteredVariable {
  FatBinary* binary;
  std::string name;
  void** managed = nullptr;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, RegisteredKernel> kernels;
  std::unordered_map<const void*, RegisteredVariable> variables;
  std::unordered_map<CUkernel, const void*> host_functions;
};

Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

CUlibrary Load(FatBinary* binary) {
  if (binary->library == nullptr) {
    cuLibraryLoadData(&binary->library, binary->image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
  return binary->library;
}

// Gives the pointers of managed variables their values.
void PlaceManaged(FatBinary& binary) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  for (const auto& [symbol, variable] : registry.variables) {
    if (variable.binary != &binary || variable.managed == nullptr) continue;
    if (Load(&binary) == nullptr) return;
    CUdeviceptr address = 0;
    if (cuLibraryGetManaged(&address, nullptr, binary.library, variable.name.c_str()) ==
        CUDA_SUCCESS) {
      *variable.managed = reinterpret_cast<void*>(address);
    }
  }
}

}  // namespace

CUkernel KernelOf(const void* function) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  auto found = registry.kernels.find(function);
  if (found == registry.kernels.end()) {
    const bool kernel = function != nullptr && SharedState().symbol(function) != nullptr;
    return kernel ? reinterpret_cast<CUkernel>(const_cast<void*>(function)) : nullptr;
  }
  RegisteredKernel& entry = found->second;
  if (entry.kernel == nullptr && Load(entry.binary) != nullptr) {
    cuLibraryGetKernel(&entry.kernel, entry.binary->library, entry.name.c_str());
    registry.host_functions[entry.kernel] = function;
  }
  return entry.kernel;
}

const void* HostFunctionOf(CUfunction function) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  for (const auto& [kernel, host] : registry.host_functions) {
    CUfunction own = nullptr;
    if (cuKernelGetFunction(&own, kernel) == CUDA_SUCCESS && own == function) return host;
  }
  return nullptr;
}

CUfunction FunctionOf(const void* function) {
  return reinterpret_cast<CUfunction>(KernelOf(function));
}

const void* HostFunctionOf(CUkernel kernel) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  auto found = registry.host_functions.find(kernel);
  return found != registry.host_functions.end() ? found->second : nullptr;
}

cudaError_t VariableOf(const void* symbol, CUdeviceptr* address, size_t* bytes) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  auto found = registry.variables.find(symbol);
  if (found == registry.variables.end()) {  // host code names a managed variable by its memory
    found = std::ranges::find_if(registry.variables, [symbol](const auto& row) {
      return row.second.managed != nullptr && symbol != nullptr && *row.second.managed == symbol;
    });
  }
  if (found == registry.variables.end() || Load(found->second.binary) == nullptr)
    return cudaErrorInvalidSymbol;
  const CUresult result =
      cuLibraryGetGlobal(address, bytes, found->second.binary->library, found->second.name.c_str());
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidSymbol;
}

}  // namespace graphkit::soft::runtime

using graphkit::soft::CallConfiguration;
using graphkit::soft::SharedState;
using namespace graphkit::soft::runtime;

EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  auto* binary = new FatBinary{nullptr, wrapper};
  return &binary->handle;
}

EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

EXPORT void __cudaUnregisterFatBinary(void** handle) {
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::erase_if(registry.kernels, [&](const auto& row) { return row.second.binary == binary; });
  std::erase_if(registry.variables, [&](const auto& row) { return row.second.binary == binary; });
  delete binary;  // the library stays: its kernels may be in graphs
}

// Host code calls this before it touches a managed variable, through a pointer.
EXPORT char __cudaInitModule(void** handle) {
  if (StartDriver() != cudaSuccess || MakeContextCurrent() != cudaSuccess) return 0;
  PlaceManaged(*reinterpret_cast<FatBinary*>(handle));
  return 1;
}

EXPORT void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                                   const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.kernels[host_function] = {reinterpret_cast<FatBinary*>(handle), name};
}

EXPORT void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* name, int,
                              size_t, int, int) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.variables[host_variable] = {reinterpret_cast<FatBinary*>(handle), name};
}

EXPORT void __cudaRegisterHostVar(void**, const char*, char*, size_t) {
  SharedState().not_modelled("__cudaRegisterHostVar", __builtin_return_address(0));
}

EXPORT void __cudaRegisterManagedVar(void** handle, void** host_variable, char*, const char* name,
                                     int, size_t, int, int) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.variables[host_variable] = {reinterpret_cast<FatBinary*>(handle), name, host_variable};
}

EXPORT void __cudaRegisterUnifiedTable(void**, void*) {
  SharedState().not_modelled("__cudaRegisterUnifiedTable", __builtin_return_address(0));
}

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                            struct CUstream_st* stream) {
  SharedState().thread()->calls.push_back({grid, block, shared, stream});
  return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                              void* stream) {
  std::vector<CallConfiguration>& calls = SharedState().thread()->calls;
  if (calls.empty()) return cudaErrorMissingConfiguration;
  const CallConfiguration call = calls.back();
  calls.pop_back();
  *grid = call.grid;
  *block = call.block;
  *shared = call.shared_bytes;
  *static_cast<CUstream*>(stream) = call.stream;
  return cudaSuccess;
}

EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* function) {
  if (cudaError_t error = StartDriver(); error != cudaSuccess) return error;
  if (cudaError_t error = MakeContextCurrent(); error != cudaSuccess) return error;
  *out = reinterpret_cast<cudaKernel_t>(KernelOf(function));
  return *out != nullptr ? cudaSuccess : graphkit::soft::Latched(cudaErrorInvalidDeviceFunction, 0);
}

// Tools see these as cudaLaunchKernel, as measured on a GPU.
static cudaError_t LaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                size_t shared, cudaStream_t stream) {
  static constexpr graphkit::soft::CallSite kSite{211, "cudaLaunchKernel", 0};
  cudaLaunchKernel_v7000_params params{kernel, grid, block, args, shared, stream};
  return graphkit::soft::Call(
      kSite, &params, [&] { return SharedState().symbol(kernel); },
      [&] {
        return FromLaunch(
            cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x,
                           block.y, block.z, static_cast<unsigned>(shared), stream, args, nullptr),
            grid, block);
      });
}

EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                      size_t shared, cudaStream_t stream) {
  return LaunchKernel(kernel, grid, block, args, shared, stream);
}

EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                           size_t shared, cudaStream_t stream) {
  return LaunchKernel(kernel, grid, block, args, shared, graphkit::soft::PerThread(stream));
}
