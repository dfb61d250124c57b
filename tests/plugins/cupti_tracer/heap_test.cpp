// Allocators inside the program: segments, blocks, deferred frees; and NVTX ranges.
#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

constexpr uint64_t kSegment = 0x7f0000000000;

Call At(uint64_t address, uint64_t size = 0, uint64_t stream = kNoStream) {
  Call call;
  call.address = address;
  call.size = size;
  call.stream = stream;
  return call;
}

TEST_CASE("a block's life inside a segment, with a deferred free") {
  Script s;
  s.CreateStream(kMain);
  s.CreateStream(kSide);
  s.Malloc(kSegment, 4096);
  s.recorder.memory().OnHeapRegistered(s.thread, At(kSegment, 4096), "default");
  s.recorder.memory().OnRegion(s.thread, At(kSegment + 512, 1024));
  s.recorder.memory().OnBlockStream(s.thread, At(kSegment + 512, 1024, kMain));
  s.recorder.memory().OnRecordStream(s.thread, At(kSegment + 512, 1024, kSide));
  s.recorder.memory().OnFreeRequested(s.thread, At(kSegment + 512, 0, kMain));
  s.recorder.memory().OnFreeCompleted(s.thread, At(kSegment + 512));
  s.recorder.memory().OnHeapUnregistered(s.thread, At(kSegment));
  Lines tail(s.sink.records.begin() + 3, s.sink.records.end());
  CHECK(
      tail ==
      Lines{
          R"({"type":"alloc","id":0,"address":"0x7f0000000000","size":4096,"pool":0})",
          R"({"type":"pool","id":1,"kind":"allocator","name":"default"})",
          R"({"type":"segment","id":0,"address":"0x7f0000000000","size":4096,"pool":1,"memory":0})",
          R"({"type":"alloc","id":1,"address":"0x7f0000000200","size":1024,"pool":1,"stream":0,"segment":0})",
          R"({"type":"record_stream","memory":1,"stream":1})",
          R"({"type":"free_requested","memory":1,"stream":0})",
          R"({"type":"free_completed","memory":1})",
          R"({"type":"segment_freed","segment":0})",
      });
}

TEST_CASE("a free without a request is one free, and only the first") {
  Script s;
  s.recorder.memory().OnHeapRegistered(s.thread, At(kSegment, 4096), "");
  s.recorder.memory().OnRegion(s.thread, At(kSegment, 512));
  s.recorder.memory().OnFreeCompleted(s.thread, At(kSegment));
  s.recorder.memory().OnFreeCompleted(s.thread, At(kSegment));
  CHECK(s.Records("free") == Lines{R"({"type":"free","memory":0})"});
  CHECK(s.Records("free_completed").empty());
}

TEST_CASE("a pool that is named in a capture is private, and its blocks belong to the graph") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.recorder.memory().OnPoolNamed(s.thread, At(kSegment, 4096), "step");
  s.recorder.memory().OnHeapRegistered(s.thread, At(kSegment, 4096), "ignored");
  s.recorder.memory().OnRegion(s.thread, At(kSegment, 512));
  s.EndCapture(kMain);
  CHECK(s.Records("pool") == Lines{R"({"type":"pool","id":0,"kind":"private","name":"step"})"});
  CHECK(
      s.Records("alloc") ==
      Lines{
          R"({"type":"alloc","id":0,"address":"0x7f0000000000","size":512,"pool":0,"segment":0,"graph":0})"});
}

TEST_CASE("without NVTX the range of a pool is the segment of its blocks") {
  Script s;
  s.recorder.memory().OnPoolNamed(s.thread, At(kSegment, 4096), "mine");
  s.recorder.memory().OnRegion(s.thread, At(kSegment + 1024, 512, kMain));
  s.recorder.memory().Settle(s.thread);
  CHECK(s.Records("segment") ==
        Lines{R"({"type":"segment","id":0,"address":"0x7f0000000000","size":4096,"pool":0})"});
  CHECK(
      s.Records("alloc") ==
      Lines{
          R"({"type":"alloc","id":0,"address":"0x7f0000000400","size":512,"pool":0,"stream":0,"segment":0})"});
}

TEST_CASE("what lies in memory that the driver takes back is gone with it") {
  Script s;
  s.Malloc(kSegment, 4096);
  s.recorder.memory().OnHeapRegistered(s.thread, At(kSegment, 4096), "");
  s.recorder.memory().OnRegion(s.thread, At(kSegment, 512));
  s.Free(kSegment);
  Lines tail(s.sink.records.end() - 3, s.sink.records.end());
  CHECK(tail == Lines{
                    R"({"type":"free","memory":1,"src":"derived"})",
                    R"({"type":"segment_freed","segment":0})",
                    R"({"type":"free","memory":0})",
                });
}

TEST_CASE("a kernel's argument is found in the block, not in its segment") {
  Script s;
  s.Malloc(kSegment, 4096);
  s.recorder.memory().OnHeapRegistered(s.thread, At(kSegment, 4096), "");
  s.recorder.memory().OnRegion(s.thread, At(kSegment, 512));
  s.recorder.work_reader().AddKernel(0x5000, {"k", true, {{0, 8}}});
  s.BeginCapture(kMain, kGraph);
  uint64_t in = kSegment + 8;
  const void* arguments[] = {&in};
  Call launch = Script::Work(kMain);
  launch.kernel.function = 0x5000;
  launch.kernel.arguments = arguments;
  s.Do(launch, Script::Node(kGraph, 1, NodeKind::kKernel));
  CHECK(s.Records("node").at(0).find(R"("access":[[1,"?",8,-1]])") != std::string::npos);
}

TEST_CASE("ranges are written when something lies in them, and closed when they were written") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.recorder.threads().OnRangePushed(s.thread, "", "empty");
  s.recorder.threads().OnRangePopped(s.thread, "");
  s.recorder.threads().OnRangePushed(s.thread, "nccl", "step", 0xff00ff00);
  s.Kernel(kMain, kGraph, 1);
  s.Kernel(kMain, kGraph, 2, {1});
  s.recorder.threads().OnRangePopped(s.thread, "nccl");
  CHECK(
      s.Records("nvtx_push") ==
      Lines{
          R"({"type":"nvtx_push","thread":0,"domain":"nccl","name":"step","colour":"0xff00ff00"})"});
  CHECK(s.Records("nvtx_pop") == Lines{R"({"type":"nvtx_pop","thread":0,"domain":"nccl"})"});
}

TEST_CASE("a garbage collection is written though nothing of the driver's lies in it") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.recorder.threads().OnRangePushed(s.thread, "", "garbage collection, generation 2", 0, 700);
  s.recorder.threads().OnRangePopped(s.thread, "", 900);
  CHECK(s.Records("nvtx_push") ==
        Lines{R"({"type":"nvtx_push","thread":0,"name":"garbage collection, generation 2"})"});
  CHECK(s.Records("nvtx_pop") == Lines{R"({"type":"nvtx_pop","thread":0})"});
}

TEST_CASE("a range of the hook's names the next graph, and isn't written") {
  Script s;
  s.recorder.threads().OnRangePushed(s.thread, "", "graphkit graph: full, 8 tokens");
  s.recorder.threads().OnRangePopped(s.thread, "");
  s.BeginCapture(kMain, kGraph);
  REQUIRE(s.Records("graph").size() == 1);
  CHECK(s.Records("graph")[0].ends_with(R"("name":"full, 8 tokens"})"));
  CHECK(s.Records("nvtx_push").empty());
  CHECK(s.thread.next_graph.empty());
}

}  // namespace
}  // namespace graphkit
