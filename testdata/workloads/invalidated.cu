// A capture that goes wrong, once for each rule.
//
// Each rule captures one kernel, breaks the rule, looks at the error, and ends the capture:
//
//   rule           what is done                                    its error    the capture's end
//   unsafe_call    cudaMalloc in global mode                       900          901
//   synchronize    synchronises the stream that captures           900          901
//   query_event    asks whether an event of the capture is done    907          901
//   merge          waits for an event of another capture           902          901; the other: 901
//   isolation      waits for an event from outside the capture     905          901
//   legacy         uses the legacy stream while a blocking one     906          901
//                  captures
//   unjoined       ends with a forked stream that never joined     -            904
//   unmatched      ends on a stream that only joined               903          not said
//   wrong_thread   ends in another thread                          908          not said
//                  (by others' measurement that ends it, with 401 for the end that follows)
//   begin_again    begins a capture on a stream that captures      401          0
//
// 11 captures (merge has two). In each rule one kernel is captured, in merge two, in unjoined and
// unmatched one on the forked stream as well: 13 kernel nodes, 2 edges. Where the end is "not said"
// the program prints what it was and doesn't judge.
//
//     invalidated [rule]       without an argument: all rules, one after the other
#include <thread>

#include "testdata/workloads/cuda_check.h"

constexpr int kUnjudged = -1;

__global__ void Touch(float* data) { data[threadIdx.x] += 1.0f; }

namespace {

// The objects that the rules work with: streams and events made anew for each.
struct Scene {
  float* data = nullptr;
  cudaStream_t stream = nullptr;  // captures
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;

  void LaunchOn(cudaStream_t where) const {
    Touch<<<1, 32, 0, where>>>(data);
    CHECK(cudaGetLastError());
  }
  void Fork() const {
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamWaitEvent(other, event, 0));
    LaunchOn(other);
  }
};

void UnsafeCall(const Scene&) {
  void* memory = nullptr;
  EXPECT(cudaErrorStreamCaptureUnsupported, cudaMalloc(&memory, kMiB));
}

void Synchronize(const Scene& s) {
  EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s.stream));
}

void QueryEvent(const Scene& s) {
  CHECK(cudaEventRecord(s.event, s.stream));
  EXPECT(cudaErrorCapturedEvent, cudaEventQuery(s.event));
}

void Merge(const Scene& s) {
  CHECK(cudaStreamBeginCapture(s.other, cudaStreamCaptureModeGlobal));
  s.LaunchOn(s.other);
  CHECK(cudaEventRecord(s.event, s.other));
  EXPECT(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(s.stream, s.event, 0));
  cudaGraph_t graph = nullptr;
  EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s.other, &graph));
}

void Isolation(const Scene& s) {
  CHECK(cudaEventRecord(s.event, s.other));
  EXPECT(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s.stream, s.event, 0));
}

void Legacy(const Scene& s) {
  EXPECT(cudaErrorStreamCaptureImplicit, cudaMemsetAsync(s.data, 0, 128, cudaStreamLegacy));
}

void Unjoined(const Scene& s) { s.Fork(); }

void Unmatched(const Scene& s) {
  s.Fork();
  cudaGraph_t graph = nullptr;
  EXPECT(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(s.other, &graph));
}

void WrongThread(const Scene& s) {
  std::thread([&s] {
    cudaGraph_t graph = nullptr;
    EXPECT(cudaErrorStreamCaptureWrongThread, cudaStreamEndCapture(s.stream, &graph));
  }).join();
}

void BeginAgain(const Scene& s) {
  EXPECT(cudaErrorIllegalState, cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
}

struct Rule {
  const char* name;
  void (*breaks)(const Scene&);
  int end;                // error of the capture's end; kUnjudged: not documented
  bool blocking = false;  // the capturing stream synchronises with the legacy stream
};

constexpr Rule kRules[] = {
    {"unsafe_call", UnsafeCall, cudaErrorStreamCaptureInvalidated},
    {"synchronize", Synchronize, cudaErrorStreamCaptureInvalidated},
    {"query_event", QueryEvent, cudaErrorStreamCaptureInvalidated},
    {"merge", Merge, cudaErrorStreamCaptureInvalidated},
    {"isolation", Isolation, cudaErrorStreamCaptureInvalidated},
    {"legacy", Legacy, cudaErrorStreamCaptureInvalidated, true},
    {"unjoined", Unjoined, cudaErrorStreamCaptureUnjoined},
    {"unmatched", Unmatched, kUnjudged},
    {"wrong_thread", WrongThread, kUnjudged},
    {"begin_again", BeginAgain, cudaSuccess},
};

// Ends the capture and says how. Whether that is what the rule expects.
bool End(const Rule& rule, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(stream, &graph);
  cudaGetLastError();
  if (graph != nullptr) CHECK(cudaGraphDestroy(graph));
  std::printf("invalidated: %s: the capture ended with %s\n", rule.name, cudaGetErrorName(error));
  return rule.end == kUnjudged || static_cast<int>(error) == rule.end;
}

bool Break(const Rule& rule, float* data) {
  Scene s;
  s.data = data;
  CHECK(cudaStreamCreateWithFlags(&s.stream,
                                  rule.blocking ? cudaStreamDefault : cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&s.other, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&s.event, cudaEventDisableTiming));
  CHECK(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
  s.LaunchOn(s.stream);
  rule.breaks(s);
  const bool as_expected = End(rule, s.stream);
  CHECK(cudaEventDestroy(s.event));
  CHECK(cudaStreamDestroy(s.other));
  CHECK(cudaStreamDestroy(s.stream));
  return as_expected;
}

}  // namespace

int main(int argc, char** argv) {
  float* data = nullptr;
  CHECK(cudaMalloc(&data, 4 * kKiB));
  int unexpected = 0;
  for (const Rule& rule : kRules) {
    if (argc > 1 && std::strcmp(argv[1], rule.name) != 0) continue;
    if (!Break(rule, data)) ++unexpected;
  }
  CHECK(cudaFree(data));
  if (unexpected) std::fprintf(stderr, "invalidated: %d rules ended otherwise\n", unexpected);
  return unexpected ? 1 : 0;
}
