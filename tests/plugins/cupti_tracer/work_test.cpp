// Work outside of captures: what of it is recorded.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

Call Fill(uint64_t stream, uint64_t address, int64_t bytes) {
  Call call = Script::Work(stream, "cuMemsetD8Async");
  call.work_kind = NodeKind::kMemset;
  call.own.Touch(address, bytes, true);
  return call;
}

TEST_CASE("what is submitted while a capture is open is recorded, and nothing before or after") {
  Script s;
  s.CreateStream(kMain);
  s.CreateStream(kSide);
  s.Malloc(0x10000, 4096);
  s.Do(Fill(kSide, 0x10000, 64));
  CHECK(s.recorder.watch().idle());
  s.BeginCapture(kMain, kGraph);
  CHECK(s.recorder.watch().capturing());
  s.Kernel(kMain, kGraph, 1);
  s.Do(Fill(kSide, 0x10000, 64));
  ThreadState other;
  other.tid = 101;
  s.DoOn(other, Fill(kLegacyStream, 0x20000, 64));
  s.EndCapture(kMain);
  CHECK(s.recorder.watch().idle());
  s.Do(Fill(kSide, 0x10000, 64));
  CHECK(
      s.Records("work") ==
      Lines{
          R"({"type":"work","stream":1,"thread":0,"kind":"memset","access":[[0,"w",0,64]],"complete":true})",
          R"({"type":"work","stream":2,"thread":1,"kind":"memset","complete":true})",
      });
}

TEST_CASE("what touches memory that was allocated in a capture is recorded until it is freed") {
  Script s;
  s.CreateStream(kMain);
  s.Malloc(0x10000, 4096);
  s.BeginCapture(kMain, kGraph);
  s.Malloc(0x30000, 4096);
  s.EndCapture(kMain);
  CHECK_FALSE(s.recorder.watch().idle());
  s.Do(Fill(kMain, 0x10000, 64));
  s.Do(Fill(kMain, 0x30800, 64));
  CHECK(
      s.Records("work") ==
      Lines{
          R"({"type":"work","stream":0,"thread":0,"kind":"memset","access":[[1,"w",2048,64]],"complete":true})",
      });
  s.Free(0x30000);
  CHECK(s.recorder.watch().idle());
}

TEST_CASE("the host waits for copies into its own memory") {
  Script s;
  s.CreateStream(kMain);
  s.Malloc(0x10000, 4096);
  s.BeginCapture(kMain, kGraph);
  Call copy = Script::Work(kLegacyStream);
  copy.work_kind = NodeKind::kMemcpy;
  copy.blocking = true;
  copy.own.Touch(0x10000, 64, true);
  s.Do(copy);  // to the device
  s.Do(Fill(kLegacyStream, 0x10000, 64));
  CHECK(s.Records("sync").empty());
  Call told = copy;
  told.to_host = true;
  s.Do(told);
  CHECK(s.Records("sync") == Lines{R"({"type":"sync","what":"stream","stream":1})"});
  copy.own.touches[0].address = 0x7ffc00;  // in no memory of the driver's
  s.Do(copy);
  CHECK(s.Records("sync").size() == 2);
  told.blocking = false;
  s.Do(told);
  CHECK(s.Records("sync").size() == 2);
  CHECK(s.Records("work").size() == 5);
}

// A copy, as a call names its ends.
Call Copy(uint64_t stream, uint64_t to, uint64_t from, bool blocking) {
  Call call = Script::Work(stream);
  call.work_kind = NodeKind::kMemcpy;
  call.blocking = blocking;
  call.own.Touch(to, 64, true);
  call.own.Touch(from, 64, false);
  return call;
}

TEST_CASE("the host waits for copies as CUDA's documentation says") {
  constexpr uint64_t kDevice = 0x10000, kOther = 0x20000, kPinned = 0x30000, kPageable = 0x7ffc00;
  // The records of a copy: of the wait, of the work.
  const auto recorded = [&](uint64_t to, uint64_t from, bool blocking) {
    Script s;
    s.CreateStream(kMain);
    s.Malloc(kDevice, 4096);
    s.Malloc(kOther, 4096);
    Call pinned = Script::Work(kNoStream);
    pinned.kind = CallKind::kAlloc;
    pinned.pool_kind = PoolKind::kHost;
    pinned.address = kPinned;
    pinned.size = 4096;
    s.Do(pinned);
    s.BeginCapture(kMain, kGraph);
    s.Do(Copy(blocking ? kLegacyStream : kSide, to, from, blocking));
    std::vector<std::string> kinds;
    for (const std::string& line : s.sink.records) {
      for (const char* kind : {"sync", "work"}) {
        if (line.starts_with(std::string(R"({"type":")") + kind)) kinds.emplace_back(kind);
      }
    }
    return kinds;
  };
  using Kinds = std::vector<std::string>;
  const Kinds before = {"sync", "work"}, after = {"work", "sync"}, never = {"work"};
  CHECK(recorded(kPageable, kDevice, true) == after);
  CHECK(recorded(kPinned, kDevice, true) == after);
  CHECK(recorded(kDevice, kPinned, true) == after);
  CHECK(recorded(kDevice, kPageable, true) == before);
  CHECK(recorded(kDevice, kOther, true) == never);
  CHECK(recorded(kPageable, kDevice, false) == after);
  CHECK(recorded(kPinned, kDevice, false) == never);
  CHECK(recorded(kDevice, kPinned, false) == never);
  CHECK(recorded(kDevice, kPageable, false) == never);
}

TEST_CASE("work on memory that a node touches is recorded from then on") {
  Script s;
  s.CreateStream(kMain);
  s.Malloc(0x10000, 4096);
  s.Malloc(0x20000, 4096);
  s.Do(Fill(kMain, 0x10000, 64));
  s.BeginCapture(kMain, kGraph);
  s.Do(Fill(kMain, 0x10800, 64), Script::Node(kGraph, 1, NodeKind::kMemset));
  s.EndCapture(kMain);
  s.Do(Fill(kSide, 0x10000, 64));
  s.Do(Fill(kSide, 0x20000, 64));
  CHECK(s.Records("work").size() == 1);
  s.Free(0x10000);
  CHECK(s.recorder.watch().idle());
}

TEST_CASE("what a query of a stream says is recorded once") {
  Script s;
  s.CreateStream(kMain);
  Call query = Script::Work(kMain);
  query.kind = CallKind::kStreamSync;
  query.polls = true;
  s.BeginCapture(kSide, kGraph);
  s.Do(Fill(kMain, 0x10000, 64));
  for (int i = 0; i < 5; ++i) s.Do(query);
  CHECK(s.Records("sync").size() == 1);
  s.Do(Fill(kMain, 0x10000, 64));
  s.Do(query);
  CHECK(s.Records("sync").size() == 2);
}

TEST_CASE("the driver's block is a graph's when one piece of it was allocated in a capture") {
  Script s;
  s.CreateStream(kMain);
  s.Malloc(0x10000, 0x10000);
  const auto hand_out = [&](uint64_t address) {
    s.recorder.memory().OnRegion(s.thread, CallAt(address, 256, s.thread, 0));
    s.recorder.memory().Settle(s.thread);
  };
  hand_out(0x10000);
  s.BeginCapture(kMain, kGraph);
  hand_out(0x11000);
  s.EndCapture(kMain);
  hand_out(0x12000);
  s.Do(Fill(kMain, 0x10000, 64));  // there since before the capture: no graph works here
  s.Do(Fill(kMain, 0x11000, 64));
  s.Do(Fill(kMain, 0x12000, 64));
  s.Do(Fill(kMain, 0x18000, 64));  // no piece
  CHECK(s.Records("work").size() == 3);
}

TEST_CASE("a watch knows each address that was added, and few others") {
  const auto seed = std::random_device()();
  INFO("seed ", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    EagerWatch watch;
    struct Added {
      Address begin, end;
    };
    std::vector<Added> added;
    const size_t count = 1 + random() % (2 * EagerWatch::kMostRanges);
    for (size_t i = 0; i < count; ++i) {
      const Address begin = 0x100000 + random() % 0x100000;
      const Bytes size = 1 + random() % 0x8000;
      watch.Add(begin, size);
      added.push_back({begin, begin + size});
    }
    for (int i = 0; i < 200; ++i) {
      const Address address = 0xf0000 + random() % 0x130000;
      const bool held = std::ranges::any_of(
          added, [&](const Added& a) { return a.begin <= address && address < a.end; });
      if (held || count <= EagerWatch::kMostRanges) CHECK(watch.MayHold(address) == held);
    }
    for (size_t i = 0; i < count; ++i) {
      CHECK_FALSE(watch.idle());
      watch.Remove();
    }
    CHECK(watch.idle());
    CHECK_FALSE(watch.MayHold(added[0].begin));
  }
}

TEST_CASE("a watch finds addresses in arguments, also inside structs") {
  EagerWatch watch;
  watch.Add(0x5000, 0x1000);
  struct Operands {
    uint32_t count = 2;
    uint64_t from = 0x4fff, to = 0x5800;
  } operands;
  const uint64_t number = 7;
  const void* arguments[] = {&number, &operands};
  KernelInfo kernel;
  kernel.params = {{0, 8}, {8, sizeof operands}};
  KernelWork launch;
  launch.arguments = arguments;
  CHECK(watch.MayHold(launch, kernel));
  operands.to = 0x6000;
  CHECK_FALSE(watch.MayHold(launch, kernel));
  char packed[8 + sizeof operands];
  operands.from = 0x5fff;
  std::memcpy(packed, &number, 8);
  std::memcpy(packed + 8, &operands, sizeof operands);
  launch = {};
  launch.packed = packed;
  launch.packed_bytes = sizeof packed;
  CHECK(watch.MayHold(launch, kernel));
}

TEST_CASE("an access to a place that is known is found, among few and among many") {
  const auto seed = std::random_device()();
  INFO("seed ", seed);
  std::mt19937 random(seed);
  Work work;
  for (int round = 0; round < 100; ++round) {
    work.Clear(NodeKind::kKernel);
    const size_t count = random() % 2 == 0 ? random() % 40 : random() % 1000;
    for (size_t i = 0; i < count; ++i) {
      Access access{BlockId(random() % 8), AccessMode::kRead, 512 * (random() % 64)};
      if (random() % 4 == 0) access.length = 64 * (random() % 2);
      if (random() % 4 == 0) access.rows.width = random() % 2;
      const auto same = [&](const Access& known) {
        return known.block == access.block && known.offset == access.offset &&
               known.length == access.length && known.rows == access.rows;
      };
      const auto slow = std::ranges::find_if(work.accesses, same);
      const Access* const found = work.Find(access);
      CHECK(found == (slow != work.accesses.end() ? &*slow : nullptr));
      if (found == nullptr) work.accesses.push_back(access);
    }
  }
}

}  // namespace
}  // namespace graphkit
