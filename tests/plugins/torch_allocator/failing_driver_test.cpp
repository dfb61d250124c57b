// The driver fails in ways that say nothing about a stream's work: no block is handed out on that.
#include "tests/plugins/torch_allocator/soft_program.h"

namespace graphkit::torch {
namespace {

// The driver's answers in place of executing the calls; success: it executes them.
struct Answers {
  CUresult create = CUDA_SUCCESS;
  CUresult record = CUDA_SUCCESS;
  CUresult query = CUDA_SUCCESS;
  CUresult push = CUDA_SUCCESS;
  CUresult synchronize = CUDA_SUCCESS;
  CUresult capture_info = CUDA_SUCCESS;
  CUresult total_memory = CUDA_SUCCESS;
  CUresult stream_wait = CUDA_SUCCESS;
};
Answers answers;
std::vector<CUstream> waited;  // streams that were told to wait
DriverCalls real;

CUresult Create(CUevent* event, unsigned flags) {
  return answers.create != CUDA_SUCCESS ? answers.create : real.event_create(event, flags);
}
CUresult Record(CUevent event, CUstream stream) {
  return answers.record != CUDA_SUCCESS ? answers.record : real.event_record(event, stream);
}
CUresult Query(CUevent event) {
  return answers.query != CUDA_SUCCESS ? answers.query : real.event_query(event);
}
CUresult Push(CUcontext context) {
  return answers.push != CUDA_SUCCESS ? answers.push : real.push(context);
}
CUresult Synchronize() {
  return answers.synchronize != CUDA_SUCCESS ? answers.synchronize : real.synchronize();
}
CUresult CaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                     const CUgraphNode** nodes, size_t* count) {
  if (answers.capture_info != CUDA_SUCCESS) return answers.capture_info;
  return real.capture_info2(stream, status, id, graph, nodes, count);
}
CUresult StreamWait(CUstream stream, CUevent event, unsigned flags) {
  if (answers.stream_wait != CUDA_SUCCESS) return answers.stream_wait;
  waited.push_back(stream);
  return real.stream_wait(stream, event, flags);
}
CUresult TotalMemory(size_t* bytes, CUdevice device) {
  return answers.total_memory != CUDA_SUCCESS ? answers.total_memory
                                              : real.total_memory(bytes, device);
}

// An allocator of device 0 on a driver that fails as `answers` says.
class FailingDriver {
 public:
  FailingDriver() : driver_(Calls()) {}
  FailingDriver(const FailingDriver&) = delete;
  FailingDriver& operator=(const FailingDriver&) = delete;
  ~FailingDriver() { answers = {}; }

  DeviceAllocator& allocator() { return allocator_; }

 private:
  static DriverCalls Calls() {
    REQUIRE(CudaDriver::Get() != nullptr);  // cuInit
    answers = {};
    real = *LoadDriverCalls();
    DriverCalls calls = real;
    calls.event_create = Create;
    calls.event_record = Record;
    calls.event_query = Query;
    calls.push = Push;
    calls.synchronize = Synchronize;
    calls.capture_info3 = nullptr;
    calls.capture_info2 = CaptureInfo;
    calls.total_memory = TotalMemory;
    calls.stream_wait = StreamWait;
    return calls;
  }

  Settings settings_;
  CudaDriver driver_;
  DeviceAllocator allocator_{0, settings_, &driver_, nullptr};
};

constexpr Bytes kSize = 32 * kMiB;

// Frees a block that another stream uses while the driver fails; whether the next malloc gets it.
bool HandedOut(const Answers& failing, const Answers& later = {}) {
  FailingDriver driver;
  DeviceAllocator& allocator = driver.allocator();
  const Streams streams(2);
  void* block = allocator.Malloc(kSize, streams.id(0));
  REQUIRE(block != nullptr);
  allocator.RecordStream(block, streams.id(1));
  answers = failing;
  REQUIRE(allocator.Free(block));
  answers = later;
  return allocator.Malloc(kSize, streams.id(0)) == block;
}

TEST_CASE("a block whose stream takes no event isn't handed out") {
  for (const CUresult error :
       {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN, CUDA_ERROR_LAUNCH_FAILED,
        CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_HANDLE /* destroyed; its work goes on */}) {
    CAPTURE(static_cast<int>(error));
    CHECK_FALSE(HandedOut({.record = error}));
    CHECK_FALSE(HandedOut({.create = error}));
    CHECK_FALSE(HandedOut({.push = error}));
  }
}

TEST_CASE("what ran in a context that is gone is over") {
  for (const CUresult gone : {CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_CONTEXT_IS_DESTROYED}) {
    CAPTURE(static_cast<int>(gone));
    CHECK(HandedOut({.record = gone}));
    CHECK(HandedOut({.create = gone}));
    CHECK(HandedOut({.push = gone}));
    CHECK(HandedOut({}, {.query = gone}));
  }
}

TEST_CASE("an event that can't be asked hasn't passed") {
  for (const CUresult error : {CUDA_ERROR_NOT_READY, CUDA_ERROR_UNKNOWN, CUDA_ERROR_LAUNCH_FAILED,
                               CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED}) {
    CAPTURE(static_cast<int>(error));
    CHECK_FALSE(HandedOut({}, {.query = error}));
  }
}

TEST_CASE("a block without an event is free when the device has nothing left to do") {
  FailingDriver driver;
  DeviceAllocator& allocator = driver.allocator();
  const Streams streams(2);
  void* block = allocator.Malloc(kSize, streams.id(0));
  allocator.RecordStream(block, streams.id(1));
  answers.record = CUDA_ERROR_OUT_OF_MEMORY;
  REQUIRE(allocator.Free(block));
  answers = {.synchronize = CUDA_ERROR_LAUNCH_FAILED};
  allocator.EmptyCache();
  CHECK(allocator.figures().reserved == kSize);
  answers = {};
  allocator.EmptyCache();
  CHECK(allocator.figures().reserved == 0);
}

TEST_CASE("a capture that can't be asked about goes on") {
  FailingDriver driver;
  DeviceAllocator& allocator = driver.allocator();
  const Streams streams(2);
  REQUIRE(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal) == cudaSuccess);
  void* input = allocator.Malloc(kSize, streams.id(1));
  allocator.RecordStream(input, streams.id(0));
  REQUIRE(allocator.Free(input));  // waits for the capture's end
  answers.capture_info = CUDA_ERROR_UNKNOWN;
  CHECK(allocator.Malloc(kSize, streams.id(1)) != input);
  answers = {};
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(streams[0], &graph) == cudaSuccess);
  CHECK(allocator.Malloc(kSize, streams.id(1)) == input);
}

TEST_CASE("a device whose memory can't be asked keeps the limit that it had") {
  FailingDriver driver;
  DeviceAllocator& allocator = driver.allocator();
  const Streams streams(1);
  answers.total_memory = CUDA_ERROR_UNKNOWN;
  allocator.SetFraction(0.5);
  CHECK(allocator.Malloc(kSize, streams.id(0)) != nullptr);
}

TEST_CASE("lent memory is back when its stream waits for the others that used it") {
  FailingDriver driver;
  DeviceAllocator& allocator = driver.allocator();
  const Streams streams(2);
  const PoolKey pool{5, 0};
  Recording recording(&allocator, pool, streams[0]);
  void* inside = allocator.Malloc(kSize, streams.id(0));
  Touch(inside, streams[0]);
  allocator.Free(inside);
  recording.Stop();
  REQUIRE(allocator.Borrow(pool, streams.id(0)) >= kSize);
  void* lent = allocator.Malloc(kSize, streams.id(0));
  REQUIRE(lent == inside);
  allocator.RecordStream(lent, streams.id(1));
  allocator.Free(lent);

  waited.clear();
  answers.stream_wait = answers.synchronize = CUDA_ERROR_UNKNOWN;
  CHECK(allocator.Return(pool) == std::vector<LentBlock>{{}});  // nothing is proved
  answers.synchronize = CUDA_SUCCESS;
  answers.stream_wait = CUDA_SUCCESS;
  CHECK(allocator.Return(pool).empty());
  CHECK(waited == std::vector<CUstream>{reinterpret_cast<CUstream>(streams[0])});
}

}  // namespace
}  // namespace graphkit::torch
