#include "plugins/soft_cuda/driver/rules/launch_rules.h"

#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/driver/rules/occupancy.h"

namespace graphkit::soft::driver {
namespace {

using Size = unsigned[3];

uint64_t Product(const Size& size) { return uint64_t{size[0]} * size[1] * size[2]; }

// All blocks of a cooperative launch have to be on the device at once.
CUresult CheckCooperative(const Function& f, const LaunchShape& shape, const Gpu& gpu) {
  const int block = static_cast<int>(Product(shape.block));
  const auto each = static_cast<uint64_t>(ActiveBlocksOf(gpu, f, block, shape.shared_bytes));
  const uint64_t most = each * static_cast<uint64_t>(gpu.figures.multiprocessors);
  return Product(shape.grid) <= most ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult CheckCluster(const Function& f, const LaunchShape& shape, const Size& cluster,
                      const Gpu& gpu) {
  if (Product(cluster) == 0 || Product(cluster) > MostInCluster(f, gpu))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  for (int i = 0; i < 3; ++i) {
    if (shape.grid[i] % cluster[i] != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (f.info.cluster[i] != 0 && f.info.cluster[i] != cluster[i])
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  return CUDA_SUCCESS;
}

constexpr size_t kMostWindow = size_t{128} << 20;  // bytes; what the device's attribute tells

CUresult CheckAttribute(const Function& f, const LaunchShape& shape, const CUlaunchAttribute& a,
                        const Gpu& gpu) {
  if (a.id < CU_LAUNCH_ATTRIBUTE_IGNORE ||
      a.id > CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING)
    return CUDA_ERROR_INVALID_VALUE;
  if (a.id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW && !IsWindow(a.value.accessPolicyWindow))
    return CUDA_ERROR_INVALID_VALUE;
  if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && a.value.cooperative != 0)
    return CheckCooperative(f, shape, gpu);
  if (a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
    const Size cluster = {a.value.clusterDim.x, a.value.clusterDim.y, a.value.clusterDim.z};
    return CheckCluster(f, shape, cluster, gpu);
  }
  return CUDA_SUCCESS;
}

}  // namespace

bool IsWindow(const CUaccessPolicyWindow& w) {
  const bool lies_somewhere = w.num_bytes == 0 || w.base_ptr != nullptr;
  return lies_somewhere && w.num_bytes <= kMostWindow && w.hitRatio >= 0.0f && w.hitRatio <= 1.0f &&
         w.missProp != CU_ACCESS_PROPERTY_PERSISTING;
}

CUresult CheckFunction(const Function& f, const LaunchShape& shape) {
  if (shape.shared_bytes + f.info.shared_bytes > static_cast<unsigned>(kSharedPerBlock) &&
      static_cast<int>(shape.shared_bytes) > MostDynamic(f)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return Product(shape.block) <= static_cast<uint64_t>(MostThreads(f))
             ? CUDA_SUCCESS
             : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

CUresult CheckAttributes(const Function& f, const LaunchShape& shape,
                         std::span<const CUlaunchAttribute> attributes, const Gpu& gpu) {
  if (f.info.cluster[0] != 0) {
    if (CUresult error = CheckCluster(f, shape, f.info.cluster, gpu); error != CUDA_SUCCESS)
      return error;
  }
  for (const CUlaunchAttribute& a : attributes) {
    if (CUresult error = CheckAttribute(f, shape, a, gpu); error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
