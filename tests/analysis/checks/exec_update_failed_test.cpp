#include <doctest/doctest.h>

#include <string>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

constexpr int32_t kTopologyChanged = 2, kNodeTypeChanged = 3, kParametersChanged = 5;

enum class Second { kMoreNodes, kOtherKind, kOtherEdges, kOtherCopy };
enum class Then { kNothing, kLaunch, kUpdate };

// An exec of a ─ copy ─ b is to become another graph.
std::vector<Finding> UpdateTo(Second second, int32_t result, Then then, int times = 1) {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  const BlockId x = t.Alloc({}, 512), y = t.Alloc({}, 512);
  t.SetPool(t.Pool(PoolKind::kHost));
  const BlockId host = t.Alloc({}, 512);
  const auto capture = [&](bool changed) {
    const GraphId graph = t.BeginCapture(s);
    t.Kernel(s, "a");
    const bool other = changed && second == Second::kOtherCopy;
    t.Memcpy(s, {Reads(other ? host : x), Writes(y)});
    if (changed && second == Second::kOtherEdges) t.SetFrontier(s, {});
    if (changed && second == Second::kOtherKind) {
      t.Memset(s, {Writes(x)});
    } else {
      t.Kernel(s, "b");
    }
    if (changed && second == Second::kMoreNodes) t.Kernel(s, "c");
    t.EndCapture(s);
    return graph;
  };
  const GraphId first = capture(false);
  for (int i = 0; i < times; ++i) {
    const ExecId exec = t.Instantiate(first);
    t.Update(exec, capture(true), result);
    if (then == Then::kUpdate) t.Update(exec, first);
    if (then != Then::kNothing) t.Launch(exec, s);
  }
  return Run("exec-update-failed", &t);
}

std::string DifferenceOf(Second second, int32_t result) {
  const auto findings = UpdateTo(second, result, Then::kNothing);
  REQUIRE(findings.size() == 1);
  REQUIRE(findings[0].evidence.size() == 2);
  return findings[0].evidence[1].text;
}

TEST_CASE("exec-update-failed says what differs") {
  CHECK(DifferenceOf(Second::kMoreNodes, kTopologyChanged) ==
        "the first difference: node 6 (c) is new");
  CHECK(DifferenceOf(Second::kOtherEdges, kTopologyChanged) ==
        "the first difference: node 5 (b) depends on other nodes than node 2 (b) of the exec");
  CHECK(DifferenceOf(Second::kOtherKind, kNodeTypeChanged) ==
        "the first difference: node 5 (memset) stands where the exec has node 2 (b)");
  CHECK(DifferenceOf(Second::kOtherCopy, kParametersChanged) ==
        "the first difference: node 4 (memcpy) copies from pinned host memory to device memory, "
        "and node 1 (memcpy) of the exec from device memory to device memory");
}

TEST_CASE("exec-update-failed is an error where the exec runs on with the old graph") {
  const auto findings = UpdateTo(Second::kMoreNodes, kTopologyChanged, Then::kLaunch);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(
      findings[0].message ==
      "the update of exec 0 to graph 1 failed (cudaGraphExecUpdateErrorTopologyChanged): nodes or "
      "edges differ; it was launched 1 time after that, and ran the old graph");
  CHECK(UpdateTo(Second::kMoreNodes, kTopologyChanged, Then::kUpdate).at(0).severity ==
        Severity::kNote);
}

TEST_CASE("exec-update-failed puts failures alike together") {
  const auto findings = UpdateTo(Second::kMoreNodes, kTopologyChanged, Then::kNothing, 5);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(
      findings[0].message ==
      "5 updates of execs failed, the first to graph 1 (cudaGraphExecUpdateErrorTopologyChanged): "
      "nodes or edges differ");
}

TEST_CASE("exec-update-failed finds nothing where updates succeed") {
  CHECK(UpdateTo(Second::kOtherCopy, 0, Then::kLaunch).empty());
}

}  // namespace
}  // namespace graphkit
