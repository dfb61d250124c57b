#include "plugins/soft_cuda/abi/inventory.h"

#include <iterator>

namespace {

constexpr graphkit_soft_function kDriver[] = {
#include "driver_inventory.inc"
};
constexpr graphkit_soft_function kRuntime[] = {
#include "runtime_inventory.inc"
};
constexpr graphkit_soft_function kCupti[] = {
#include "cupti_inventory.inc"
};

struct Table {
  const graphkit_soft_function* rows;
  size_t count;
};

constexpr Table kTables[] = {
    {kDriver, std::size(kDriver)}, {kRuntime, std::size(kRuntime)}, {kCupti, std::size(kCupti)}};

}  // namespace

extern "C" __attribute__((visibility("default"))) size_t graphkit_soft_inventory(
    int library, const graphkit_soft_function** rows) {
  if (library < 0 || library >= static_cast<int>(std::size(kTables))) {
    *rows = nullptr;
    return 0;
  }
  *rows = kTables[library].rows;
  return kTables[library].count;
}
