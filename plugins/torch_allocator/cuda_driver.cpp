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

// The context is gone, with its memory and all that ran in it.
bool ContextIsGone(CUresult result) {
  return result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

// The legacy stream, which is never captured, by either of its names.
bool IsLegacy(uint64_t stream) { return stream == 0 || stream == ValueOf(CU_STREAM_LEGACY); }

}  // namespace

// The device's context is current, and calls that a capture in global mode forbids are allowed.
class CudaDriver::Scope {
 public:
  Scope(CudaDriver* driver, int device) : driver_(driver) {
    const CUcontext context = driver->ContextOf(device);
    if (context != nullptr) pushed_ = driver->calls_.push(context);
    if (*this) driver->calls_.exchange_mode(&mode_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    if (!*this) return;
    driver_->calls_.exchange_mode(&mode_);
    CUcontext context = nullptr;
    driver_->calls_.pop(&context);
  }
  explicit operator bool() const { return pushed_ == CUDA_SUCCESS; }
  bool gone() const { return ContextIsGone(pushed_); }

 private:
  CudaDriver* driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUresult pushed_ = CUDA_ERROR_UNKNOWN;
};

CudaDriver* CudaDriver::Get() {
  static CudaDriver* const driver = []() -> CudaDriver* {
    const std::optional<DriverCalls> calls = LoadDriverCalls();
    if (!calls || calls->init(0) != CUDA_SUCCESS) return nullptr;
    return new CudaDriver(*calls);  // lives as long as the process: frees come from exit handlers
  }();
  return driver;
}

std::optional<DriverCalls> LoadDriverCalls() {
  void* lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (lib == nullptr) lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL);
  if (lib == nullptr) return {};
  DriverCalls c;
  const bool all =
      Load(lib, "cuInit", &c.init) && Load(lib, "cuMemAlloc_v2", &c.mem_alloc) &&
      Load(lib, "cuMemFree_v2", &c.mem_free) && Load(lib, "cuDeviceGet", &c.device_get) &&
      Load(lib, "cuDeviceTotalMem_v2", &c.total_memory) &&
      Load(lib, "cuDevicePrimaryCtxRetain", &c.retain) &&
      Load(lib, "cuCtxPushCurrent_v2", &c.push) && Load(lib, "cuCtxPopCurrent_v2", &c.pop) &&
      Load(lib, "cuCtxSynchronize", &c.synchronize) &&
      Load(lib, "cuThreadExchangeStreamCaptureMode", &c.exchange_mode) &&
      Load(lib, "cuEventCreate", &c.event_create) && Load(lib, "cuEventRecord", &c.event_record) &&
      Load(lib, "cuEventQuery", &c.event_query) && Load(lib, "cuEventSynchronize", &c.event_wait) &&
      Load(lib, "cuEventDestroy_v2", &c.event_destroy) &&
      Load(lib, "cuStreamWaitEvent", &c.stream_wait);
  Load(lib, "cuStreamGetCaptureInfo_v3", &c.capture_info3);
  Load(lib, "cuStreamGetCaptureInfo_v2", &c.capture_info2);
  Load(lib, "cuGraphNodeGetDependencies_v2", &c.edges2);
  Load(lib, "cuGraphNodeGetDependencies", &c.edges1);
  const bool info = c.capture_info3 != nullptr || c.capture_info2 != nullptr;
  const bool edges = c.edges2 != nullptr || c.edges1 != nullptr;
  if (!all || !info || !edges) return {};
  return c;
}

CUcontext CudaDriver::ContextOf(int device) {
  if (device < 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<size_t>(device);
  if (index >= contexts_.size()) contexts_.resize(index + 1);
  if (contexts_[index] == nullptr) {
    CUdevice handle = 0;
    if (calls_.device_get(&handle, device) != CUDA_SUCCESS) return nullptr;
    if (calls_.retain(&contexts_[index], handle) != CUDA_SUCCESS) return nullptr;
  }
  return contexts_[index];
}

std::optional<Address> CudaDriver::Malloc(int device, Bytes size) {
  const Scope scope(this, device);
  CUdeviceptr address = 0;
  if (!scope || calls_.mem_alloc(&address, size) != CUDA_SUCCESS) return {};
  return address;
}

void CudaDriver::Free(int device, Address address) {
  const Scope scope(this, device);
  if (scope) calls_.mem_free(address);
}

std::optional<Bytes> CudaDriver::TotalMemory(int device) {
  CUdevice handle = 0;
  size_t bytes = 0;
  if (calls_.device_get(&handle, device) != CUDA_SUCCESS) return {};
  if (calls_.total_memory(&bytes, handle) != CUDA_SUCCESS) return {};
  return bytes;
}

StreamCapture CudaDriver::CaptureOf(uint64_t stream, bool frontier) {
  StreamCapture capture;
  if (IsLegacy(stream)) return capture;
  if (!ReadInfo(HandleOf<CUstream>(stream), &capture, frontier)) {
    return {.unsure = capture.unsure};
  }
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
    if (calls_.capture_info3 != nullptr) {
      return calls_.capture_info3(stream, &status, &capture->id, &graph, out,
                                  out != nullptr ? &data : nullptr,
                                  out != nullptr ? &count : nullptr);
    }
    return calls_.capture_info2(stream, &status, &capture->id, &graph, out,
                                out != nullptr ? &count : nullptr);
  };
  CUresult result = ask(frontier ? &nodes : nullptr);
  capture->known = result == CUDA_SUCCESS && frontier;
  if (result != CUDA_SUCCESS && frontier) result = ask(nullptr);
  capture->active = result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  // A stream that was destroyed, or went with its context, is in none.
  capture->unsure =
      result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_HANDLE && !ContextIsGone(result);
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
    return calls_.edges2 != nullptr ? calls_.edges2(handle, out, out_data, count)
                                    : calls_.edges1(handle, out, count);
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

// A stream that was destroyed gives nothing either: it still does what it was given.
StreamMark CudaDriver::Record(int device, uint64_t stream) {
  const Scope scope(this, device);
  if (!scope) return {.over = scope.gone()};
  CUevent event = nullptr;
  const CUresult created = calls_.event_create(&event, CU_EVENT_DISABLE_TIMING);
  if (created != CUDA_SUCCESS) return {.over = ContextIsGone(created)};
  const CUresult recorded = calls_.event_record(event, HandleOf<CUstream>(stream));
  if (recorded == CUDA_SUCCESS) return {.event = event};
  calls_.event_destroy(event);
  return {.over = ContextIsGone(recorded)};
}

CUresult CudaDriver::Relaxed(CUresult (*call)(CUevent), CUevent event) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  calls_.exchange_mode(&mode);
  const CUresult result = call(event);
  calls_.exchange_mode(&mode);
  return result;
}

// An event of ours that isn't known any more went with its context.
bool CudaDriver::Done(CUevent event) {
  const CUresult result = Relaxed(calls_.event_query, event);
  return result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_HANDLE || ContextIsGone(result);
}

void CudaDriver::Wait(CUevent event) { Relaxed(calls_.event_wait, event); }

void CudaDriver::Drop(CUevent event) { calls_.event_destroy(event); }

bool CudaDriver::LetWait(int device, uint64_t stream, CUevent event) {
  const Scope scope(this, device);
  if (!scope) return scope.gone();
  const CUresult result = calls_.stream_wait(HandleOf<CUstream>(stream), event, 0);
  return result == CUDA_SUCCESS || ContextIsGone(result);
}

bool CudaDriver::WaitForDevice(int device) {
  const Scope scope(this, device);
  if (!scope) return scope.gone();
  const CUresult result = calls_.synchronize();
  return result == CUDA_SUCCESS || ContextIsGone(result);
}

}  // namespace graphkit::torch
