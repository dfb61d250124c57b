// Physical memory that is mapped, unmapped and mapped again.
#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

constexpr uint64_t kMapping = 0x7f0000000000, kSecond = 0x7f0000100000;

// A program that maps memory.
struct Mapping : Script {
  static constexpr uint64_t kSize = 4096, kHandle = 0x11, kNext = 0x12;

  void Create(uint64_t handle) { Physical(CallKind::kPhysical, handle); }
  void Release(uint64_t handle) { Physical(CallKind::kPhysicalRelease, handle); }
  void Share(uint64_t handle) { Physical(CallKind::kShare, handle); }
  void Physical(CallKind kind, uint64_t handle) {
    Call call = Of(kind);
    call.physical = handle;
    Do(call);
  }
  void Map(uint64_t address, uint64_t handle) {
    Call call = Of(CallKind::kAlloc);
    call.mapping = true;
    call.physical = handle;
    call.address = address;
    call.size = kSize;
    Do(call);
  }
  void Unmap(uint64_t address, uint64_t size = kSize) {
    Call call = Of(CallKind::kFree);
    call.address = address;
    call.size = size;
    Do(call);
  }
  // What is behind the address of each mapping: `"same_as":0`.
  Lines Mappings() const {
    Lines rests;
    for (const std::string& line : Records("alloc"))
      rests.push_back(line.substr(line.find("mapped") - 1));
    return rests;
  }
};

constexpr const char* kNew = R"("mapped":true})";

TEST_CASE("physical memory mapped again is the same, by its handle") {
  Mapping s;
  s.Create(Mapping::kHandle);
  s.Map(kMapping, Mapping::kHandle);
  s.Unmap(kMapping);
  s.Map(kMapping, Mapping::kHandle);
  s.Map(kSecond, Mapping::kHandle);
  CHECK(s.Records("alloc").at(0) ==
        R"({"type":"alloc","id":0,"address":"0x7f0000000000","size":4096,"pool":0,"mapped":true})");
  const std::string same = R"("mapped":true,"same_as":0})";
  CHECK(s.Mappings() == Lines{kNew, same, same});
  CHECK(s.Records("memory_shared").empty());
}

TEST_CASE("a handle that is returned for other memory is another's") {
  Mapping s;
  s.Create(Mapping::kHandle);
  s.Map(kMapping, Mapping::kHandle);
  SUBCASE("released first") { s.Release(Mapping::kHandle), s.Unmap(kMapping); }
  SUBCASE("unmapped first") { s.Unmap(kMapping), s.Release(Mapping::kHandle); }
  s.Create(Mapping::kHandle);
  s.Map(kMapping, Mapping::kHandle);
  CHECK(s.Mappings() == Lines{kNew, kNew});
  CHECK(s.Records("memory_shared").empty());
  CHECK(s.recorder.known() == 3);  // the block, its pool, the handle
}

TEST_CASE("a mapping keeps its memory when the handle is released") {
  Mapping s;
  s.Create(Mapping::kHandle);
  s.Map(kMapping, Mapping::kHandle);
  s.Release(Mapping::kHandle);
  s.Map(kSecond, Mapping::kHandle);  // retained again
  CHECK(s.Mappings() == Lines{kNew, R"("mapped":true,"same_as":0})"});
}

TEST_CASE("memory whose content may come from elsewhere is said to be shared, once") {
  Mapping s;
  SUBCASE("exported") {
    s.Create(Mapping::kHandle);
    s.Map(kMapping, Mapping::kHandle);
    s.Share(Mapping::kHandle);
    s.Share(Mapping::kHandle);
  }
  SUBCASE("exported before it is mapped") {
    s.Create(Mapping::kHandle);
    s.Share(Mapping::kHandle);
    s.Map(kMapping, Mapping::kHandle);
  }
  SUBCASE("imported") {
    s.Share(Mapping::kHandle);
    s.Map(kMapping, Mapping::kHandle);
    s.Map(kSecond, Mapping::kHandle);
  }
  SUBCASE("not made here") { s.Map(kMapping, Mapping::kHandle); }
  SUBCASE("a part of it") { s.Map(kMapping, 0); }
  SUBCASE("bound by its address") {
    s.Create(Mapping::kHandle);
    s.Map(kMapping, Mapping::kHandle);
    Call bind = Script::Of(CallKind::kShare);
    bind.address = kMapping + 512;
    s.Do(bind);
  }
  CHECK(s.Records("memory_shared") == Lines{R"({"type":"memory_shared","block":0})"});
}

TEST_CASE("memory that isn't mapped is exported by its address, once") {
  Mapping s;
  s.Malloc(kMapping, 4096);
  Call share = Script::Of(CallKind::kShare);
  share.address = kMapping;
  s.Do(share), s.Do(share);
  CHECK(s.Records("memory_shared") == Lines{R"({"type":"memory_shared","block":0})"});
}

TEST_CASE("memory of another process is there until it is closed as often as it was opened") {
  Mapping s;
  Call open = Script::Of(CallKind::kAlloc);
  open.mapping = true;
  open.registered = true;
  open.address = kMapping;
  open.size = Mapping::kSize;
  s.Do(open), s.Do(open);
  CHECK(s.Mappings() == Lines{kNew});
  CHECK(s.Records("pool") == Lines{R"({"type":"pool","id":0,"kind":"device","name":"imported"})"});
  CHECK(s.Records("memory_shared") == Lines{R"({"type":"memory_shared","block":0})"});
  s.Unmap(kMapping, 0);
  CHECK(s.Records("free").empty());
  s.Unmap(kMapping, 0);
  CHECK(s.Records("free") == Lines{R"({"type":"free","memory":0})"});
}

TEST_CASE("one call unmaps several mappings") {
  Mapping s;
  for (const uint64_t handle : {Mapping::kHandle, Mapping::kNext}) s.Create(handle);
  s.Map(kMapping, Mapping::kHandle);
  s.Map(kMapping + Mapping::kSize, Mapping::kNext);
  s.Map(kMapping + 2 * Mapping::kSize, Mapping::kNext);
  s.Unmap(kMapping, 2 * Mapping::kSize);
  CHECK(s.Records("free") ==
        Lines{R"({"type":"free","memory":0})", R"({"type":"free","memory":1})"});
}

TEST_CASE("an allocator's blocks stay while the memory below them is unmapped") {
  Mapping s;
  s.Create(Mapping::kHandle);
  s.Map(kMapping, Mapping::kHandle);
  s.recorder.memory().OnHeapRegistered(s.thread, CallAt(kMapping, 4096, s.thread, 0), "");
  s.recorder.memory().OnRegion(s.thread, CallAt(kMapping, 512, s.thread, 0));
  s.recorder.memory().Settle(s.thread);
  s.Unmap(kMapping);
  CHECK(s.Records("free") == Lines{R"({"type":"free","memory":0})"});
  CHECK(s.Records("segment_freed").empty());
  SUBCASE("the addresses are given up") {
    Call free = Script::Of(CallKind::kUnreserve);
    free.address = kMapping;
    free.size = 4096;
    s.Do(free);
  }
  SUBCASE("other memory is there") { s.Malloc(kMapping, 4096); }
  CHECK(s.Records("free").back() == R"({"type":"free","memory":1,"src":"derived"})");
  CHECK(s.Records("segment_freed").size() == 1);
}

TEST_CASE("work on memory that nodes touch is recorded when it is mapped again") {
  Mapping s;
  for (const uint64_t handle : {Mapping::kHandle, Mapping::kNext}) s.Create(handle);
  s.Map(kMapping, Mapping::kHandle);
  s.BeginCapture(kStream, kGraph);
  Call set = Script::Work(kStream);
  set.work_kind = NodeKind::kMemset;
  set.own.Touch(kMapping, 64, true);
  s.Do(set, Script::Node(kGraph, 0x31, NodeKind::kMemset));
  s.EndCapture(kStream);
  s.Unmap(kMapping);
  CHECK(!s.recorder.watch().MayHold(kMapping));
  s.Map(kMapping, Mapping::kNext);
  CHECK(s.recorder.watch().MayHold(kMapping));
  s.Do(set);
  CHECK(
      s.Records("work") ==
      Lines{
          R"({"type":"work","stream":0,"thread":0,"kind":"memset","access":[[1,"w",0,64]],"complete":true})"});
}

TEST_CASE("a copy over several mappings touches each of them") {
  Mapping s;
  for (const uint64_t handle : {Mapping::kHandle, Mapping::kNext}) s.Create(handle);
  s.Map(kMapping, Mapping::kHandle);
  s.Map(kMapping + Mapping::kSize, Mapping::kNext);
  s.BeginCapture(kStream, kGraph);
  Call set = Script::Work(kStream);
  set.work_kind = NodeKind::kMemset;
  set.own.Touch(kMapping + 4000, 200, true);
  s.Do(set, Script::Node(kGraph, 0x31, NodeKind::kMemset));
  CHECK(
      s.Records("node") ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"memset","stream":0,"thread":0,"access":[[1,"w",0,104],[0,"w",4000,96]],"complete":true})"});
}

TEST_CASE("work that ends in memory of graphs is noticed") {
  Mapping s;
  for (const uint64_t handle : {Mapping::kHandle, Mapping::kNext}) s.Create(handle);
  s.Map(kMapping, Mapping::kHandle);
  s.Map(kMapping + Mapping::kSize, Mapping::kNext);
  s.BeginCapture(kStream, kGraph);
  Call set = Script::Work(kStream);
  set.work_kind = NodeKind::kMemset;
  set.own.Touch(kMapping + Mapping::kSize, 64, true);
  s.Do(set, Script::Node(kGraph, 0x31, NodeKind::kMemset));
  s.EndCapture(kStream);
  const EagerWatch& watch = s.recorder.watch();
  for (const int64_t length : {96, 97}) {
    Operation operation;
    operation.Touch(kMapping + 4000, length, true);
    CHECK(watch.MayHold(operation) == (length > 96));
  }
  CHECK(!watch.MayHold(kMapping + 2 * Mapping::kSize, 64));
}

}  // namespace
}  // namespace graphkit
