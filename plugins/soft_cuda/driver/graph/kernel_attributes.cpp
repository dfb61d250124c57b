// Launch attributes of kernel nodes.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/rules/launch_rules.h"

namespace graphkit::soft::driver {
namespace {

// The attributes that kernel nodes have, by the names of CUkernelNodeAttrID in cuda.h.
bool IsNodeAttribute(CUlaunchAttributeID id) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return true;
    default:
      return false;
  }
}

KernelParams* KernelOfNode(CUgraphNode handle) {
  auto* node = Resolve<Node>(handle);
  if (node == nullptr) return nullptr;
  auto* params = std::get_if<std::unique_ptr<KernelParams>>(&node->params);
  return params != nullptr ? params->get() : nullptr;
}

void SetAttribute(KernelParams& kernel, const CUlaunchAttribute& attribute) {
  auto at = std::find_if(kernel.attributes.begin(), kernel.attributes.end(),
                         [&](const CUlaunchAttribute& a) { return a.id == attribute.id; });
  if (at != kernel.attributes.end()) {
    *at = attribute;
  } else {
    kernel.attributes.push_back(attribute);
  }
}

}  // namespace

CUresult GraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                     CUkernelNodeAttrValue* value) {
  const Lock lock = LockDevice();
  const KernelParams* kernel = KernelOfNode(handle);
  if (kernel == nullptr || value == nullptr || !IsNodeAttribute(id))
    return CUDA_ERROR_INVALID_VALUE;
  *value = {};
  for (const CUlaunchAttribute& a : kernel->attributes) {
    if (a.id == id) *value = a.value;
  }
  return CUDA_SUCCESS;
}

CUresult GraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                     const CUkernelNodeAttrValue* value) {
  const Lock lock = LockDevice();
  KernelParams* kernel = KernelOfNode(handle);
  if (kernel == nullptr || value == nullptr || !IsNodeAttribute(id) ||
      !IsEditable(Resolve<Node>(handle)->graph)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW && !IsWindow(value->accessPolicyWindow))
    return CUDA_ERROR_INVALID_VALUE;
  CUlaunchAttribute attribute{};
  attribute.id = id;
  attribute.value = *value;
  SetAttribute(*kernel, attribute);
  return CUDA_SUCCESS;
}

CUresult GraphKernelNodeCopyAttributes(CUgraphNode to_handle, CUgraphNode from_handle) {
  const Lock lock = LockDevice();
  KernelParams* to = KernelOfNode(to_handle);
  const KernelParams* from = KernelOfNode(from_handle);
  if (to == nullptr || from == nullptr || !IsEditable(Resolve<Node>(to_handle)->graph))
    return CUDA_ERROR_INVALID_VALUE;
  if (to->context != from->context) return CUDA_ERROR_INVALID_CONTEXT;
  if (to != from) to->attributes = from->attributes;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
