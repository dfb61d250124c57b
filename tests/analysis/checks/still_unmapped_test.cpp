#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

constexpr Address kUnmappedAt = 0x7e0000000000, kOtherAt = 0x7e0000800000;
constexpr Bytes kMapped = Bytes{2} << 20;

// A graph that copies from memory that is mapped at kUnmappedAt, launched once.
struct Mapped {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const BlockId x = t.Map(kUnmappedAt, kMapped);
  const BlockId to = t.Alloc({}, kMapped);
  const GraphId graph = t.BeginCapture(a, "step");
  const NodeId read = t.Memcpy(a, {Reads(x, 0, kMapped), Writes(to, 0, kMapped)});
  ExecId exec;

  Mapped() {
    t.EndCapture(a);
    exec = t.Instantiate(graph);
    t.Launch(exec, a);
  }
  Finding Launch() {
    t.Launch(exec, a);
    return RunForOne("still-unmapped", &t);
  }
};

TEST_CASE("still-unmapped: a launch over what was unmapped") {
  Mapped m;
  m.t.SetStack(m.t.Stack({{"Sleep", "sleep.cu", 7}}));
  m.t.Free(m.x);
  const Finding finding = m.Launch();
  CHECK(finding.message ==
        "graph 0 'step' was launched while memory that it touches was unmapped: block 0 (2 MiB)");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.blocks == std::vector{m.x});
  CHECK(finding.nodes == std::vector{m.read});
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[0].text ==
        "block 0 (2 MiB) was unmapped after the capture of graph 0 'step', and node 0 (memcpy) "
        "touches it");
  CHECK(finding.evidence[0].stack.valid());
  CHECK(finding.evidence[1].text == "launch 1 of graph 0 'step' on stream 0 'a'");
}

TEST_CASE("still-unmapped: memory mapped again at its address") {
  Mapped m;
  m.t.Free(m.x);
  SUBCASE("new memory") { m.t.Map(kUnmappedAt, kMapped); }
  SUBCASE("the same memory") { m.t.Map(kUnmappedAt, kMapped, m.x); }
  SUBCASE("in two pieces") {
    m.t.Map(kUnmappedAt, kMapped / 2), m.t.Map(kUnmappedAt + kMapped / 2, kMapped / 2);
  }
  CHECK(m.Launch() == Finding());
}

TEST_CASE("still-unmapped: half of it mapped again") {
  Mapped m;
  m.t.Free(m.x);
  m.t.Map(kUnmappedAt, kMapped / 2);
  CHECK(m.Launch().severity == Severity::kError);
}

TEST_CASE("still-unmapped: memory mapped at another address is named if it is the same") {
  Mapped m;
  m.t.Free(m.x);
  const BlockId other = m.t.Map(kOtherAt, kMapped, m.x);
  const Finding finding = m.Launch();
  REQUIRE(finding.evidence.size() == 3);
  CHECK(finding.evidence[2].text ==
        "its physical memory is mapped at another address: block 2 (2 MiB)");
  CHECK(finding.evidence[2].blocks == std::vector{other});
}

TEST_CASE("still-unmapped: a call that failed to launch") {
  Mapped m;
  m.t.Free(m.x);
  m.t.Fail("cudaGraphLaunch", 700, m.a);
  m.t.SetFailed({.graph = m.graph});
  const Finding finding = RunForOne("still-unmapped", &m.t);
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[1].text == "a launch of graph 0 'step' returned error 700");
}

TEST_CASE("still-unmapped: no launch between unmapping and mapping again") {
  Mapped m;
  m.t.Free(m.x);
  m.t.Map(kUnmappedAt, kMapped);
  m.t.Launch(m.exec, m.a);
  m.t.Free(BlockId(2u));
  CHECK(RunForOne("still-unmapped", &m.t) == Finding());
}

TEST_CASE("still-unmapped: an allocator's block lies in what was unmapped") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const PoolId pool = t.Pool(PoolKind::kAllocator);
  const BlockId mapping = t.Map(kUnmappedAt, kMapped);
  const SegmentId segment = t.Segment(pool, kMapped, a);
  const BlockId x = t.AllocAt(a, 4096, kUnmappedAt + 4096, segment);
  const GraphId graph = t.BeginCapture(a);
  t.Kernel(a, "read", {Touches(x)});
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  t.Free(mapping);
  t.Launch(exec, a);
  const Finding finding = RunForOne("still-unmapped", &t);
  CHECK(finding.blocks == std::vector{x});
  CHECK(finding.severity == Severity::kWarning);  // a kernel may not use what it is given
}

// As vLLM's #55013 has it: two ranges unmapped, one mapped again.
TEST_CASE("a range is compared with its own address only") {
  for (const std::string_view check : {"dead-input", "static-address-changed", "still-unmapped"}) {
    CAPTURE(check);
    TraceBuilder t;
    const StreamId a = t.Stream("a");
    const BlockId x = t.Map(kUnmappedAt, kMapped), y = t.Map(kOtherAt, kMapped);
    const GraphId graph = t.BeginCapture(a);
    t.Memcpy(a, {Writes(x, 0, kMapped), Reads(y, 0, kMapped)});
    t.EndCapture(a);
    const ExecId exec = t.Instantiate(graph);
    t.Free(x), t.Free(y);
    t.Map(kUnmappedAt, kMapped);
    t.Launch(exec, a);
    const std::vector<Finding> findings = Run(check, &t);
    CHECK(findings.size() == (check == "still-unmapped" ? 1 : 0));
    if (!findings.empty()) CHECK(findings[0].blocks == std::vector{y});
  }
}

}  // namespace
}  // namespace graphkit
