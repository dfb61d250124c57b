// How long work takes on the modelled clock.
#include "plugins/soft_cuda/driver/stream/duration.h"

#include <algorithm>

#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/driver/rules/occupancy.h"
#include "plugins/soft_cuda/model/execute.h"

namespace graphkit::soft::driver {

uint64_t KernelNs(const Function& function, const LaunchShape& shape, const Gpu& gpu) {
  const uint64_t blocks = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  const auto processors = static_cast<uint64_t>(gpu.figures.multiprocessors);
  if (blocks <= processors) return kKernelNs;
  const auto threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
  const int each = std::max(1, ActiveBlocksOf(gpu, function, threads, shape.shared_bytes));
  const uint64_t at_once = processors * static_cast<uint64_t>(each);
  return kKernelNs * ((blocks + at_once - 1) / at_once);
}

uint64_t DurationNs(const NodeParams& params, const Gpu& gpu) {
  if (const auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&params))
    return KernelNs(*(*kernel)->function, (*kernel)->shape, gpu);
  if (const auto* copy = std::get_if<std::unique_ptr<MemcpyParams>>(&params))
    return kNodeNs + CopyBytes((*copy)->copy) / kBytesPerNs;
  if (const auto* set = std::get_if<std::unique_ptr<MemsetParams>>(&params)) {
    const CUDA_MEMSET_NODE_PARAMS& s = (*set)->set;
    return kNodeNs + uint64_t{s.width} * s.elementSize * s.height / kBytesPerNs;
  }
  return kNodeNs;
}

}  // namespace graphkit::soft::driver
