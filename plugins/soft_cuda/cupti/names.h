// Names of callbacks and results, from CUPTI's headers.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <span>

namespace graphkit::soft {

struct CallbackLabel {
  uint32_t id;
  const char* name;
};

// The differences between the libraries of CUDA 12 and CUDA 13: cupti/version.cpp,
// cupti/version12.cpp.
struct CuptiVersion {
  uint32_t number;                                        // CUPTI_API_VERSION
  uint32_t driver_calls, runtime_calls, resource_events;  // one more than the largest cbid
  std::span<const CallbackLabel> runtime_names;
};
extern const CuptiVersion kCuptiVersion;

uint32_t CallbackCount(
    CUpti_CallbackDomain domain);  // one more than the largest cbid; 0: not a domain of ours
const char* CallbackName(CUpti_CallbackDomain domain, uint32_t cbid);  // null: unknown
const char* ResultName(CUptiResult result);                            // null: unknown

}  // namespace graphkit::soft
