// Names of callbacks and results, from CUPTI's headers.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace graphkit::soft {

uint32_t CallbackCount(
    CUpti_CallbackDomain domain);  // one more than the largest cbid; 0: not a domain of ours
const char* CallbackName(CUpti_CallbackDomain domain, uint32_t cbid);  // null: unknown
const char* ResultName(CUptiResult result);                            // null: unknown

}  // namespace graphkit::soft
