#include "plugins/soft_cuda/driver/code/module_load.h"

#include <algorithm>

namespace graphkit::soft::driver {
namespace {

CUresult AddVariable(Gpu* gpu, const VariableInfo& info, Variables* variables) {
  Device& device = Device::Get();
  const auto kind = info.managed ? AllocationKind::kManaged : AllocationKind::kModule;
  const uint64_t address = device.AllocateOn(gpu, kind, info.size, CurrentContext());
  if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  device.backing.Fill(address, info.size, 0);
  const auto initial = reinterpret_cast<uint64_t>(info.initial.data());
  if (!info.initial.empty()) device.backing.Copy(address, initial, info.initial.size());
  (*variables)[info.name] = {address, info.size, info.managed};
  return CUDA_SUCCESS;
}

void NotifyModule(const Module& module, CUpti_CallbackIdResource cbid) {
  const Device& device = Device::Get();
  CUpti_ModuleResourceData data{};
  data.moduleId = module.id;
  data.cubinSize = module.image.size();
  data.pCubin = module.image.data();
  const Context* context = CurrentContext();
  NotifyResource(device.hub, cbid,
                 context != nullptr ? const_cast<Context*>(context)->handle() : nullptr, nullptr,
                 &data);
}

}  // namespace

CUresult LoadModule(const void* data, bool library, Module** out) {
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::vector<Image> images = ReadImages(data);
  if (images.empty()) return CUDA_ERROR_INVALID_IMAGE;
  Gpu* gpu = CurrentContext() != nullptr ? CurrentContext()->gpu : Device::Get().gpus.data();
  const Image* image = ChooseImage(images, gpu->figures.architecture);
  if (image == nullptr) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  std::optional<ModuleInfo> info = image->ptx ? ReadPtx(image->bytes) : ReadCubin(image->bytes);
  if (!info) return image->ptx ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE;
  Device& device = Device::Get();
  Module* module = device.modules.Make();
  module->library = library;
  module->id = ++device.module_count;
  module->image = image->bytes;
  for (KernelInfo& kernel : info->kernels) AddFunction(module, std::move(kernel));
  module->architecture = image->architecture;
  module->ptx = image->ptx;
  module->variable_infos = std::move(info->variables);
  if (CUresult error = PlaceVariables(module, gpu); error != CUDA_SUCCESS) return error;
  NotifyModule(*module, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  *out = module;
  return CUDA_SUCCESS;
}

Function* AddFunction(Module* module, KernelInfo info) {
  Function* function = Device::Get().functions.Make();
  function->module = module;
  function->info = std::move(info);
  module->functions.push_back(function);
  return function;
}

CUresult PlaceVariables(Module* module, Gpu* gpu) {
  if (module->variables.contains(gpu->ordinal)) return CUDA_SUCCESS;
  Variables& variables = module->variables[gpu->ordinal];
  for (const VariableInfo& info : module->variable_infos) {
    if (CUresult error = AddVariable(gpu, info, &variables); error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

void UnloadModule(Module* module) {
  Device& device = Device::Get();
  NotifyModule(*module, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
  for (Function* function : module->functions) device.functions.Unmake(function);
  for (const auto& [ordinal, variables] : module->variables) {
    for (const auto& [name, variable] : variables) device.Release(variable.address);
  }
  device.modules.Unmake(module);
}

Function* FindFunction(const Module& module, std::string_view name) {
  for (Function* function : module.functions) {
    if (function->info.name == name) return function;
  }
  return nullptr;
}

namespace {

void* const* ValueOf(const CUjit_option* options, void* const* values, unsigned count,
                     CUjit_option wanted) {
  const CUjit_option* found = std::find(options, options + count, wanted);
  return found != options + count ? values + (found - options) : nullptr;
}

}  // namespace

void GiveLogs(const CUjit_option* options, void** values, unsigned count) {
  for (const CUjit_option log : {CU_JIT_INFO_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER}) {
    const CUjit_option size = log == CU_JIT_INFO_LOG_BUFFER ? CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES
                                                            : CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
    void* const* buffer = ValueOf(options, values, count, log);
    void* const* room = ValueOf(options, values, count, size);
    if (buffer != nullptr && *buffer != nullptr && room != nullptr && *room != nullptr)
      *static_cast<char*>(*buffer) = 0;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
        options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES || options[i] == CU_JIT_WALL_TIME) {
      values[i] = nullptr;
    }
  }
}

bool AreOptions(const void* options, const void* values, unsigned count) {
  return count == 0 || (options != nullptr && values != nullptr);
}

}  // namespace graphkit::soft::driver
