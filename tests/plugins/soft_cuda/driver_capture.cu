// Captures, events, values and attributes of streams through the driver API, with the versions that
// older programs ask for.
#include <cstring>

#include "graphs.h"
#include "older.h"

using namespace conformance;

namespace {

CUstream stream;
CUstream other;
CUdeviceptr memory;
unsigned* words;

size_t NodesOf(CUgraph graph) {
  size_t count = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
  return count;
}

CUgraph End() {
  CUgraph graph = nullptr;
  EXPECT_OK(cuStreamEndCapture(stream, &graph));
  return graph;
}

// effect: cuStreamBeginCaptureToGraph cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2
// effect: cuStreamGetCaptureInfo_v1 cuStreamBeginCapture_v1 cuStreamBeginCapture
CASE(Infos) {
  const auto cuStreamBeginCapture_v1 =
      OfVersion<CUresult (*)(CUstream)>("cuStreamBeginCapture", 10000);
  const auto cuStreamGetCaptureInfo_v1 =
      OfVersion<CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*)>(
          "cuStreamGetCaptureInfo", 10010);
  const auto cuStreamGetCaptureInfo_v2 =
      OfVersion<CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                             const CUgraphNode**, size_t*)>("cuStreamGetCaptureInfo", 11030);
  CUgraph graph = NewGraph();
  CUgraphNode first = AddSetWords(graph, words, 1);
  const CUgraphEdgeData full = {};
  EXPECT_OK(
      cuStreamBeginCaptureToGraph(stream, graph, &first, &full, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  CUgraph captured = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* data = nullptr;
  size_t count = 0;
  EXPECT_OK(cuStreamGetCaptureInfo(stream, &status, &id, &captured, &nodes, &data, &count));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && captured == graph && count == 1);
  EXPECT(nodes[0] == first && data[0].type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  cuuint64_t again = 0;
  EXPECT_OK(cuStreamGetCaptureInfo_v2(stream, &status, &again, &captured, &nodes, &count));
  EXPECT(again == id && captured == graph && count == 1 && nodes[0] == first);
  again = 0;
  EXPECT_OK(cuStreamGetCaptureInfo_v1(stream, &status, &again));
  EXPECT(again == id);
  EXPECT_OK(cuMemsetD32Async(memory, 5, 1, stream));
  EXPECT(End() == graph && NodesOf(graph) == 2);
  EXPECT_OK(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_FAILS(
      cuStreamGetCaptureInfo(stream, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_FAILS(cuStreamGetCaptureInfo_v2(stream, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_FAILS(cuStreamGetCaptureInfo_v1(stream, nullptr, nullptr));
  EXPECT_FAILS(cuStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0,
                                           CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(cuGraphDestroy(graph));

  EXPECT_OK(cuStreamBeginCapture_v1(stream));
  EXPECT_FAILS(cuStreamBeginCapture_v1(stream));
  EXPECT_OK(cuMemsetD32Async(memory, 5, 1, stream));
  graph = End();
  EXPECT(NodesOf(graph) == 1);
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_FAILS(cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(9)));
}

// effect: cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v1
CASE(Dependencies) {
  const auto cuStreamUpdateCaptureDependencies_v1 =
      OfVersion<CUresult (*)(CUstream, CUgraphNode*, size_t, unsigned)>(
          "cuStreamUpdateCaptureDependencies", 11030);
  EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(cuMemsetD32Async(memory, 1, 1, stream));
  EXPECT_OK(cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                              CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_OK(cuMemsetD32Async(memory, 2, 1, stream));  // a second root
  EXPECT_OK(
      cuStreamUpdateCaptureDependencies_v1(stream, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_OK(cuMemsetD32Async(memory, 3, 1, stream));  // a third
  EXPECT_FAILS(cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 99));
  EXPECT_FAILS(cuStreamUpdateCaptureDependencies_v1(stream, nullptr, 0, 99));
  CUgraph captured = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_OK(cuStreamGetCaptureInfo(stream, &status, nullptr, &captured, nullptr, nullptr, nullptr));
  CUgraphNode nodes[3];
  size_t count = 3;
  EXPECT_OK(cuGraphGetNodes(captured, nodes, &count));
  EXPECT_OK(cuStreamUpdateCaptureDependencies(stream, nodes, nullptr, 3,
                                              CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  CUgraph graph = End();
  EXPECT_OK(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 3);
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_ERROR(CUDA_ERROR_ILLEGAL_STATE,
               cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 0));
  EXPECT_ERROR(CUDA_ERROR_ILLEGAL_STATE,
               cuStreamUpdateCaptureDependencies_v1(stream, nullptr, 0, 0));
}

// effect: cuEventRecordWithFlags cuEventRecord cuEventElapsedTime cuEventElapsedTime_v1
// effect: cuEventDestroy_v1 cuStreamDestroy_v1
CASE(Events) {
  const auto cuEventElapsedTime_v1 =
      OfVersion<CUresult (*)(float*, CUevent, CUevent)>("cuEventElapsedTime", 2000);
  const auto cuEventDestroy_v1 = OfVersion<CUresult (*)(CUevent)>("cuEventDestroy", 2000);
  const auto cuStreamDestroy_v1 = OfVersion<CUresult (*)(CUstream)>("cuStreamDestroy", 2000);
  CUevent start = nullptr;
  CUevent end = nullptr;
  EXPECT_OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  EXPECT_OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  EXPECT_OK(cuEventRecord(start, stream));
  EXPECT_OK(cuMemsetD32Async(memory, 1, 1, stream));
  EXPECT_OK(cuEventRecordWithFlags(end, stream, CU_EVENT_RECORD_DEFAULT));
  EXPECT_OK(cuEventSynchronize(end));
  float ms = -1;
  float old_ms = -1;
  EXPECT_OK(cuEventElapsedTime(&ms, start, end));
  EXPECT_OK(cuEventElapsedTime_v1(&old_ms, start, end));
  EXPECT(ms >= 0 && ms == old_ms);
  EXPECT_FAILS(cuEventElapsedTime(nullptr, start, end));
  EXPECT_FAILS(cuEventElapsedTime_v1(nullptr, start, end));

  // In a capture an external record is a node.
  EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(cuEventRecordWithFlags(end, stream, CU_EVENT_RECORD_EXTERNAL));
  CUgraph graph = End();
  EXPECT(NodesOf(graph) == 1);
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_FAILS(cuEventRecordWithFlags(end, stream, 0x40));
  EXPECT_FAILS(cuEventRecord(nullptr, stream));
  EXPECT_OK(cuEventDestroy_v1(start));
  EXPECT_OK(cuEventDestroy_v1(end));
  EXPECT_FAILS(cuEventDestroy_v1(nullptr));
  CUstream third = nullptr;
  EXPECT_OK(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamDestroy_v1(third));
  EXPECT_FAILS(cuStreamDestroy_v1(nullptr));
}

// effect: cuStreamWriteValue32 cuStreamWaitValue32 cuStreamWriteValue64 cuStreamWaitValue64
// effect: cuStreamWriteValue32_v1 cuStreamWaitValue32_v1 cuStreamWriteValue64_v1
// effect: cuStreamWaitValue64_v1 cuStreamBatchMemOp cuStreamBatchMemOp_v1
CASE(Values) {
  using Value32 = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  using Value64 = CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned);
  const auto cuStreamWriteValue32_v1 = OfVersion<Value32>("cuStreamWriteValue32", 8000);
  const auto cuStreamWaitValue32_v1 = OfVersion<Value32>("cuStreamWaitValue32", 8000);
  const auto cuStreamWriteValue64_v1 = OfVersion<Value64>("cuStreamWriteValue64", 9000);
  const auto cuStreamWaitValue64_v1 = OfVersion<Value64>("cuStreamWaitValue64", 9000);
  const auto cuStreamBatchMemOp_v1 =
      OfVersion<CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned)>(
          "cuStreamBatchMemOp", 8000);
  EXPECT_OK(cuStreamWriteValue32(stream, memory, 71, 0));
  EXPECT_OK(cuStreamWaitValue32(stream, memory, 71, CU_STREAM_WAIT_VALUE_EQ));
  ON_SOFT(EXPECT_OK(cuStreamWaitValue32_v1(stream, memory, 71, CU_STREAM_WAIT_VALUE_EQ)));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(ReadWord(words) == 71);
  ON_SOFT(EXPECT_OK(cuStreamWriteValue32_v1(stream, memory, 72, 0)));
  EXPECT_OK(cuStreamSynchronize(stream));
  ON_SOFT(EXPECT(ReadWord(words) == 72));
  EXPECT_OK(cuStreamWriteValue64(stream, memory, 73, 0));
  EXPECT_OK(cuStreamWaitValue64(stream, memory, 73, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(ReadWord(words) == 73);
  ON_SOFT(EXPECT_OK(cuStreamWriteValue64_v1(stream, memory, 74, 0)));
  ON_SOFT(EXPECT_OK(cuStreamWaitValue64_v1(stream, memory, 74, CU_STREAM_WAIT_VALUE_EQ)));
  EXPECT_OK(cuStreamSynchronize(stream));
  ON_SOFT(EXPECT(ReadWord(words) == 74));
  CUstreamBatchMemOpParams op = {};
  op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = memory;
  op.writeValue.value = 75;
  EXPECT_OK(cuStreamBatchMemOp(stream, 1, &op, 0));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(ReadWord(words) == 75);
  op.writeValue.value = 76;
  ON_SOFT(EXPECT_OK(cuStreamBatchMemOp_v1(stream, 1, &op, 0)));
  EXPECT_OK(cuStreamSynchronize(stream));
  ON_SOFT(EXPECT(ReadWord(words) == 76));
  EXPECT_FAILS(cuStreamWriteValue32(stream, memory + 1, 1, 0));
  EXPECT_FAILS(cuStreamWaitValue32(stream, memory + 1, 1, 0));
  EXPECT_FAILS(cuStreamWriteValue64(stream, memory + 4, 1, 0));
  EXPECT_FAILS(cuStreamWaitValue64(stream, memory + 4, 1, 0));
  EXPECT_FAILS(cuStreamWriteValue32_v1(stream, memory + 1, 1, 0));
  EXPECT_FAILS(cuStreamWaitValue32_v1(stream, memory + 1, 1, 0));
  EXPECT_FAILS(cuStreamWriteValue64_v1(stream, memory + 4, 1, 0));
  EXPECT_FAILS(cuStreamWaitValue64_v1(stream, memory + 4, 1, 0));
  ON_SOFT(EXPECT_FAILS(cuStreamBatchMemOp(stream, 1, nullptr, 0)));
  ON_SOFT(EXPECT_FAILS(cuStreamBatchMemOp_v1(stream, 1, nullptr, 0)));
}

void CUDA_CB Called(CUstream, CUresult status, void* value) {
  *static_cast<int*>(value) = status == CUDA_SUCCESS ? 1 : 2;
}

// effect: cuStreamGetAttribute cuStreamSetAttribute cuStreamCopyAttributes cuStreamAddCallback
// effect: cuStreamAttachMemAsync cuStreamGetCtx_v2
CASE(Attributes) {
  CUstreamAttrValue value = {};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  EXPECT_OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT_OK(cuStreamCopyAttributes(other, stream));
  value.syncPolicy = CU_SYNC_POLICY_AUTO;
  EXPECT_OK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT(value.syncPolicy == CU_SYNC_POLICY_YIELD);
  CUstream gone = nullptr;
  EXPECT_OK(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamDestroy(gone));
  ON_SOFT(EXPECT_FAILS(cuStreamCopyAttributes(gone, stream)));
  const auto none = static_cast<CUstreamAttrID>(0);
  EXPECT_FAILS(cuStreamSetAttribute(stream, none, &value));
  EXPECT_FAILS(cuStreamGetAttribute(stream, none, &value));
  int called = 0;
  EXPECT_OK(cuStreamAddCallback(stream, Called, &called, 0));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT(called == 1);
  EXPECT_FAILS(cuStreamAddCallback(stream, Called, &called, 1));
  CUdeviceptr managed = 0;
  EXPECT_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_HOST));
  EXPECT_OK(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_FAILS(cuStreamAttachMemAsync(stream, managed, 0, 0x40));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemFree(managed));
  CUcontext context = nullptr;
  CUcontext current = nullptr;
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(&called);
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT_OK(cuStreamGetCtx_v2(stream, &context, &green));
  EXPECT(context == current && green == nullptr);
  ON_SOFT(EXPECT_FAILS(cuStreamGetCtx_v2(stream, nullptr, &green)));
  // The null stream of a build for per-thread default streams is the thread's own.
  unsigned long long id = 0;
  unsigned long long named_id = 1;
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  const CUstream named = CU_STREAM_PER_THREAD;
#else
  const CUstream named = CU_STREAM_LEGACY;
#endif
  EXPECT_OK(cuStreamGetId(nullptr, &id));
  EXPECT_OK(cuStreamGetId(named, &named_id));
  EXPECT(id == named_id);
}

}  // namespace

int main() {
  EXPECT_OK(cudaMalloc(&words, 64));
  memory = reinterpret_cast<CUdeviceptr>(words);
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  RunCases();
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cuStreamDestroy(other));
  EXPECT_OK(cudaFree(words));
  return Finish("driver_capture");
}
