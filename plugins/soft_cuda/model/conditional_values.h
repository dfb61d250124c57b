// The values of conditional handles while graphs run. On a GPU kernels set them; here host nodes of
// the program may, through graphkit_soft_set_conditional, since kernels don't run.
#pragma once

#include <cuda.h>

#include <mutex>
#include <unordered_map>

namespace graphkit::soft {

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
