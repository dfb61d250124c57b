// Kernels of the libraries that stand in for NVIDIA's (plugins/soft_cuda/libraries).
#include "plugins/soft_cuda/abi/stand_in.h"

#include <vector>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/module_load.h"

namespace graphkit::soft::driver {
namespace {

constexpr uint32_t kOperandBytes = sizeof(graphkit_soft_operand);

// One module for all of them, which is never unloaded.
Module* StandIns() {
  static Module* module = [] {
    Module* made = Device::Get().modules.Make();
    made->id = ++Device::Get().module_count;
    made->architecture = 90;
    return made;
  }();
  return module;
}

Function* KernelOf(const char* name, size_t operands) {
  const Lock lock = LockDevice();
  for (Function* known : StandIns()->functions) {
    if (known->info.parameters.size() == operands && known->info.name == name) return known;
  }
  KernelInfo info{.name = name};
  for (uint32_t i = 0; i < operands; ++i) {
    info.parameters.push_back({i * kOperandBytes, kOperandBytes});
  }
  return AddFunction(StandIns(), std::move(info));
}

}  // namespace
}  // namespace graphkit::soft::driver

CUresult graphkit_soft_launch(const char* name, CUstream stream,
                              const graphkit_soft_operand* operands, size_t count) {
  std::vector<void*> arguments;
  for (size_t i = 0; i < count; ++i) {
    arguments.push_back(const_cast<graphkit_soft_operand*>(&operands[i]));
  }
  graphkit::soft::Function* kernel = graphkit::soft::driver::KernelOf(name, count);
  return cuLaunchKernel(kernel->handle(), 1, 1, 1, 128, 1, 1, 0, stream, arguments.data(), nullptr);
}

int graphkit_soft_has_operands(uint64_t function) {
  using namespace graphkit::soft;
  const auto* kernel = Resolve<Function>(reinterpret_cast<CUfunction>(function));
  return kernel != nullptr && kernel->module == driver::StandIns();
}
