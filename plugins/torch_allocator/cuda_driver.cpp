#include "plugins/torch_allocator/cuda_driver.h"

#include <dlfcn.h>

#include <type_traits>

namespace graphkit::torch {
namespace {

template <typename T>
T HandleOf(uint64_t value) {
  return reinterpret_cast<T>(static_cast<uintptr_t>(value));  // NOLINT: a handle
}
uint64_t ValueOf(const void* handle) { return reinterpret_cast<uintptr_t>(handle); }

template <typename Function>
bool Load(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// The legacy stream, which is never captured, by either of its names.
bool IsLegacy(uint64_t stream) { return stream == 0 || stream == ValueOf(CU_STREAM_LEGACY); }

}  // namespace

// The device's context is current, and calls that a capture in global mode forbids are allowed.
class CudaDriver::Scope {
 public:
  Scope(CudaDriver* driver, int device) : driver_(driver) {
    const CUcontext context = driver->ContextOf(device);
    ok_ = context != nullptr && driver->push_(context) == CUDA_SUCCESS;
    if (ok_) driver->exchange_mode_(&mode_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    if (!ok_) return;
    driver_->exchange_mode_(&mode_);
    CUcontext context = nullptr;
    driver_->pop_(&context);
  }
  explicit operator bool() const { return ok_; }

 private:
  CudaDriver* driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool ok_ = false;
};

CudaDriver* CudaDriver::Get() {
  static CudaDriver* const driver = [] {
    auto* made = new CudaDriver;  // lives as long as the process: frees come from exit handlers
    if (made->Open()) return made;
    delete made;
    return static_cast<CudaDriver*>(nullptr);
  }();
  return driver;
}

bool CudaDriver::Open() {
  void* lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (lib == nullptr) lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL);
  if (lib == nullptr) return false;
  bool all =
      Load(lib, "cuInit", &init_) && Load(lib, "cuMemAlloc_v2", &mem_alloc_) &&
      Load(lib, "cuMemFree_v2", &mem_free_) && Load(lib, "cuDeviceGet", &device_get_) &&
      Load(lib, "cuDeviceTotalMem_v2", &total_memory_) &&
      Load(lib, "cuDevicePrimaryCtxRetain", &retain_) && Load(lib, "cuCtxPushCurrent_v2", &push_) &&
      Load(lib, "cuCtxPopCurrent_v2", &pop_) &&
      Load(lib, "cuThreadExchangeStreamCaptureMode", &exchange_mode_) &&
      Load(lib, "cuEventCreate", &event_create_) && Load(lib, "cuEventRecord", &event_record_) &&
      Load(lib, "cuEventQuery", &event_query_) && Load(lib, "cuEventSynchronize", &event_wait_) &&
      Load(lib, "cuEventDestroy_v2", &event_destroy_);
  const bool info = Load(lib, "cuStreamGetCaptureInfo_v3", &capture_info3_) |
                    Load(lib, "cuStreamGetCaptureInfo_v2", &capture_info2_);
  const bool edges = Load(lib, "cuGraphNodeGetDependencies_v2", &edges2_) |
                     Load(lib, "cuGraphNodeGetDependencies", &edges1_);
  return all && info && edges && init_(0) == CUDA_SUCCESS;
}

CUcontext CudaDriver::ContextOf(int device) {
  if (device < 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<size_t>(device);
  if (index >= contexts_.size()) contexts_.resize(index + 1);
  if (contexts_[index] == nullptr) {
    CUdevice handle = 0;
    if (device_get_(&handle, device) != CUDA_SUCCESS) return nullptr;
    if (retain_(&contexts_[index], handle) != CUDA_SUCCESS) return nullptr;
  }
  return contexts_[index];
}

std::optional<Address> CudaDriver::Malloc(int device, Bytes size) {
  const Scope scope(this, device);
  CUdeviceptr address = 0;
  if (!scope || mem_alloc_(&address, size) != CUDA_SUCCESS) return {};
  return address;
}

void CudaDriver::Free(int device, Address address) {
  const Scope scope(this, device);
  if (scope) mem_free_(address);
}

Bytes CudaDriver::TotalMemory(int device) {
  CUdevice handle = 0;
  size_t bytes = 0;
  if (device_get_(&handle, device) != CUDA_SUCCESS) return 0;
  return total_memory_(&bytes, handle) == CUDA_SUCCESS ? bytes : 0;
}

StreamCapture CudaDriver::CaptureOf(uint64_t stream, bool frontier) {
  StreamCapture capture;
  if (IsLegacy(stream)) return capture;
  if (!ReadInfo(HandleOf<CUstream>(stream), &capture, frontier)) return {};
  return capture;
}

// False: the stream can't be asked, or isn't being captured.
bool CudaDriver::ReadInfo(CUstream stream, StreamCapture* capture, bool frontier) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* data = nullptr;
  size_t count = 0;
  const auto ask = [&](const CUgraphNode** out) {
    if (capture_info3_ != nullptr) {
      return capture_info3_(stream, &status, &capture->id, &graph, out,
                            out != nullptr ? &data : nullptr, out != nullptr ? &count : nullptr);
    }
    return capture_info2_(stream, &status, &capture->id, &graph, out,
                          out != nullptr ? &count : nullptr);
  };
  CUresult result = ask(frontier ? &nodes : nullptr);
  capture->known = result == CUDA_SUCCESS && frontier;
  if (result != CUDA_SUCCESS && frontier) result = ask(nullptr);
  capture->active = result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (!capture->active) return false;
  if (!capture->known) return true;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t port = data != nullptr ? data[i].from_port : uint8_t{0};
    const uint8_t type = data != nullptr ? data[i].type : uint8_t{0};
    capture->frontier.push_back({ValueOf(nodes[i]), port, type});
  }
  return true;
}

bool CudaDriver::EdgesInto(uint64_t node, std::vector<LiveEdge>* in) {
  CUgraphNode nodes[64];
  CUgraphEdgeData data[64] = {};
  const CUgraphNode handle = HandleOf<CUgraphNode>(node);
  const auto ask = [&](CUgraphNode* out, CUgraphEdgeData* out_data, size_t* count) {
    return edges2_ != nullptr ? edges2_(handle, out, out_data, count) : edges1_(handle, out, count);
  };
  size_t count = 64;
  if (ask(nodes, data, &count) != CUDA_SUCCESS) return false;
  std::vector<CUgraphNode> more;
  std::vector<CUgraphEdgeData> more_data;
  const CUgraphNode* from = nodes;
  const CUgraphEdgeData* edge = data;
  if (count >= 64) {  // maybe there are more than fit
    if (ask(nullptr, nullptr, &count) != CUDA_SUCCESS) return false;
    more.resize(count);
    more_data.resize(count);
    if (ask(more.data(), more_data.data(), &count) != CUDA_SUCCESS) return false;
    from = more.data();
    edge = more_data.data();
  }
  for (size_t i = 0; i < count; ++i) {
    in->push_back({ValueOf(from[i]), edge[i].from_port, edge[i].type});
  }
  return true;
}

CUevent CudaDriver::Record(int device, uint64_t stream) {
  const Scope scope(this, device);
  CUevent event = nullptr;
  if (!scope || event_create_(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return nullptr;
  if (event_record_(event, HandleOf<CUstream>(stream)) == CUDA_SUCCESS) return event;
  event_destroy_(event);
  return nullptr;
}

CUresult CudaDriver::Relaxed(CUresult (*call)(CUevent), CUevent event) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  exchange_mode_(&mode);
  const CUresult result = call(event);
  exchange_mode_(&mode);
  return result;
}

// What can't be asked any more, at the end of a process, is over.
bool CudaDriver::Done(CUevent event) {
  return Relaxed(event_query_, event) != CUDA_ERROR_NOT_READY;
}

void CudaDriver::Wait(CUevent event) { Relaxed(event_wait_, event); }

void CudaDriver::Drop(CUevent event) { event_destroy_(event); }

}  // namespace graphkit::torch
