#include "plugins/cupti_tracer/recorder/communicators.h"

#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

constexpr uint64_t kKey = 0xabc, kOtherKey = 0xdef;

// NCCL's calls, as its NVTX ranges and its profiler interface tell them, in a capture.
struct Nccl : Script {
  uint64_t last = 0;  // node

  Nccl() {
    CreateStream(kStream);
    BeginCapture(kStream, kGraph);
  }
  Communicators& communicators() { return recorder.communicators(); }
  void Made(uint64_t key, int ranks, int rank) {
    communicators().OnCommunicator(thread, key, ranks, rank);
  }
  void Begin(const char* call, NcclPayload payload = {}) {
    communicators().OnRangePushed(thread, call, payload.communicator != 0 ? &payload : nullptr);
  }
  void End(const char* call, NcclPayload payload = {}) {
    communicators().OnRangePopped(thread, call, payload.communicator != 0 ? &payload : nullptr);
  }
  void Call(const char* call, NcclPayload payload = {}) {
    Begin(call, payload);
    End(call);
  }
  void Launch() {
    ++last;
    Kernel(kStream, kGraph, last,
           last > 1 ? std::vector<uint64_t>{last - 1} : std::vector<uint64_t>());
  }
  std::string Collectives() {  // of the last node
    const std::string node = Records("node").back();
    const size_t at = node.find("\"collectives\":");
    return at == std::string::npos ? "" : node.substr(at + 14, node.rfind(']') - at - 13);
  }
};

TEST_CASE("a call's kernel has what its range says of it") {
  Nccl s;
  s.Made(kKey, 4, 2);
  s.Begin("ncclBroadcast", {.communicator = kKey, .bytes = 512, .peer = 3});
  s.Launch();
  CHECK(s.Collectives() == R"([[0,"broadcast",512,"byte",3]])");
  s.Launch();
  CHECK(s.Collectives() == "");
  s.End("ncclBroadcast");
  s.Launch();
  CHECK(s.Collectives() == "");
  CHECK(s.Records("communicator") ==
        Lines{R"({"type":"communicator","id":0,"key":"0xabc","ranks":4,"rank":2})"});
}

TEST_CASE("the calls of a group are its kernel's") {
  Nccl s;
  s.Made(kKey, 2, 0);
  s.Call("ncclGroupStart");
  s.Call("ncclSend", {.communicator = kKey, .bytes = 8, .peer = 1});
  s.Call("ncclRecv", {.communicator = kKey, .bytes = 8, .peer = 1});
  s.Launch();  // a kernel of the program's own
  CHECK(s.Collectives() == "");
  s.Begin("ncclGroupEnd");
  s.Launch();
  CHECK(s.Collectives() == R"([[0,"send",8,"byte",1],[0,"receive",8,"byte",1]])");
  s.End("ncclGroupEnd");
}

TEST_CASE("a call that launches nothing leaves nothing behind") {
  Nccl s;
  s.Made(kKey, 2, 0);
  s.Call("ncclAllReduce", {.communicator = kKey, .bytes = 8});
  s.Begin("ncclAllGather", {.communicator = kKey, .bytes = 16});
  s.Launch();
  CHECK(s.Collectives() == R"([[0,"all_gather",16,"byte",-1]])");
}

TEST_CASE("communicators of one rank, and unknown ones, have no operations") {
  Nccl s;
  s.Made(kKey, 1, 0);
  s.Begin("ncclAllReduce", {.communicator = kKey, .bytes = 8});
  s.Launch();
  s.End("ncclAllReduce");
  CHECK(s.Collectives() == "");
  s.Begin("ncclAllReduce", {.communicator = kOtherKey, .bytes = 8});
  s.Launch();
  CHECK(s.Collectives() == "");
  CHECK(s.Records("communicator").empty());
}

TEST_CASE("a communicator's end is recorded where it was used") {
  Nccl s;
  const NcclPayload made{.communicator = kKey, .rank = 1, .ranks = 2};
  s.Begin("ncclCommInitRank");
  s.End("ncclCommInitRank", made);
  s.Made(kOtherKey, 2, 0);
  s.Begin("ncclAllReduce", {.communicator = kKey, .bytes = 8});
  s.Launch();
  s.End("ncclAllReduce");
  s.Begin("ncclCommDestroy", made);
  s.End("ncclCommDestroy");
  s.Begin("ncclCommAbort");
  s.End("ncclCommAbort", {.communicator = kOtherKey, .rank = 0, .ranks = 2});
  CHECK(s.Records("communicator_destroyed") ==
        Lines{R"({"type":"communicator_destroyed","communicator":0})"});
}

}  // namespace
}  // namespace graphkit
