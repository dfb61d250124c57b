// Events outside of captures: written when an operation needs what came before it, and never where
// none does.
#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

constexpr uint64_t kFirst = 0x300, kLast = 0x400;

struct Timed : Script {
  void Record(uint64_t event, uint64_t stream = kMain) { RecordEvent(event, stream); }
  void SyncEvent(uint64_t event) {
    Call call = Of(CallKind::kEventSync);
    call.event = event;
    Do(call);
  }
  void Destroy(uint64_t event) {
    Call call = Of(CallKind::kEventDestroy);
    call.event = event;
    Do(call);
  }
  void Launch(uint64_t stream = kMain) {
    Call call = Of(CallKind::kGraphLaunch);
    call.exec = kExec;
    call.stream = stream;
    Do(call);
  }
  // A launch that is known, and the host has waited for.
  void RunGraph() {
    Create(*this, kGraph);
    Instantiate(*this, kGraph);
    Launch();
    Do(Of(CallKind::kDeviceSync));
  }
  // As Triton's autotuner measures a kernel.
  void TimeKernel() {
    Record(kFirst);
    Do(Work(kMain));
    Record(kLast);
    SyncEvent(kFirst);
    SyncEvent(kLast);
    Destroy(kFirst);
    Destroy(kLast);
  }
};

TEST_CASE("a timed loop leaves nothing, however often it goes round") {
  Timed s;
  s.RunGraph();
  for (int i = 0; i < 2; ++i) s.TimeKernel();
  const size_t before = s.sink.records.size();
  for (int i = 0; i < 1000; ++i) s.TimeKernel();
  CHECK(s.sink.records.size() == before);
  CHECK(s.Records("event").empty());
  CHECK(s.Records("sync").size() == 1);  // the device's
}

TEST_CASE("counts of eager work need no event's record") {
  Timed s;
  s.Record(kFirst);
  Call work = Script::Work(kMain);
  work.kernel.function = 0x10;
  s.recorder.SettleCount(s.thread, work, EagerCounts::Outcome::kNoPlace);
  s.recorder.WriteCounts(0, true);
  CHECK(s.Records("eager").size() == 1);
  s.SyncEvent(kFirst);
  s.Destroy(kFirst);
  CHECK(s.Records("event").empty());
  CHECK(s.Records("sync").empty());
}

TEST_CASE("waits of the host for the whole device say nothing new in a timed loop") {
  Timed s;
  s.Record(kFirst);
  s.Do(Script::Of(CallKind::kDeviceSync));
  CHECK(s.Records("event_record").empty());
  CHECK(s.Records("sync").empty());
}

TEST_CASE("a stream that waits for an event needs its record, in its place before") {
  Timed s;
  s.RunGraph();
  s.Record(kFirst);
  s.Record(kLast, kSide);
  s.WaitEvent(kSide, kFirst);
  const Lines last(s.sink.records.end() - 5, s.sink.records.end());
  CHECK(last == Lines{R"({"type":"event","id":0,"handle":"0x300"})",
                      R"({"type":"event_record","stream":0,"event":0})",
                      R"({"type":"event","id":1,"handle":"0x400"})",
                      R"({"type":"event_record","stream":1,"event":1})",
                      R"({"type":"event_wait","stream":1,"event":0})"});
}

TEST_CASE("a launch comes after the events that were recorded before it") {
  Timed s;
  s.RunGraph();
  s.Record(kFirst);
  s.Launch();
  s.Record(kLast);
  s.Launch();
  const Lines last(s.sink.records.end() - 6, s.sink.records.end());
  CHECK(last[1] == R"({"type":"event_record","stream":0,"event":0})");
  CHECK(last[2].starts_with(R"({"type":"launch")"));
  CHECK(last[4] == R"({"type":"event_record","stream":0,"event":1})");
  CHECK(last[5].starts_with(R"({"type":"launch")"));
}

TEST_CASE("the host that waits for a launch by an event is told") {
  Timed s;
  s.RunGraph();
  s.Launch();
  s.Record(kFirst);
  s.SyncEvent(kFirst);
  CHECK(s.Records("event_record").size() == 1);
  CHECK(s.Records("sync").size() == 2);
  s.Record(kFirst);  // nothing was submitted since
  s.SyncEvent(kFirst);
  CHECK(s.Records("sync").size() == 2);
}

TEST_CASE("what one thread knows isn't known to another") {
  Timed s;
  s.RunGraph();
  ThreadState other;
  other.tid = 101;
  s.Record(kFirst);
  Call sync = Script::Of(CallKind::kEventSync);
  sync.event = kFirst;
  s.DoOn(other, sync);
  CHECK(s.Records("event_record").size() == 1);
  CHECK(s.Records("sync").back() == R"({"type":"sync","what":"event","thread":0,"event":0})");
}

TEST_CASE("of an event that is recorded again the last record counts") {
  Timed s;
  s.RunGraph();
  s.Record(kFirst);
  s.Record(kFirst, kSide);
  s.WaitEvent(kMain, kFirst);
  CHECK(s.Records("event_record") == Lines{R"({"type":"event_record","stream":1,"event":0})"});
}

TEST_CASE("a stream's end comes after the events that were recorded in it") {
  Timed s;
  s.CreateStream(kMain);
  s.Record(kFirst);
  Call destroy = Script::Of(CallKind::kStreamDestroy);
  destroy.stream = kMain;
  s.Do(destroy);
  const size_t n = s.sink.records.size();
  CHECK(s.sink.records[n - 2].starts_with(R"({"type":"event_record")"));
  CHECK(s.sink.records[n - 1].starts_with(R"({"type":"stream_destroyed")"));
}

}  // namespace
}  // namespace graphkit
