#include "plugins/soft_cuda/cupti/names.h"

namespace graphkit::soft {
namespace {

constexpr CallbackLabel kDriver[] = {
#include "cupti_driver_names.inc"
};
constexpr CallbackLabel kResource[] = {
#include "cupti_resource_names.inc"
};
constexpr CallbackLabel kResults[] = {
#include "cupti_result_names.inc"
};

const char* Find(std::span<const CallbackLabel> names, uint32_t id) {
  for (const CallbackLabel& row : names) {
    if (row.id == id) return row.name;
  }
  return nullptr;
}

}  // namespace

uint32_t CallbackCount(CUpti_CallbackDomain domain) {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
      return kCuptiVersion.driver_calls;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      return kCuptiVersion.runtime_calls;
    case CUPTI_CB_DOMAIN_RESOURCE:
      return kCuptiVersion.resource_events;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
      return CUPTI_CBID_SYNCHRONIZE_SIZE;
    case CUPTI_CB_DOMAIN_STATE:
    case CUPTI_CB_DOMAIN_NVTX:
      return 64;
    default:
      return 0;
  }
}

const char* CallbackName(CUpti_CallbackDomain domain, uint32_t cbid) {
  if (cbid >= CallbackCount(domain)) return nullptr;
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return Find(kCuptiVersion.runtime_names, cbid);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return Find(kDriver, cbid);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) return Find(kResource, cbid);
  return nullptr;
}

const char* ResultName(CUptiResult result) { return Find(kResults, result); }

}  // namespace graphkit::soft
