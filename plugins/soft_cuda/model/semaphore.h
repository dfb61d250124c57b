// External semaphores. Nothing outside the process can be reached, so they are only recorded: a
// signal sets the value, a wait returns at once.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "plugins/soft_cuda/model/handle.h"

namespace graphkit::soft {

struct Semaphore {
  static constexpr Tag kTag = Tag::kSemaphore;
  Tag tag = kTag;
  CUexternalSemaphoreHandleType type;
  uint64_t value = 0;  // of the last signal

  CUexternalSemaphore handle() { return reinterpret_cast<CUexternalSemaphore>(this); }
};

}  // namespace graphkit::soft
