// Helpers that the tests of the allocator share: a program on the software device.
#pragma once

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "plugins/torch_allocator/device_allocator.h"

namespace graphkit::torch {

inline constexpr Bytes kMiB = Bytes{1} << 20;

inline uint64_t ValueOf(cudaStream_t stream) { return reinterpret_cast<uintptr_t>(stream); }

// Every stream made is destroyed.
class Streams {
 public:
  explicit Streams(size_t count) : streams_(count) {
    for (cudaStream_t& s : streams_) {
      REQUIRE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    }
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    for (cudaStream_t s : streams_) cudaStreamDestroy(s);
  }
  cudaStream_t operator[](size_t i) const { return streams_[i]; }
  uint64_t id(size_t i) const { return ValueOf(streams_[i]); }

 private:
  std::vector<cudaStream_t> streams_;
};

// `later` waits for all that `earlier` has to do so far.
inline void Join(cudaStream_t later, cudaStream_t earlier) {
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  REQUIRE(cudaEventRecord(event, earlier) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(later, event, 0) == cudaSuccess);
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
}

inline void Touch(void* block, cudaStream_t stream) {
  REQUIRE(cudaMemsetAsync(block, 1, 64, stream) == cudaSuccess);
}

// A capture on a stream into a pool, from its making to Stop.
class Recording {
 public:
  Recording(DeviceAllocator* allocator, const PoolKey& key, cudaStream_t stream)
      : allocator_(allocator), key_(key), stream_(stream) {
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    unsigned long long id = 0;  // NOLINT: CUDA's type
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    REQUIRE(cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr) ==
            cudaSuccess);
    allocator->BeginPool(key, [id](uint64_t s) {  // as PyTorch's filter
      const StreamCapture now = CudaDriver::Get()->CaptureOf(s, false);
      return now.active && now.id == id;
    });
  }
  cudaGraph_t Stop() {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream_, &graph) == cudaSuccess);
    allocator_->EndPool(key_);
    return graph;
  }

 private:
  DeviceAllocator* allocator_;
  PoolKey key_;
  cudaStream_t stream_;
};

struct Made {
  Settings settings = {};
  std::unique_ptr<PlanGuide> plan = {};
  std::unique_ptr<DeviceAllocator> allocator = {};
};
inline Made MakeAllocator(const Settings& settings = {}, PlannedGraphs planned = {}) {
  REQUIRE(CudaDriver::Get() != nullptr);
  Made made{settings};
  if (!planned.graphs.empty()) {
    made.plan = std::make_unique<PlanGuide>();
    made.plan->planned = std::move(planned);
  }
  return made;
}
// The settings must stay where they are.
inline DeviceAllocator& Start(Made* made, int device = 0) {
  made->allocator = std::make_unique<DeviceAllocator>(device, made->settings, CudaDriver::Get(),
                                                      made->plan.get());
  return *made->allocator;
}

}  // namespace graphkit::torch
