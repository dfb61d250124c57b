// Modules and libraries, their kernels and variables.
#include "plugins/soft_cuda/model/module.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "driver_impl.h"
#include "plugins/soft_cuda/driver/code/module_load.h"

namespace graphkit::soft::driver {
namespace {

CUresult GiveVariable(Module& module, const char* name, CUdeviceptr* address, size_t* bytes,
                      bool managed = false) {
  if (name == nullptr || (address == nullptr && bytes == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = CurrentContext();
  if (context == nullptr && !managed) return CUDA_ERROR_INVALID_CONTEXT;
  Gpu* gpu = context != nullptr ? context->gpu : Device::Get().gpus.data();
  if (CUresult error = PlaceVariables(&module, gpu); error != CUDA_SUCCESS) return error;
  const Variables& variables = module.variables.at(gpu->ordinal);
  auto found = variables.find(std::string_view(name));
  if (found == variables.end() || (managed && !found->second.managed)) return CUDA_ERROR_NOT_FOUND;
  if (address != nullptr) *address = found->second.address;
  if (bytes != nullptr) *bytes = found->second.size;
  return CUDA_SUCCESS;
}

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

CUresult ModuleLoadData(CUmodule* out, const void* image) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  Module* module = nullptr;
  const CUresult result = LoadModule(image, false, &module);
  if (result == CUDA_SUCCESS) *out = module->handle();
  return result;
}

CUresult ModuleLoadDataEx(CUmodule* out, const void* image, unsigned int count,
                          CUjit_option* options, void** values) {
  if (!AreOptions(options, values, count)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = ModuleLoadData(out, image);
  GiveLogs(options, values, count);
  return result;
}
CUresult ModuleLoadFatBinary(CUmodule* out, const void* image) {
  return ModuleLoadData(out, image);
}

CUresult ModuleLoad(CUmodule* out, const char* path) {
  if (out == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::string image = ReadFile(path);
  return image.empty() ? CUDA_ERROR_FILE_NOT_FOUND : ModuleLoadData(out, image.c_str());
}

CUresult ModuleUnload(CUmodule handle) {
  const Lock lock = LockDevice();
  auto* module = Resolve<Module>(handle);
  if (module == nullptr || module->library) return CUDA_ERROR_INVALID_HANDLE;
  UnloadModule(module);
  return CUDA_SUCCESS;
}

CUresult ModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  auto* module = Resolve<Module>(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Function* function = FindFunction(*module, name);
  if (function == nullptr) return CUDA_ERROR_NOT_FOUND;
  *out = function->handle();
  return CUDA_SUCCESS;
}

CUresult ModuleGetFunctionCount(unsigned int* count, CUmodule handle) {
  const Lock lock = LockDevice();
  auto* module = Resolve<Module>(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}

CUresult ModuleEnumerateFunctions(CUfunction* functions, unsigned int count, CUmodule handle) {
  const Lock lock = LockDevice();
  auto* module = Resolve<Module>(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (functions == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count && i < module->functions.size(); ++i) {
    functions[i] = module->functions[i]->handle();
  }
  return CUDA_SUCCESS;
}

// As drivers say since 12.2: to clients EAGER means that every image has to be loaded.
CUresult ModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult ModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule handle,
                            const char* name) {
  const Lock lock = LockDevice();
  auto* module = Resolve<Module>(handle);
  return module != nullptr ? GiveVariable(*module, name, address, bytes)
                           : CUDA_ERROR_INVALID_HANDLE;
}

CUresult LibraryLoadData(CUlibrary* out, const void* code, CUjit_option* jit, void** jit_values,
                         unsigned int jit_count, CUlibraryOption* options, void** values,
                         unsigned int count) {
  if (out == nullptr || !AreOptions(jit, jit_values, jit_count) ||
      (options == nullptr && count > 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool known = std::all_of(options, options + count, [](CUlibraryOption option) {
    return option >= CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE &&
           option < CU_LIBRARY_NUM_OPTIONS;
  });
  if (!known) return CUDA_ERROR_INVALID_VALUE;
  (void)values;  // of options that say who keeps the code: the device has a copy of its own
  const Lock lock = LockDevice();
  Module* module = nullptr;
  const CUresult result = LoadModule(code, true, &module);
  GiveLogs(jit, jit_values, jit_count);
  if (result == CUDA_SUCCESS) *out = module->library_handle();
  return result;
}

CUresult LibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option* jit, void** jit_values,
                             unsigned int jit_count, CUlibraryOption* options, void** values,
                             unsigned int count) {
  if (out == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::string image = ReadFile(path);
  if (image.empty()) return CUDA_ERROR_FILE_NOT_FOUND;
  return LibraryLoadData(out, image.c_str(), jit, jit_values, jit_count, options, values, count);
}

CUresult LibraryUnload(CUlibrary handle) {
  const Lock lock = LockDevice();
  auto* module = Resolve<Module>(handle);
  if (module == nullptr || !module->library) return CUDA_ERROR_INVALID_HANDLE;
  UnloadModule(module);
  return CUDA_SUCCESS;
}

CUresult LibraryGetKernel(CUkernel* out, CUlibrary handle, const char* name) {
  CUfunction function = nullptr;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = ModuleGetFunction(&function, reinterpret_cast<CUmodule>(handle), name);
  if (result == CUDA_SUCCESS) *out = Resolve<Function>(function)->kernel_handle();
  return result;
}

CUresult LibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  return ModuleGetFunctionCount(count, reinterpret_cast<CUmodule>(handle));
}

CUresult LibraryEnumerateKernels(CUkernel* kernels, unsigned int count, CUlibrary handle) {
  const Lock lock = LockDevice();
  auto* module = Resolve<Module>(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (kernels == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count && i < module->functions.size(); ++i) {
    kernels[i] = module->functions[i]->kernel_handle();
  }
  return CUDA_SUCCESS;
}

CUresult LibraryGetModule(CUmodule* out, CUlibrary handle) {
  auto* module = Resolve<Module>(handle);
  if (module == nullptr || !module->library) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *out = module->handle();
  return CUDA_SUCCESS;
}

CUresult LibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary handle, const char* name) {
  return ModuleGetGlobal_v2(address, bytes, reinterpret_cast<CUmodule>(handle), name);
}

CUresult LibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary handle,
                           const char* name) {
  const Lock lock = LockDevice();
  auto* module = Resolve<Module>(handle);
  return module != nullptr ? GiveVariable(*module, name, address, bytes, true)
                           : CUDA_ERROR_INVALID_HANDLE;
}

// The device has no pointers to functions that host and device share.
CUresult LibraryGetUnifiedFunction(void**, CUlibrary handle, const char*) {
  const Lock lock = LockDevice();
  return Resolve<Module>(handle) != nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace graphkit::soft::driver
