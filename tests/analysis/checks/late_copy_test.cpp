#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// Training steps whose weights are copied to pinned memory on a side stream in between.
struct Checkpoint {
  TraceBuilder t;
  StreamId main = t.Stream("main");
  StreamId side = t.Stream("side");
  BlockId weights = t.Alloc(main, 4096);
  BlockId staging;
  NodeId update;
  GraphId step;
  ExecId exec;

  explicit Checkpoint(PoolKind destination = PoolKind::kHost) {
    t.SetPool(t.Pool(destination));
    staging = t.Alloc({}, 8192);
    step = t.BeginCapture(main, "step");
    update = t.Kernel(main, "update", {Writes(weights)});
    t.EndCapture(main);
    exec = t.Instantiate(step);
    t.Launch(exec, main);
    t.Order(main, side);
    t.Copy(side, {Reads(weights, 0, 4096), Writes(staging, 0, 4096)});
  }
};

TEST_CASE("late-copy names a copy to the host that the next launch may overtake") {
  Checkpoint c;
  c.t.Launch(c.exec, c.main);
  const Finding finding = RunForOne("late-copy", &c.t);
  CHECK(finding.message ==
        "node 0 (update) of graph 0 'step' may write over block 0 (4 KiB) while stream 1 'side' "
        "still copies it to the host");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.bytes == 4096);
  CHECK(finding.streams == std::vector{c.side, c.main});
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].text ==
        "launch 1 of graph 0 'step' on stream 0 'main' need not wait for the copy");
}

TEST_CASE("late-copy finds nothing when the next launch waits for the copy") {
  Checkpoint c;
  c.t.Order(c.side, c.main);
  c.t.Launch(c.exec, c.main);
  CHECK(Run("late-copy", &c.t).empty());
}

TEST_CASE("late-copy finds nothing when the host waits for the copy") {
  Checkpoint c;
  c.t.Synchronize(c.side);
  c.t.Launch(c.exec, c.main);
  CHECK(Run("late-copy", &c.t).empty());
}

TEST_CASE("late-copy finds nothing when nothing is launched after the copy") {
  Checkpoint c;
  CHECK(Run("late-copy", &c.t).empty());
}

TEST_CASE("late-copy leaves copies between devices' memory alone") {
  Checkpoint c(PoolKind::kDevice);
  c.t.Launch(c.exec, c.main);
  CHECK(Run("late-copy", &c.t).empty());
}

}  // namespace
}  // namespace graphkit
