#include "plugins/soft_cuda/driver/stream/submit.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/stream/duration.h"
#include "plugins/soft_cuda/driver/stream/graph_memory.h"
#include "plugins/soft_cuda/driver/stream/kernel_memory.h"
#include "plugins/soft_cuda/model/execute.h"
#include "plugins/soft_cuda/model/external_memory.h"

namespace graphkit::soft::driver {

CUresult StreamForWork(CUstream handle, Stream** stream) {
  if (CurrentThread().in_host_function) return CUDA_ERROR_NOT_PERMITTED;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *stream = FindStream(handle);
  if (*stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if ((*stream)->kind == StreamKind::kLegacy && Device::Get().captures.any()) {
    return Device::Get().captures.CheckLegacy((*stream)->context);
  }
  const Capture* capture = (*stream)->capture;
  return capture != nullptr && !capture->valid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                               : CUDA_SUCCESS;
}

CUresult RefuseCapture(CUstream handle) {
  const Lock lock = LockDevice();
  const Stream* stream = FindStream(handle);
  return stream != nullptr && stream->capture != nullptr ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                                         : CUDA_SUCCESS;
}

namespace {

// Those whose work a blocking stream follows, of the blocking ones: all for the legacy stream, that
// one for the others.
std::span<Stream* const> StreamsBefore(const Stream& stream) {
  if (stream.kind == StreamKind::kLegacy) return stream.context->streams;
  return {&stream.context->legacy, 1};
}

}  // namespace

void Advance(Stream* stream, uint64_t ns) {
  if (stream->blocking()) {
    for (const Stream* other : StreamsBefore(*stream)) {
      if (other->blocking()) stream->time_ns = std::max(stream->time_ns, other->time_ns);
    }
  }
  stream->time_ns = std::max(stream->time_ns, Device::Get().host_time_ns) + ns;
}

void HostWaits(uint64_t until_ns) {
  uint64_t& now = Device::Get().host_time_ns;
  now = std::max(now, until_ns);
}

Work HostWork(std::string what, std::function<void()> function) {
  return {.what = std::move(what),
          .run =
              [function = std::move(function)] {
                ThreadState& thread = CurrentThread();
                thread.in_host_function = true;
                function();
                thread.in_host_function = false;
              },
          .on_worker = true};
}

namespace {

// The legacy stream follows what blocking streams have taken, and they follow it.
std::vector<WorkMark> Implicit(const Stream& stream) {
  std::vector<WorkMark> marks;
  if (!stream.blocking()) return marks;
  for (const Stream* other : StreamsBefore(stream)) {
    if (!other->blocking() || other == &stream) continue;
    WorkMark end = Device::Get().worker.End(other->line);
    if (end.line != nullptr) marks.push_back(std::move(end));
  }
  return marks;
}

std::string Address(CUdeviceptr address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", address);
  return text;
}

Work WorkOf(const CUstreamBatchMemOpParams& op) {
  const bool waits = op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                     op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  if (waits) {
    return {.what = "a wait for a value at " + Address(op.waitValue.address) +
                    " that no copy or set writes (kernels don't run here)",
            .ready = [op] { return RunOperation(op); }};
  }
  return {.what = "a write of a value", .run = [op] { RunOperation(op); }};
}

struct Works {
  std::vector<Work> operator()(const std::unique_ptr<KernelParams>& p) const {
    return PassedBy(*p);
  }
  std::vector<Work> operator()(const std::unique_ptr<MemcpyParams>& p) const {
    CUDA_MEMCPY3D copy = p->copy;
    if (!WithoutArrays(&copy)) return {};  // Apply said so
    return One({.what = "a copy", .run = [copy] { RunCopy(Device::Get().backing, copy); }});
  }
  std::vector<Work> operator()(const std::unique_ptr<MemsetParams>& p) const {
    return One({.what = "a fill", .run = [set = p->set] { RunSet(Device::Get().backing, set); }});
  }
  std::vector<Work> operator()(const HostParams& p) const {
    return One(HostWork("a host function", [p] { p.function(p.user_data); }));
  }
  std::vector<Work> operator()(const std::unique_ptr<BatchParams>& p) const {
    std::vector<Work> works;
    for (const CUstreamBatchMemOpParams& op : p->operations) works.push_back(WorkOf(op));
    return works;
  }
  template <typename Other>
  std::vector<Work> operator()(const Other&) const {
    return {};
  }

 private:
  static std::vector<Work> One(Work work) {
    std::vector<Work> works;
    works.push_back(std::move(work));
    return works;
  }
};

struct Changes {
  CUresult operator()(const std::unique_ptr<MemcpyParams>& p) const {
    CUDA_MEMCPY3D copy = p->copy;
    return WithoutArrays(&copy) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
  }
  CUresult operator()(const std::unique_ptr<SignalParams>& p) const {
    for (size_t i = 0; i < p->semaphores.size(); ++i) {
      if (auto* semaphore = Resolve<Semaphore>(p->semaphores[i]))
        semaphore->value = p->values[i].params.fence.value;
    }
    return CUDA_SUCCESS;
  }
  CUresult operator()(const std::unique_ptr<MemAllocParams>& p) const {
    MarkGraphAllocation(p->params.dptr, true);
    return CUDA_SUCCESS;
  }
  CUresult operator()(const MemFreeParams& p) const {
    MarkGraphAllocation(p.address, false);
    return CUDA_SUCCESS;
  }
  template <typename Other>
  CUresult operator()(const Other&) const {
    return CUDA_SUCCESS;
  }
};

CUresult ExplainStuck(const std::optional<std::string>& why) {
  if (!why) return CUDA_SUCCESS;
  const std::string text =
      "the program waits for work that can't go on: " + *why +
      "; the call returns cudaErrorLaunchTimeout (GRAPHKIT_SOFT_PATIENCE_MS sets after how long)";
  Explain(text.c_str());
  return CUDA_ERROR_LAUNCH_TIMEOUT;
}

}  // namespace

std::vector<Work> WorksOf(const NodeParams& params) { return std::visit(Works{}, params); }

CUresult Apply(const NodeParams& params) { return std::visit(Changes{}, params); }

WorkMark Push(Stream* stream, Work work) {
  for (WorkMark& mark : Implicit(*stream)) work.after.push_back(std::move(mark));
  return Device::Get().worker.Add(stream->line, std::move(work));
}

WorkMark End(Stream* stream) {
  if (!Implicit(*stream).empty()) return Push(stream, {.what = "the legacy stream"});
  return Device::Get().worker.End(stream->line);
}

CUresult WaitFor(Lock& lock, const WorkMark& mark) {
  if (mark.line == nullptr) return CUDA_SUCCESS;
  lock.unlock();
  const CUresult result = ExplainStuck(Device::Get().worker.Wait({&mark, 1}));
  lock.lock();
  return result;
}

CUresult WaitForAll(Lock& lock) {
  lock.unlock();
  const CUresult result = ExplainStuck(Device::Get().worker.WaitForAll());
  lock.lock();
  return result;
}

CUresult CheckMemory(CUresult result) {
  Backing& backing = Device::Get().backing;
  if (backing.met_unmapped()) return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (!backing.TakeFailure()) return result;
  const std::string text =
      "the host memory for device memory is used up (" + std::to_string(backing.limit() >> 20) +
      " MiB): what a copy or a fill would have written is lost, and the call returns 'out of "
      "memory'; set GRAPHKIT_SOFT_MEMORY higher, or keep no bytes: GRAPHKIT_SOFT_DATA=none";
  Explain(text.c_str());
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult Synchronized(CUresult waited) {
  if (waited == CUDA_SUCCESS) Device::Get().ReleaseIdlePools();
  return CheckMemory(waited);
}

CUresult Submit(Stream* stream, CUgraphNodeType type, NodeParams params) {
  if (stream->capture == nullptr) {
    Advance(stream, DurationNs(params, *stream->context->gpu));
    if (CUresult error = Apply(params); error != CUDA_SUCCESS) return error;
    for (Work& work : WorksOf(params)) Push(stream, std::move(work));
    return CheckMemory(CUDA_SUCCESS);
  }
  Device::Get().captures.AddNode(stream, type, std::move(params), stream->dependencies.edges());
  return CUDA_SUCCESS;
}

CUresult Submit(CUstream handle, CUgraphNodeType type, NodeParams params) {
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  return Submit(stream, type, std::move(params));
}

}  // namespace graphkit::soft::driver
