// Captures: streams that fork and join, the edges and their data, and what breaks a capture.
#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

constexpr uint64_t kFork = 0x300, kJoin = 0x400;

TEST_CASE("a fork and join is recorded call by call") {
  Script s;
  s.CreateStream(kMain, true);
  s.CreateStream(kSide);
  s.BeginCapture(kMain, kGraph);
  s.Kernel(kMain, kGraph, 0xa0);
  s.RecordEvent(kFork, kMain);
  s.WaitEvent(kSide, kFork);
  s.Kernel(kMain, kGraph, 0xa1, {0xa0});
  s.Kernel(kSide, kGraph, 0xb1, {0xa0});
  s.RecordEvent(kJoin, kSide);
  s.WaitEvent(kMain, kJoin);
  s.Kernel(kMain, kGraph, 0xa2, {0xa1, 0xb1});
  s.EndCapture(kMain);
  CHECK(s.sink.records ==
        Lines{
            R"({"type":"stream","id":0,"handle":"0x100","non_blocking":true})",
            R"({"type":"stream","id":1,"handle":"0x200"})",
            R"({"type":"thread","id":0,"tid":100})",
            R"({"type":"graph","id":0,"origin":"capture","handle":"0x1000"})",
            R"({"type":"capture_begin","id":0,"graph":0,"stream":0,"thread":0,"mode":"global"})",
            R"({"type":"node","id":0,"graph":0,"kind":"kernel","stream":0,"thread":0})",
            R"({"type":"event","id":0,"handle":"0x300"})",
            R"({"type":"event_record","stream":0,"event":0,"capturing":true})",
            R"({"type":"event_wait","stream":1,"event":0,"capturing":true})",
            R"({"type":"node","id":1,"graph":0,"kind":"kernel","stream":0,"thread":0})",
            R"({"type":"edge","id":0,"from":0,"to":1})",
            R"({"type":"node","id":2,"graph":0,"kind":"kernel","stream":1,"thread":0})",
            R"({"type":"edge","id":1,"from":0,"to":2})",
            R"({"type":"event","id":1,"handle":"0x400"})",
            R"({"type":"event_record","stream":1,"event":1,"capturing":true})",
            R"({"type":"event_wait","stream":0,"event":1,"capturing":true})",
            R"({"type":"node","id":3,"graph":0,"kind":"kernel","stream":0,"thread":0})",
            R"({"type":"edge","id":2,"from":1,"to":3})",
            R"({"type":"edge","id":3,"from":2,"to":3})",
            R"({"type":"capture_end","capture":0})",
        });
}

// Launches `node` after `before` on the main stream, with launch attributes.
Call Launch(bool serialization, uint64_t event = 0, bool at_start = false,
            uint64_t completion = 0) {
  Call call = Script::Work(kMain);
  call.kernel.programmatic_serialization = serialization;
  call.kernel.programmatic_event = event;
  call.kernel.at_block_start = at_start;
  call.kernel.completion_event = completion;
  return call;
}

TEST_CASE("programmatic stream serialization gives programmatic edges from kernels only") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.Kernel(kMain, kGraph, 1);
  s.Do(Launch(true), Script::Node(kGraph, 2, NodeKind::kKernel, {1}));
  s.Do(Script::Work(kMain), Script::Node(kGraph, 3, NodeKind::kMemset, {2}));
  s.Do(Launch(true), Script::Node(kGraph, 4, NodeKind::kKernel, {3}));
  CHECK(s.Records("edge") ==
        Lines{
            R"({"type":"edge","id":0,"from":0,"to":1,"from_port":1,"edge_type":1})",
            R"({"type":"edge","id":1,"from":1,"to":2})",
            R"({"type":"edge","id":2,"from":2,"to":3})",
        });
}

TEST_CASE("with a driver whose edges have no data, launch attributes give full edges") {
  Script s;
  s.recorder.WithoutEdgeData();
  s.BeginCapture(kMain, kGraph);
  s.Do(Launch(false, kFork), Script::Node(kGraph, 1, NodeKind::kKernel));
  s.Do(Launch(true), Script::Node(kGraph, 2, NodeKind::kKernel, {1}));
  s.WaitEvent(kSide, kFork);
  s.Do(Script::Work(kSide), Script::Node(kGraph, 3, NodeKind::kKernel, {1}));
  CHECK(s.Records("edge") == Lines{
                                 R"({"type":"edge","id":0,"from":0,"to":1})",
                                 R"({"type":"edge","id":1,"from":0,"to":2})",
                             });
  CHECK(s.Records("event_record") ==
        Lines{R"({"type":"event_record","stream":0,"event":0,"capturing":true})"});
}

TEST_CASE("an event of a launch carries the port that it was recorded through") {
  auto edge_of = [](Call producer, NodeKind consumer) {
    Script s;
    s.BeginCapture(kMain, kGraph);
    s.Do(std::move(producer), Script::Node(kGraph, 1, NodeKind::kKernel));
    s.WaitEvent(kSide, kFork);
    s.Do(Script::Work(kSide), Script::Node(kGraph, 2, consumer, {1}));
    return s.Records("edge").at(0);
  };
  CHECK(edge_of(Launch(false, kFork), NodeKind::kKernel) ==
        R"({"type":"edge","id":0,"from":0,"to":1,"from_port":1,"edge_type":1})");
  CHECK(edge_of(Launch(false, kFork, true), NodeKind::kKernel) ==
        R"({"type":"edge","id":0,"from":0,"to":1,"from_port":2,"edge_type":1})");
  CHECK(edge_of(Launch(false, 0, false, kFork), NodeKind::kKernel) ==
        R"({"type":"edge","id":0,"from":0,"to":1,"from_port":2})");
  CHECK(edge_of(Launch(false, kFork), NodeKind::kMemset) ==
        R"({"type":"edge","id":0,"from":0,"to":1,"from_port":1,"edge_type":1})");
}

TEST_CASE("an event recorded by a launch names its entries") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.Do(Launch(false, kFork, true), Script::Node(kGraph, 1, NodeKind::kKernel));
  CHECK(
      s.Records("event_record") ==
      Lines{
          R"({"type":"event_record","stream":0,"event":0,"capturing":true,"entries":[[0,2,1]]})"});
}

TEST_CASE("dependencies that the program sets replace the frontier") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.Kernel(kMain, kGraph, 1);
  s.Kernel(kMain, kGraph, 2, {1});
  Call update = Script::Of(CallKind::kUpdateDependencies);
  update.stream = kMain;
  update.flags = 1;
  update.dependencies = {{1, 0, 1, 0, 1}};
  s.Do(update);
  s.Kernel(kMain, kGraph, 3, {1});
  CHECK(s.Records("frontier") ==
        Lines{R"({"type":"frontier","stream":0,"mode":"set","entries":[[0,1,1]]})"});
  CHECK(s.Records("edge").back() ==
        R"({"type":"edge","id":1,"from":0,"to":2,"from_port":1,"edge_type":1})");
}

TEST_CASE("a capture into a graph begins with the dependencies that it was given") {
  Script s;
  s.Do(Script::Of(CallKind::kGraphCreate), {Script::Created(kGraph)});
  Call add = Script::Of(CallKind::kAddNode);
  add.graph = kGraph;
  s.Do(add, Script::Node(kGraph, 1, NodeKind::kEmpty));
  Call begin = Script::Of(CallKind::kBeginCapture);
  begin.stream = kMain;
  begin.graph = kGraph;
  begin.mode = 2;
  begin.dependencies = {{1}};
  s.Do(begin);
  CHECK(s.Records("graph") ==
        Lines{R"({"type":"graph","id":0,"origin":"explicit","handle":"0x1000"})"});
  CHECK(
      s.Records("capture_begin") ==
      Lines{R"({"type":"capture_begin","id":0,"graph":0,"stream":0,"thread":0,"mode":"relaxed"})"});
  CHECK(s.Records("frontier") ==
        Lines{R"({"type":"frontier","stream":0,"mode":"set","entries":[[0,0,0]]})"});
}

TEST_CASE("the call that invalidated a capture is named at its end") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.Kernel(kMain, kGraph, 1);
  Call call = Script::Of(CallKind::kAlloc, "cuMemAlloc_v2");
  call.is_allocation = true;
  s.Do(call, {}, 900);
  s.EndCapture(kMain, 901);
  CHECK(s.Records("failure") ==
        Lines{R"({"type":"failure","call":"cuMemAlloc","error":900,"thread":0,"graph":0})"});
  CHECK(s.Records("capture_end") ==
        Lines{R"({"type":"capture_end","capture":0,"error":901,"failure":0})"});
  CHECK(s.Records("graph_destroyed") == Lines{R"({"type":"graph_destroyed","graph":0})"});
}

TEST_CASE("a failure inside a runtime call carries the runtime's name and is told once") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.thread.runtime_call = "cudaMalloc_v3020";
  Call call = Script::Of(CallKind::kAlloc, "cuMemAlloc_v2");
  call.is_allocation = true;
  s.Do(call, {}, 900);
  s.recorder.RuntimeFailed(s.thread, Script::Of(CallKind::kOther, "cudaMalloc_v3020"), 900);
  CHECK(s.Records("failure") ==
        Lines{R"({"type":"failure","call":"cudaMalloc","error":900,"thread":0,"graph":0})"});
}

TEST_CASE("a failure says what the call was given, in terms of the trace") {
  constexpr uint64_t kBlock = 0x7f0000000000, kOnly = 0x9;
  Script s;
  s.Malloc(kBlock, 4096);
  s.RecordEvent(kFork, kMain);
  s.BeginCapture(kMain, kGraph);
  const CallArgument arguments[] = {{"ByteCount", ArgumentKind::kUnsigned, 4096},
                                    {"value", ArgumentKind::kSigned, ~0ull},
                                    {"dstDevice", ArgumentKind::kAddress, kBlock},
                                    {"srcDevice", ArgumentKind::kAddress, 0x10},
                                    {"inside", ArgumentKind::kAddress, kBlock + 512},
                                    {"hEvent", ArgumentKind::kHandle, kFork, Taken::kEvent},
                                    {"hGraph", ArgumentKind::kHandle, kGraph, Taken::kGraph},
                                    {"hNode", ArgumentKind::kHandle, kOnly, Taken::kNode},
                                    {"hPool", ArgumentKind::kHandle, 0, Taken::kPool}};
  Call call = Script::Of(CallKind::kOther, "cuSomething");
  call.arguments = arguments;
  s.Do(call, {}, 900);
  CHECK(s.Records("failure") ==
        Lines{R"({"type":"failure","call":"cuSomething","error":900,"thread":0,"graph":0,)"
              R"("args":"ByteCount=4096, value=-1, dstDevice=block 0, srcDevice=unknown, )"
              R"(inside=block 0+512, hEvent=event 0, hGraph=graph 0, hNode=unknown, hPool=0"})"});
}

TEST_CASE("what the runtime says last has the arguments of the driver call that failed") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.thread.runtime_call = "cudaMalloc_v3020";
  s.thread.arguments = {{"bytesize", ArgumentKind::kUnsigned, 64}};
  Call call = Script::Of(CallKind::kAlloc, "cuMemAlloc_v2");
  call.is_allocation = true;
  call.arguments = s.thread.arguments;
  s.Do(call, {}, 2);
  s.recorder.RuntimeFailed(s.thread, Script::Of(CallKind::kOther, "cudaMalloc_v3020"), 2);
  CHECK(s.Records("failure") ==
        Lines{R"({"type":"failure","call":"cudaMalloc","error":2,"thread":0,"graph":0,)"
              R"("args":"bytesize=64"})"});
}

TEST_CASE("an allocation that fails is recorded, a call that fails otherwise isn't") {
  Script s;
  Call alloc = Script::Of(CallKind::kAlloc, "cuMemAlloc_v2");
  alloc.is_allocation = true;
  s.Do(alloc, {}, 2);
  s.Do(Script::Work(kMain, "cuLaunchKernel"), {}, 1);
  CHECK(s.Records("failure") ==
        Lines{R"({"type":"failure","call":"cuMemAlloc","error":2,"thread":0})"});
}

TEST_CASE("what the runtime makes good of is no failure") {
  Script s;
  s.thread.runtime_call = "cudaMalloc";
  Call alloc = Script::Of(CallKind::kAlloc, "cuMemAlloc_v2");
  alloc.is_allocation = true;
  s.Do(alloc, {}, 2);
  CHECK(s.Records("failure").empty());
}

TEST_CASE("ending a capture on the wrong stream leaves it open") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.Kernel(kMain, kGraph, 1);
  s.RecordEvent(kFork, kMain);
  s.WaitEvent(kSide, kFork);
  s.EndCapture(kSide, 903);
  CHECK(s.Records("capture_end").empty());
  CHECK(s.Records("failure").size() == 1);
  s.EndCapture(kMain, 904);  // the side stream isn't joined: that, and not the calls before
  CHECK(s.Records("capture_end") ==
        Lines{R"({"type":"capture_end","capture":0,"error":904,"failure":1})"});
}

TEST_CASE("ending a capture in the wrong thread ends it with nothing") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.Kernel(kMain, kGraph, 1);
  s.EndCapture(kMain, 908);
  CHECK(s.Records("capture_end") ==
        Lines{R"({"type":"capture_end","capture":0,"error":908,"failure":0})"});
}

TEST_CASE("an unjoined stream is the end of the capture and its own reason") {
  Script s;
  s.BeginCapture(kMain, kGraph);
  s.EndCapture(kMain, 904);
  CHECK(
      s.Records("failure") ==
      Lines{
          R"({"type":"failure","call":"cuStreamEndCapture","error":904,"thread":0,"stream":0,"graph":0})"});
  CHECK(s.Records("capture_end") ==
        Lines{R"({"type":"capture_end","capture":0,"error":904,"failure":0})"});
}

TEST_CASE("a capture whose graph was not announced gets it from its first node") {
  Script s;
  Call begin = Script::Of(CallKind::kBeginCapture);
  begin.stream = kMain;
  s.Do(begin);
  s.Kernel(kMain, kGraph, 1);
  s.Kernel(kMain, kGraph, 2, {1});
  CHECK(s.Records("graph").size() == 1);
  CHECK(s.Records("edge").size() == 1);
}

TEST_CASE("default streams are one per context and one per thread") {
  Script s;
  auto sync = [&](ThreadState& thread, uint64_t stream, uint64_t context) {
    Call call = Script::Of(CallKind::kStreamSync);
    call.stream = stream;
    call.context = context;
    s.DoOn(thread, call);
  };
  ThreadState other;
  other.tid = 101;
  sync(s.thread, kLegacyStream, 0x7f0000);
  sync(other, kLegacyStream, 0x7f0000);
  sync(s.thread, kPerThreadStream, 0x7f0000);
  sync(other, kPerThreadStream, 0x7f0000);
  CHECK(s.Records("stream") == Lines{
                                   R"({"type":"stream","id":0,"handle":"0x0","kind":"legacy"})",
                                   R"({"type":"stream","id":1,"handle":"0x2","kind":"per_thread"})",
                                   R"({"type":"stream","id":2,"handle":"0x2","kind":"per_thread"})",
                               });
}

TEST_CASE("an event that is polled is told done once, until it is recorded again") {
  Script s;
  Call sync = Script::Of(CallKind::kEventSync);
  sync.event = kFork;
  s.WaitEvent(kMain, kFork);  // so that there is something to wait for
  s.RecordEvent(kFork, kMain);
  s.Do(sync);
  s.Do(sync);
  s.WaitEvent(kMain, kFork);
  s.RecordEvent(kFork, kMain);
  s.Do(sync);
  CHECK(s.Records("sync").size() == 2);
}

TEST_CASE("call names lose their versions") {
  CHECK(PlainCallName("cudaMalloc_v3020") == "cudaMalloc");
  CHECK(PlainCallName("cudaLaunchKernel_ptsz_v7000") == "cudaLaunchKernel");
  CHECK(PlainCallName("cuStreamBeginCapture_v2_ptsz") == "cuStreamBeginCapture");
  CHECK(PlainCallName("__cudaLaunchKernel") == "__cudaLaunchKernel");
}

}  // namespace
}  // namespace graphkit
