// Executes work when its turn comes: copies and fills memory, calls host functions. Kernel bodies
// are skipped.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>

#include "plugins/soft_cuda/ground/backing.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft {

// The bytes that a copy between plain memory, or a fill, reads and writes, in rows.
void RunCopy(Backing& backing, const CUDA_MEMCPY3D& copy);
void RunSet(Backing& backing, const CUDA_MEMSET_NODE_PARAMS& set);
// Writes a value in memory, or looks at one; false: it isn't what is waited for.
bool RunOperation(const CUstreamBatchMemOpParams& operation);

uint64_t CopyBytes(const CUDA_MEMCPY3D& copy);

// A plain copy of bytes between any two addresses.
CUDA_MEMCPY3D PlainCopy(uint64_t to, uint64_t from, size_t bytes,
                        CUmemorytype to_type = CU_MEMORYTYPE_UNIFIED,
                        CUmemorytype from_type = CU_MEMORYTYPE_UNIFIED);

// The values of conditional handles while graphs run. On a GPU kernels set them; here host nodes of
// the program may, through graphkit_soft_set_conditional, since kernels don't run.
class ConditionalValues {
 public:
  void Set(CUgraphConditionalHandle handle, unsigned value) {
    const std::lock_guard lock(mutex_);
    values_[handle] = value;
  }
  unsigned Get(CUgraphConditionalHandle handle) const {  // 0: never set
    const std::lock_guard lock(mutex_);
    auto found = values_.find(handle);
    return found != values_.end() ? found->second : 0;
  }

 private:
  mutable std::mutex mutex_;  // host nodes set values on the worker's thread
  std::unordered_map<CUgraphConditionalHandle, unsigned> values_;
};

}  // namespace graphkit::soft
