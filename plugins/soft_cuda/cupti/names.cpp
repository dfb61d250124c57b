#include "plugins/soft_cuda/cupti/names.h"

#include <cstddef>

namespace graphkit::soft {
namespace {

struct Name {
  uint32_t id;
  const char* name;
};

constexpr Name kRuntime[] = {
#include "cupti_runtime_names.inc"
};
constexpr Name kDriver[] = {
#include "cupti_driver_names.inc"
};
constexpr Name kResource[] = {
#include "cupti_resource_names.inc"
};
constexpr Name kResults[] = {
#include "cupti_result_names.inc"
};

template <size_t N>
const char* Find(const Name (&names)[N], uint32_t id) {
  for (const Name& row : names) {
    if (row.id == id) return row.name;
  }
  return nullptr;
}

}  // namespace

uint32_t CallbackCount(CUpti_CallbackDomain domain) {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
      return CUPTI_DRIVER_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      return CUPTI_RUNTIME_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RESOURCE:
      return CUPTI_CBID_RESOURCE_SIZE;
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
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return Find(kRuntime, cbid);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return Find(kDriver, cbid);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) return Find(kResource, cbid);
  return nullptr;
}

const char* ResultName(CUptiResult result) { return Find(kResults, result); }

}  // namespace graphkit::soft
