// How many blocks and clusters of a kernel are on the device at once: by its registers and shared
// memory, which its cubin tells, and what a multiprocessor has. Of a kernel of PTX the registers
// aren't known; it counts as taking 32.
#include "plugins/soft_cuda/driver/rules/occupancy.h"

#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"

namespace graphkit::soft::driver {
namespace {

constexpr int kUnknownRegisters = 32;
constexpr size_t kSharedUnit = 128;             // bytes; shared memory is given out in these steps
constexpr unsigned kMostInPortableCluster = 8;  // blocks, without opting in
constexpr unsigned kLargestCluster = 16;        // with
constexpr unsigned kProcessorsOfGroup = 16;     // multiprocessors that one cluster can lie on

template <typename T>
T RoundUp(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

struct Limits {
  const Gpu& gpu;
  const Capability& capability;

  explicit Limits(const Gpu& of) : gpu(of), capability(CapabilityOf(of.figures.architecture)) {}
  size_t shared() const { return static_cast<size_t>(capability.shared_bytes); }
  size_t SharedOf(const Function& f, size_t dynamic) const {
    return RoundUp(f.info.shared_bytes + dynamic, kSharedUnit) +
           static_cast<size_t>(ReservedShared(gpu.figures.architecture));
  }
};

// Blocks that threads and registers allow on one multiprocessor.
int BlocksByThreads(const Limits& limits, const Function& f, int block) {
  const int warps = (block + kWarp - 1) / kWarp;
  const int blocks = std::min(limits.capability.blocks, limits.capability.threads / kWarp / warps);
  const int each = f.info.registers != 0 ? static_cast<int>(f.info.registers) : kUnknownRegisters;
  const int of_warp = RoundUp(each * kWarp, kRegisterUnit);
  return std::min(blocks, kRegisters / of_warp / warps);
}

int ActiveBlocks(const Limits& limits, const Function& f, int block, size_t dynamic) {
  if (block > MostThreads(f)) return 0;
  if (dynamic > static_cast<size_t>(std::max(MostDynamic(f), 0))) return 0;
  const size_t shared = limits.SharedOf(f, dynamic);
  const size_t by_shared = shared != 0 ? limits.shared() / shared : limits.shared();
  return static_cast<int>(
      std::min<size_t>(static_cast<size_t>(BlocksByThreads(limits, f, block)), by_shared));
}

struct Asked {
  CUresult error = CUDA_SUCCESS;
  const Function* function = nullptr;
  const Gpu* gpu = nullptr;
};

Asked Ask(CUfunction handle, const void* out) {
  const Context* context = CurrentContext();
  if (context == nullptr) return {.error = CUDA_ERROR_INVALID_CONTEXT};
  const auto* function = Resolve<Function>(handle);
  if (function == nullptr) return {.error = CUDA_ERROR_INVALID_HANDLE};
  if (out == nullptr) return {.error = CUDA_ERROR_INVALID_VALUE};
  return {.function = function, .gpu = context->gpu};
}

// The blocks of a cluster: as launched, else as compiled, else one.
unsigned ClusterSize(const Function& f, const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& size = config.attrs[i].value.clusterDim;
    return size.x * size.y * size.z;
  }
  const auto& size = f.info.cluster;
  return size[0] != 0 ? size[0] * size[1] * size[2] : 1;
}

// Blocks of a launch that one group of multiprocessors can hold.
unsigned BlocksOfGroup(const Asked& asked, const CUlaunchConfig& config) {
  const auto threads = static_cast<int>(config.blockDimX * config.blockDimY * config.blockDimZ);
  const int each = threads > 0 ? ActiveBlocks(Limits(*asked.gpu), *asked.function, threads,
                                              config.sharedMemBytes)
                               : 0;
  return static_cast<unsigned>(each) * kProcessorsOfGroup;
}

bool HasClusters(const Gpu& gpu) { return gpu.figures.architecture >= 90; }

}  // namespace

int MostThreads(const Function& f) {
  if (f.info.registers == 0) return static_cast<int>(f.info.max_threads);
  const int of_warp = RoundUp(static_cast<int>(f.info.registers) * kWarp, kRegisterUnit);
  return std::min(static_cast<int>(f.info.max_threads), kRegisters / of_warp * kWarp);
}

int MostDynamic(const Function& f) {
  const auto set = f.attributes.find(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  return set != f.attributes.end() ? set->second
                                   : kSharedPerBlock - static_cast<int>(f.info.shared_bytes);
}

unsigned MostInCluster(const Function& f, const Gpu& gpu) {
  if (!HasClusters(gpu)) return 1;
  const auto own = f.attributes.find(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  return own != f.attributes.end() && own->second != 0 ? kLargestCluster : kMostInPortableCluster;
}

int ActiveBlocksOf(const Gpu& gpu, const Function& f, int block, size_t dynamic) {
  return ActiveBlocks(Limits(gpu), f, block, dynamic);
}

CUresult OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction f, int block,
                                                            size_t dynamic, unsigned int flags) {
  const Asked asked = Ask(f, blocks);
  if (asked.error != CUDA_SUCCESS) return asked.error;
  if (block <= 0 || (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *blocks = ActiveBlocks(Limits(*asked.gpu), *asked.function, block, dynamic);
  return CUDA_SUCCESS;
}

CUresult OccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f, int block,
                                                   size_t dynamic) {
  return OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, block, dynamic, 0);
}

// The largest block of those with which most threads are active.
CUresult OccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction f,
                                                 CUoccupancyB2DSize dynamic_of, size_t dynamic,
                                                 int limit, unsigned int flags) {
  const Asked asked = Ask(f, grid);
  if (asked.error != CUDA_SUCCESS) return asked.error;
  if (block == nullptr || limit < 0 ||
      (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Limits limits(*asked.gpu);
  int most = MostThreads(*asked.function);
  if (limit > 0) most = std::min(most, limit);
  int best_threads = 0;
  *grid = *block = 0;
  for (int size = RoundUp(most, kWarp); size > 0; size -= kWarp) {
    const int threads = std::min(size, most);
    const size_t bytes = dynamic_of != nullptr ? dynamic_of(threads) : dynamic;
    const int blocks = ActiveBlocks(limits, *asked.function, threads, bytes);
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads;
    *block = threads;
    *grid = blocks * asked.gpu->figures.multiprocessors;
  }
  return CUDA_SUCCESS;
}

CUresult OccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction f,
                                        CUoccupancyB2DSize dynamic_of, size_t dynamic, int limit) {
  return OccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, dynamic_of, dynamic, limit, 0);
}

CUresult OccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction f, int blocks, int block) {
  const Asked asked = Ask(f, bytes);
  if (asked.error != CUDA_SUCCESS) return asked.error;
  if (blocks <= 0 || block <= 0 || block > MostThreads(*asked.function))
    return CUDA_ERROR_INVALID_VALUE;
  const Limits limits(*asked.gpu);
  if (BlocksByThreads(limits, *asked.function, block) < blocks) return CUDA_ERROR_INVALID_VALUE;
  const size_t each = limits.shared() / static_cast<size_t>(blocks) / kSharedUnit * kSharedUnit;
  const size_t taken = limits.SharedOf(*asked.function, 0);
  const size_t left = each > taken ? each - taken : 0;
  // The kernel may use no more than it has opted in to.
  *bytes = std::min(left, static_cast<size_t>(std::max(MostDynamic(*asked.function), 0)));
  return CUDA_SUCCESS;
}

CUresult OccupancyMaxPotentialClusterSize(int* size, CUfunction f, const CUlaunchConfig* config) {
  const Asked asked = Ask(f, size);
  if (asked.error != CUDA_SUCCESS) return asked.error;
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const unsigned most = MostInCluster(*asked.function, *asked.gpu);
  *size = static_cast<int>(std::min(most, BlocksOfGroup(asked, *config)));
  return CUDA_SUCCESS;
}

CUresult OccupancyMaxActiveClusters(int* clusters, CUfunction f, const CUlaunchConfig* config) {
  const Asked asked = Ask(f, clusters);
  if (asked.error != CUDA_SUCCESS) return asked.error;
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!HasClusters(*asked.gpu)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  const unsigned size = ClusterSize(*asked.function, *config);
  if (size == 0 || size > kLargestCluster) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  const auto groups =
      static_cast<unsigned>(asked.gpu->figures.multiprocessors) / kProcessorsOfGroup;
  *clusters = static_cast<int>(groups * (BlocksOfGroup(asked, *config) / size));
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
