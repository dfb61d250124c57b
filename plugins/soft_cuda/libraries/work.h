// One call of a library, as memory and order see it: a kernel that is named after the call.
//
//     return Work("cublasSgemm_v2", handle->stream).Reads(a, bytes_a).Updates(c, bytes_c).Launch();
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/soft_cuda/abi/stand_in.h"

namespace graphkit::soft {

class Work {
 public:
  Work(const char* name, CUstream stream) : name_(name), stream_(stream) {}

  // From the first byte that is touched to the last. Nothing where the address is null.
  Work& Reads(const void* memory, uint64_t bytes) {
    return Add(memory, bytes, GRAPHKIT_SOFT_READS);
  }
  Work& Writes(const void* memory, uint64_t bytes) {
    return Add(memory, bytes, GRAPHKIT_SOFT_WRITES);
  }
  Work& Updates(const void* memory, uint64_t bytes) {
    return Add(memory, bytes, GRAPHKIT_SOFT_UPDATES);
  }

  Work& Uses(const void* memory, uint64_t bytes, graphkit_soft_use use) {
    return Add(memory, bytes, use);
  }
  // Addresses on the device, of memory that is touched as well. How isn't known.
  Work& Addresses(const void* memory, uint64_t bytes) {
    return Add(memory, bytes, GRAPHKIT_SOFT_ADDRESSES);
  }

  Work& Collects(const graphkit_soft_collective& collective) {
    collectives_.push_back(collective);
    return *this;
  }

  CUresult Launch() const {
    const graphkit_soft_work work{name_, operands_.data(), operands_.size(), collectives_.data(),
                                  collectives_.size()};
    return graphkit_soft_launch(&work, stream_);
  }

 private:
  Work& Add(const void* memory, uint64_t bytes, graphkit_soft_use use) {
    if (memory != nullptr && bytes != 0) {
      operands_.push_back({reinterpret_cast<uint64_t>(memory), bytes, static_cast<uint64_t>(use)});
    }
    return *this;
  }

  const char* name_;
  CUstream stream_;
  std::vector<graphkit_soft_operand> operands_;
  std::vector<graphkit_soft_collective> collectives_;
};

}  // namespace graphkit::soft
