#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

enum class Variant { kAlike, kOtherEdges, kMemoryNode, kConcurrent, kOneAtATime, kNeverLaunched };

// Execs of four graphs: two kernels, one after the other.
std::vector<Finding> FourExecs(Variant variant) {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  std::vector<ExecId> execs;
  for (int i = 0; i < 4; ++i) {
    const StreamId side = t.Stream();
    const GraphId graph = t.BeginCapture(s, i == 0 ? "decode" : "");
    t.Kernel(s, "a");
    if (variant == Variant::kOtherEdges && i > 1) t.SetFrontier(s, {});
    if (variant == Variant::kMemoryNode) t.AllocNode(s, 512);
    t.Kernel(s, "b");
    t.EndCapture(s);
    execs.push_back(t.Instantiate(graph));
    if (variant == Variant::kNeverLaunched && i > 1) continue;
    t.Launch(execs.back(), variant == Variant::kConcurrent ? side : s);
    if (variant == Variant::kOneAtATime) t.Destroy(execs.back());
  }
  return Run("duplicate-exec", &t);
}

TEST_CASE("duplicate-exec names execs that differ only in what an update can set") {
  const auto findings = FourExecs(Variant::kAlike);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "4 execs alive at once differ only in what an update can set (2 nodes each), graph 0 "
        "'decode' first: one exec would do, and take 252 KiB less (6 KiB to 6.14 MiB, "
        "estimated)");
  CHECK(findings[0].bytes == 252 << 10);  // of three of the four
  CHECK(findings[0].evidence[0].text ==
        "their launches come one after the other, and change from one to another 3 times: an "
        "update each");
}

TEST_CASE("duplicate-exec tells of all groups in one finding, the largest first") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  std::vector<ExecId> execs;
  for (int i = 0; i < 6; ++i) {
    const GraphId graph = t.BeginCapture(s);
    for (int node = 0; node < 2 + i % 2; ++node) t.Kernel(s, "a");
    t.EndCapture(s);
    execs.push_back(t.Instantiate(graph));
  }
  for (const ExecId exec : execs) t.Launch(exec, s);
  const Finding finding = RunForOne("duplicate-exec", &t);
  CHECK(finding.graph == GraphId(1u));
  CHECK(finding.message.starts_with(
      "3 execs alive at once differ only in what an update can set (3 nodes each)"));
  CHECK(finding.message.ends_with("; the same of 1 more such group"));
}

TEST_CASE("duplicate-exec leaves alone what an update can't do") {
  CHECK(FourExecs(Variant::kOtherEdges).empty());
  CHECK(FourExecs(Variant::kMemoryNode).empty());
  CHECK(FourExecs(Variant::kConcurrent).empty());  // one exec can't run twice at once
  CHECK(FourExecs(Variant::kOneAtATime).empty());
  CHECK(FourExecs(Variant::kNeverLaunched).empty());
}

}  // namespace
}  // namespace graphkit
