#include "libgraphkit/io/merge/same_process.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

// "" for one process, "warning: …", "error: …".
std::string Judged(const ProcessEvidence& evidence) {
  const Result<std::string> judged = JudgeProcess(evidence, "t", "s");
  if (!judged) return "error: " + judged.error().message;
  return judged->empty() ? "" : "warning: " + *judged;
}

ProcessEvidence Fitting() {
  return {.segments = 5,
          .seen = 5,
          .saw_driver = true,
          .whole = true,
          .differences = {-20'000, -10'000, -15'000, -5 * kSecond, -12'000},
          .trace_time = Interval<int64_t>{100 * kSecond, 120 * kSecond},
          .snapshot_time = Interval<int64_t>{101 * kSecond, 119 * kSecond}};
}

TEST_CASE("what fits is of one process, though an address was given out before") {
  CHECK(Judged(Fitting()).empty());
}

TEST_CASE("a history at another time is of another process") {
  ProcessEvidence evidence = Fitting();
  evidence.snapshot_time = {50 * kSecond, 70 * kSecond};
  CHECK(Judged(evidence) ==
        "error: it is of another process than t: its history ended 30 s before t began");
  evidence.snapshot_time = {150 * kSecond, 170 * kSecond};
  CHECK(Judged(evidence) ==
        "error: it is of another process than t: its history began 30 s after t had ended");
  evidence.whole = false;  // the trace was cut off
  CHECK(Judged(evidence).empty());
}

TEST_CASE("memory that the driver never gave is another process's") {
  ProcessEvidence evidence = Fitting();
  evidence.seen = 0;
  evidence.differences = {};
  CHECK(Judged(evidence) ==
        "error: it is of another process than t: 0 of its 5 segments are "
        "memory that the driver gave there");
  evidence.seen = 4;
  CHECK(Judged(evidence) ==
        "warning: 1 of the 5 segments of s are no memory that the driver gave "
        "in t: is it of the same process?");
}

TEST_CASE("the same addresses at other times are another process's") {
  ProcessEvidence evidence = Fitting();
  evidence.differences = {0, 300 * kMs, 900 * kMs, -200 * kMs, 5 * kSecond};
  CHECK(Judged(evidence).find("but were allocated at other times") != std::string::npos);
  evidence.differences = {301 * kMs, 300 * kMs, 300 * kMs, 302 * kMs, 300 * kMs};
  CHECK(Judged(evidence) ==
        "warning: s has the same memory as t, but 300 ms apart: is it of the same process?");
}

TEST_CASE("where neither addresses nor times are known nothing can be told") {
  CHECK(Judged({}) ==
        "warning: nothing says whether s is of the process of t: no memory is in "
        "both");
}

TEST_CASE("segments are looked up by the address of the driver's memory") {
  const auto run = [](Address first) {
    TraceBuilder t;
    const PoolId driver = t.Pool(PoolKind::kDevice);
    const StreamId stream = t.Stream();
    t.AllocAt(stream, 2 << 20, first);
    t.AllocAt(stream, 2 << 20, first + (4 << 20));
    Trace trace = t.Record();
    for (size_t i = 0; i < 2; ++i) trace.blocks.Change(i, [&](Block& b) { b.pool = driver; });
    return trace;
  };
  ProcessEvidence evidence;
  CountSeen(run(8 << 20), run(4 << 20), &evidence);
  CHECK(evidence.saw_driver);
  CHECK(evidence.segments == 2);
  CHECK(evidence.seen == 1);
}

}  // namespace
}  // namespace graphkit
