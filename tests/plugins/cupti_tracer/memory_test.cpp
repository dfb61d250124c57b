// Memory: blocks, what nodes touch of them, and handles that other threads are given again.
#include <doctest/doctest.h>

#include "plugins/cupti_tracer/recorder/host_content.h"
#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

constexpr uint64_t kFunction = 0x5000;
constexpr uint64_t kX = 0x7f0000000000, kY = 0x7f0000100000;

// A program with two blocks, 0 at kX and 1 at kY, that captures.
struct Capturing : Script {
  Capturing() {
    Malloc(kX, 4096);
    Malloc(kY, 4096);
    BeginCapture(kStream, kGraph);
  }
};

Operation Copy(uint64_t to, uint64_t from, int64_t length) {
  return {{{to, length, true}, {from, length, false}, {}}, 2, true};
}

Call Batch(std::vector<Operation> operations) {
  Call call = Script::Work(kStream);
  call.operations = std::move(operations);
  return call;
}

TEST_CASE("memory is given out and taken back") {
  Script s;
  s.Malloc(kX, 1024);
  s.Free(kX);
  s.Free(kX);
  s.Free(0xdead);
  CHECK(s.sink.records ==
        Lines{
            R"({"type":"pool","id":0,"kind":"device"})",
            R"({"type":"alloc","id":0,"address":"0x7f0000000000","size":1024,"pool":0})",
            R"({"type":"free","memory":0})",
        });
}

TEST_CASE("an address given out again before its free has returned was freed") {
  Script s;
  s.Malloc(kX, 1024);
  Call free = Script::Of(CallKind::kFree);
  free.address = kX;
  ThreadState other;
  other.tid = 101;
  s.recorder.Enter(other, free);  // the driver takes the block back …
  s.Malloc(kX, 512);              // … and gives it out again, before the free returns
  s.recorder.Exit(other, free);
  CHECK(s.Records("free") == Lines{R"({"type":"free","memory":0,"src":"derived"})"});
  s.Free(kX);
  CHECK(s.Records("free").back() == R"({"type":"free","memory":1})");
}

TEST_CASE("pools are told apart by kind, handle and device") {
  Script s;
  auto alloc = [&](PoolKind kind, uint64_t pool, int32_t device, uint64_t address) {
    Call call = Script::Of(CallKind::kAlloc);
    call.pool_kind = kind;
    call.pool = pool;
    call.device = device;
    call.address = address;
    call.size = 16;
    s.Do(call);
  };
  alloc(PoolKind::kDevice, 0, 0, 0x1000);
  alloc(PoolKind::kDevice, 0, 1, 0x2000);
  alloc(PoolKind::kStream, 0x77, 0, 0x3000);
  alloc(PoolKind::kHost, 0, 0, 0x4000);
  alloc(PoolKind::kHost, 0, 1, 0x5000);
  CHECK(s.Records("pool") == Lines{
                                 R"({"type":"pool","id":0,"kind":"device"})",
                                 R"({"type":"pool","id":1,"kind":"device"})",
                                 R"({"type":"pool","id":2,"kind":"stream","handle":"0x77"})",
                                 R"({"type":"pool","id":3,"kind":"host"})",
                             });
}

TEST_CASE("a pool of the host and one of managed memory are no device memory") {
  Script s;
  auto met = [&](CallKind kind, PoolKind of, uint64_t pool) {
    Call call = Script::Of(kind);
    call.pool_kind = of;
    call.pool = pool;
    s.Do(call);
  };
  met(CallKind::kPoolCreate, PoolKind::kHost, 0x77);
  met(CallKind::kPoolMet, PoolKind::kManaged, 0x88);
  met(CallKind::kPoolMet, PoolKind::kManaged, 0x88);
  met(CallKind::kPoolMet, PoolKind::kDevice, 0x99);
  s.BeginCapture(kStream, kGraph);
  Call alloc = Script::Of(CallKind::kAlloc);
  alloc.pool_kind = PoolKind::kStream;
  alloc.stream = kStream;
  alloc.address = kX;
  alloc.size = 64;
  alloc.pool = 0x88;
  s.Do(alloc, Script::Node(kGraph, 0x31, NodeKind::kMemAlloc));
  CHECK(s.Records("pool") == Lines{R"({"type":"pool","id":0,"kind":"host","handle":"0x77"})",
                                   R"({"type":"pool","id":1,"kind":"managed","handle":"0x88"})"});
  CHECK(
      s.Records("alloc") ==
      Lines{
          R"({"type":"alloc","id":0,"address":"0x7f0000000000","size":64,"pool":1,"stream":0,"graph":0})"});
}

TEST_CASE("a memory-alloc node follows its block, a memory-free node frees it alone") {
  Script s;
  s.BeginCapture(kStream, kGraph);
  Call alloc = Script::Of(CallKind::kAlloc);
  alloc.stream = kStream;
  alloc.pool_kind = PoolKind::kStream;
  alloc.address = kX;
  alloc.size = 4096;
  s.Do(alloc, Script::Node(kGraph, 1, NodeKind::kMemAlloc));
  Call free = Script::Of(CallKind::kFree);
  free.stream = kStream;
  free.address = kX;
  s.Do(free, Script::Node(kGraph, 2, NodeKind::kMemFree, {1}));
  Lines tail(s.sink.records.end() - 5, s.sink.records.end());
  CHECK(
      tail ==
      Lines{
          R"({"type":"pool","id":0,"kind":"graph"})",
          R"({"type":"alloc","id":0,"address":"0x7f0000000000","size":4096,"pool":0,"stream":0,"graph":0})",
          R"({"type":"node","id":0,"graph":0,"kind":"mem_alloc","stream":0,"thread":0,"memory":0})",
          R"({"type":"node","id":1,"graph":0,"kind":"mem_free","stream":0,"thread":0,"memory":0})",
          R"({"type":"edge","id":0,"from":0,"to":1})",
      });
}

TEST_CASE("copies touch what they read and write, exactly") {
  Capturing s;
  Call copy = Script::Work(kStream);
  copy.own.Touch(kY + 256, 128, true);
  copy.own.Touch(kX, 128, false);
  s.Do(copy, Script::Node(kGraph, 1, NodeKind::kMemcpy));
  CHECK(
      s.Records("node") ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"memcpy","stream":0,"thread":0,"access":[[1,"w",256,128],[0,"r",0,128]],"complete":true})"});
}

TEST_CASE("copies say what is the host's own memory, and launches how far its stack went") {
  Capturing s;
  Call copy = Script::Work(kStream);
  copy.own.Touch(kX, 128, true);
  copy.own.Touch(0x7ffc00, 128, false);
  copy.own.touches[1].host = HostMemoryKind::kStack;
  s.Do(copy, Script::Node(kGraph, 1, NodeKind::kMemcpy));
  CHECK(
      s.Records("node") ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"memcpy","stream":0,"thread":0,"access":[[0,"w",0,128]],"complete":true,"host":[["stack","r","0x7ffc00",128]]})"});
  s.EndCapture(kStream);
  s.thread.exec_nodes = {{1, 0, 0x51, 0x50, kGraph}};
  Instantiate(s, kGraph);
  CHECK(s.recorder.AsksStack(kExec));
  Call launch = Script::Of(CallKind::kGraphLaunch);
  launch.exec = kExec;
  launch.stream = kStream;
  launch.stack_top = 0x7ffd00;
  s.Do(launch);
  CHECK(s.Records("stack_top") == Lines{R"({"type":"stack_top","thread":0,"address":"0x7ffd00"})"});
  CHECK(s.sink.records.back().starts_with(R"({"type":"launch")"));
  for (int i = 1; i < 100; ++i) s.Do(launch);
  CHECK_FALSE(s.recorder.AsksStack(kExec));
}

TEST_CASE("bytes that captured copies read are compared at launches and other work") {
  Script s;
  static uint64_t staging[512] = {};
  Call locked = Script::Of(CallKind::kAlloc);
  locked.pool_kind = PoolKind::kHost;
  locked.address = reinterpret_cast<uint64_t>(staging);
  locked.size = sizeof staging;
  s.Do(locked);
  s.Malloc(kX, 4096);
  s.BeginCapture(kStream, kGraph);
  Call copy = Script::Work(kStream);
  copy.work_kind = NodeKind::kMemcpy;
  copy.own.Touch(kX, 256, true);
  copy.own.Touch(locked.address + 64, 256, false);
  s.Do(copy, Script::Node(kGraph, 1, NodeKind::kMemcpy));
  s.EndCapture(kStream);
  s.thread.exec_nodes = {{1, 0, 0x51, 0x50, kGraph}};
  Instantiate(s, kGraph);
  Call launch = Script::Of(CallKind::kGraphLaunch);
  launch.exec = kExec;
  launch.stream = kStream;
  const std::string changed = R"({"type":"host_content","memory":0,"offset":64,"length":256})";
  const auto changes = [&] { return s.Records("host_content").size(); };
  s.Do(launch);
  CHECK(changes() == 0);
  staging[0] = 1;  // beside
  s.Do(launch);
  CHECK(changes() == 0);
  staging[8] = 1;
  s.Do(launch);
  REQUIRE(changes() == 1);
  CHECK(s.Records("host_content").back() == changed);
  CHECK(s.sink.records[s.sink.records.size() - 2] == changed);  // before the launch
  staging[8] = 2;
  s.Do(copy);  // work that reads it
  CHECK(changes() == 2);
  s.Do(launch);
  CHECK(changes() == 2);
  // What work writes is looked at when the host has waited.
  Call back = Script::Work(kStream);
  back.work_kind = NodeKind::kMemcpy;
  back.own.Touch(locked.address, 4096, true);
  back.own.Touch(kX, 4096, false);
  staging[8] = 3;
  s.Do(back);
  CHECK(changes() == 2);
  Call wait = Script::Of(CallKind::kDeviceSync);
  s.Do(wait);
  CHECK(changes() == 3);
  s.Do(wait);
  staging[8] = 4;
  s.Do(wait);
  CHECK(changes() == 3);
  // Where no other work used it for long, nobody looks until some does.
  for (uint32_t i = 0; i < HostContent::kMostCalm; ++i) s.Do(launch);
  CHECK(changes() == 4);
  staging[8] = 5;
  s.Do(launch);
  CHECK(changes() == 4);
  s.Do(copy);  // when it changed isn't known
  CHECK(changes() == 4);
  staging[8] = 6;
  s.Do(launch);
  CHECK(changes() == 5);
}

TEST_CASE("registered memory is a block of a pool of its own") {
  Script s;
  Call registered = Script::Of(CallKind::kAlloc);
  registered.pool_kind = PoolKind::kHost;
  registered.registered = true;
  registered.address = kX;
  registered.size = 4096;
  s.Do(registered);
  s.Free(kX);
  CHECK(s.Records("pool") == Lines{R"({"type":"pool","id":0,"kind":"host","name":"registered"})"});
  CHECK(s.Records("free").size() == 1);
}

struct Pointers {  // a kernel argument by value
  uint32_t count;
  uint32_t padding;
  uint64_t data;
};

// PyTorch's: room for four inputs, of which each row of the grid copies one.
struct CatArrInputTensorMetadata {
  uint64_t input[4];
  uint32_t sizes[4];
};

TEST_CASE("of the inputs that a concatenation has room for, those are touched that it is given") {
  Script s;
  s.Malloc(kX, 4096);
  s.Malloc(kY, 4096);
  s.recorder.work_reader().AddKernel(
      kFunction,
      {"_Z19CatArrayBatchedCopyPf25CatArrInputTensorMetadatai", true, {{0, 8}, {8, 48}, {56, 4}}});
  s.BeginCapture(kStream, kGraph);
  uint64_t out = kX;
  CatArrInputTensorMetadata inputs{{kX + 1024, kX + 2048, kY, kY + 8}, {}};
  int32_t n = 2;
  const void* arguments[] = {&out, &inputs, &n};
  Call launch = Script::Work(kStream);
  launch.kernel.function = kFunction;
  launch.kernel.arguments = arguments;
  launch.kernel.grid[1] = 2;  // the others are left over on the host's stack
  s.Do(launch, Script::Node(kGraph, 1, NodeKind::kKernel));
  const Lines nodes = s.Records("node");
  REQUIRE(nodes.size() == 1);
  CAPTURE(nodes[0]);
  CHECK(nodes[0].find(R"("access":[[0,"?",0,-1],[0,"?",1024,-1],[0,"?",2048,-1]])") !=
        std::string::npos);
}

TEST_CASE("addresses are found in arguments, and inside structures") {
  Script s;
  s.Malloc(kX, 4096);
  s.Malloc(kY, 4096);
  // kernel(const float*, float*, int, Pointers)
  s.recorder.work_reader().AddKernel(
      kFunction, {"_Z6kernelPKfPfi8Pointers", true, {{0, 8}, {8, 8}, {16, 4}, {24, 16}}});
  s.BeginCapture(kStream, kGraph);
  uint64_t in = kX + 16, out = kY;
  int32_t n = 0x7f00;
  Pointers more{3, 0, kX + 4095};
  const void* arguments[] = {&in, &out, &n, &more};
  Call launch = Script::Work(kStream);
  launch.kernel.function = kFunction;
  launch.kernel.arguments = arguments;
  launch.kernel.grid[0] = 4;
  launch.kernel.block[0] = 256;
  launch.kernel.shared_bytes = 32;
  s.Do(launch, Script::Node(kGraph, 1, NodeKind::kKernel));
  CHECK(
      s.Records("kernel") ==
      Lines{
          R"({"type":"kernel","id":0,"name":"_Z6kernelPKfPfi8Pointers","params":[[0,8],[8,8],[16,4],[24,16]]})"});
  CHECK(
      s.Records("node") ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"kernel","stream":0,"thread":0,"kernel":0,"grid":[4,1,1],"block":[256,1,1],"shared":32,"access":[[0,"r",16,-1],[1,"?",0,-1],[0,"?",4095,-1]],"complete":true,"scalars":[[2,0,"0x7f00"]]})"});
}

TEST_CASE("a packed argument buffer is read as far as it goes") {
  Script s;
  s.Malloc(kX, 4096);
  s.recorder.work_reader().AddKernel(kFunction, {"k", true, {{0, 8}, {8, 8}}});
  s.BeginCapture(kStream, kGraph);
  uint64_t buffer[] = {kX, kX};
  Call launch = Script::Work(kStream);
  launch.kernel.function = kFunction;
  launch.kernel.packed = reinterpret_cast<const char*>(buffer);
  launch.kernel.packed_bytes = 8;
  s.Do(launch, Script::Node(kGraph, 1, NodeKind::kKernel));
  CHECK(
      s.Records("node") ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"kernel","stream":0,"thread":0,"kernel":0,"access":[[0,"?",0,-1]],"complete":true})"});
}

TEST_CASE("a kernel that takes addresses of addresses may touch more than it names") {
  Script s;
  s.Malloc(kX, 4096);
  s.recorder.work_reader().AddKernel(kFunction, {"_Z6kernelPPf", true, {{0, 8}}});
  s.BeginCapture(kStream, kGraph);
  uint64_t in = kX;
  const void* arguments[] = {&in};
  Call launch = Script::Work(kStream);
  launch.kernel.function = kFunction;
  launch.kernel.arguments = arguments;
  s.Do(launch, Script::Node(kGraph, 1, NodeKind::kKernel));
  CHECK(
      s.Records("node") ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"kernel","stream":0,"thread":0,"kernel":0,"access":[[0,"?",0,-1]]})"});
}

TEST_CASE("a batch that becomes one node has all that its operations touch") {
  Capturing s;
  Operation barrier;
  s.Do(Batch({Copy(kY, kX, 64), barrier, Copy(kX, kY, 64)}),
       Script::Node(kGraph, 0x31, NodeKind::kBatchMemOp));
  Operation unknown;
  unknown.complete = false;
  s.Do(Batch({Copy(kY, kX, 8), unknown}),
       Script::Node(kGraph, 0x32, NodeKind::kBatchMemOp, {0x31}));
  CHECK(
      s.Records("node") ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"batch_mem_op","stream":0,"thread":0,"access":[[1,"rw",0,64],[0,"rw",0,64]],"complete":true})",
          R"({"type":"node","id":1,"graph":0,"kind":"batch_mem_op","stream":0,"thread":0,"access":[[1,"w",0,8],[0,"r",0,8]]})"});
}

TEST_CASE("semaphores touch no memory, and say so") {
  Capturing s;
  s.Do(Script::Work(kStream), Script::Node(kGraph, 0x31, NodeKind::kExternalSemaphoreSignal));
  CHECK(
      s.Records("node") ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"semaphore_signal","stream":0,"thread":0,"complete":true})"});
}

TEST_CASE("work outside of captures is recorded when asked for") {
  ListSink sink;
  Recorder recorder(sink, true);
  ThreadState thread;
  thread.tid = 100;
  Call set = Script::Work(kStream);
  set.own.Touch(kX, 64, true);
  set.work_kind = NodeKind::kMemset;
  recorder.Exit(thread, set);
  CHECK(sink.records.back() ==
        R"({"type":"work","stream":0,"thread":0,"kind":"memset","complete":true})");
}

TEST_CASE("a signature tells what is only read") {
  using U = ParamUse;
  CHECK(ParamUses("_Z3AddPKfS0_Pfi") == std::vector{U::kRead, U::kRead, U::kAny, U::kUnknown});
  CHECK(ParamUses("_Z6kernelIfEvPKT_PS0_i") == std::vector{U::kRead, U::kAny, U::kUnknown});
  CHECK(ParamUses("_Z6kernelPPKf") == std::vector{U::kIndirect});
  CHECK(ParamUses("_Z6kernelv").empty());
  CHECK(ParamUses("plain_c_name").empty());
}

TEST_CASE("the innermost live block answers for an address") {
  LiveMemory live;
  live.Insert(LiveMemory::kDriver, 1000, 100, BlockId(3u));
  live.Insert(LiveMemory::kPiece, 1010, 10, BlockId(4u));
  CHECK(live.Find(999) == std::nullopt);
  CHECK(live.Find(1000) == LiveMemory::Place{BlockId(3u), 0});
  CHECK(live.Find(1015) == LiveMemory::Place{BlockId(4u), 5});
  CHECK(live.Find(1020) == LiveMemory::Place{BlockId(3u), 20});
  CHECK(live.Find(1100) == std::nullopt);
}

}  // namespace
}  // namespace graphkit
