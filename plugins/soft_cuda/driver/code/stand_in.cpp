// Kernels of the libraries that stand in for NVIDIA's (plugins/soft_cuda/libraries).
#include "plugins/soft_cuda/abi/stand_in.h"

#include <vector>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/code/module_load.h"

namespace graphkit::soft::driver {
namespace {

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

std::vector<Parameter> ParametersOf(const graphkit_soft_work& work) {
  std::vector<Parameter> parameters;
  uint32_t offset = 0;
  const auto add = [&](size_t count, uint32_t bytes) {
    for (size_t i = 0; i < count; ++i, offset += bytes) parameters.push_back({offset, bytes});
  };
  add(work.operand_count, sizeof(graphkit_soft_operand));
  add(work.collective_count, sizeof(graphkit_soft_collective));
  return parameters;
}

Function* KernelOf(const graphkit_soft_work& work) {
  KernelInfo info{.name = work.name, .parameters = ParametersOf(work)};
  const Lock lock = LockDevice();
  for (Function* known : StandIns()->functions) {
    if (known->info.parameters == info.parameters && known->info.name == info.name) return known;
  }
  return AddFunction(StandIns(), std::move(info));
}

}  // namespace
}  // namespace graphkit::soft::driver

CUresult graphkit_soft_launch(const graphkit_soft_work* work, CUstream stream) {
  std::vector<void*> arguments;
  for (size_t i = 0; i < work->operand_count; ++i) {
    arguments.push_back(const_cast<graphkit_soft_operand*>(&work->operands[i]));
  }
  for (size_t i = 0; i < work->collective_count; ++i) {
    arguments.push_back(const_cast<graphkit_soft_collective*>(&work->collectives[i]));
  }
  graphkit::soft::Function* kernel = graphkit::soft::driver::KernelOf(*work);
  return cuLaunchKernel(kernel->handle(), 1, 1, 1, 128, 1, 1, 0, stream, arguments.data(), nullptr);
}

int graphkit_soft_has_operands(uint64_t function) {
  using namespace graphkit::soft;
  const auto* kernel = Resolve<Function>(reinterpret_cast<CUfunction>(function));
  return kernel != nullptr && kernel->module == driver::StandIns();
}
