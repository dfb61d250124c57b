#include <doctest/doctest.h>

#include "libgraphkit/analysis/checks/checks.h"
#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// b reads x without x having been recorded on b: the allocator gives x's memory to y at once.
Ran MissingRecordStream(bool joined) {
  auto [t, a, b] = TwoStreams();
  t.BeginCapture(a);
  const BlockId x = AllocWritten(t, a, 4096);
  t.Order(a, b);
  t.Kernel(b, "read", {Reads(x)});
  if (joined) t.Order(b, a);
  t.Free(x);
  const BlockId y = t.AllocAt(a, 2048, t.trace()[x].address);
  t.Kernel(a, "overwrite", {Writes(y)});
  t.Order(b, a);
  t.EndCapture(a);
  return t.Build();
}

TEST_CASE("unsafe-reuse: memory is overwritten while another stream may still read it") {
  const std::vector<Finding> findings = Run("unsafe-reuse", MissingRecordStream(false));
  REQUIRE(findings.size() == 1);
  CHECK(
      findings[0].message ==
      "block 1 (2 KiB) lies where block 0 (4 KiB) lay, and node 1 (read) need not have ended when "
      "node 2 (overwrite) starts");
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].bytes == 2048);
}

TEST_CASE("unsafe-reuse finds nothing when the reader was joined") {
  CHECK(Run("unsafe-reuse", MissingRecordStream(true)).empty());
}

// A kernel on b is given x's address: as an argument, or as a word of 64 bytes that it may not use.
TEST_CASE("unsafe-reuse doesn't take a word of a structure for a use that the free forgot") {
  for (const uint32_t size : {8u, 64u}) {
    auto [t, a, b] = TwoStreams();
    t.BeginCapture(a);
    t.Order(a, b);
    const BlockId x = AllocWritten(t, a, 4096);
    t.Kernel(b, "scale", {Touches(x)});
    t.Free(x);
    const BlockId y = t.AllocAt(a, 4096, t.trace()[x].address);
    t.Kernel(b, "late", {Touches(y)});
    t.Memset(a, {Writes(y)});
    t.Order(b, a);
    t.EndCapture(a);
    Ran trace = t.Build();
    for (Kernel& kernel : trace.kernels) kernel.params = {0, 1};
    trace.kernel_params = {{.offset = 0, .size = size}};
    const std::vector<Finding> findings = Run("unsafe-reuse", trace);
    CHECK(findings.size() == (size == 8 ? 1 : 0));
    if (size == 8) CHECK(findings[0].severity == Severity::kError);
  }
}

// x is written before a programmatic launch, and y, in its memory, behind that.
Ran ReuseBehindProgrammaticLaunch(Ternary waits, Triggers triggers) {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const BlockId x = AllocWritten(t, a, 4096);
  t.Free(x);
  t.ProgrammaticKernel(a, t.Function("combine", waits, triggers), {});
  const BlockId y = t.AllocAt(a, 4096, t.trace()[x].address);
  t.Kernel(a, "overwrite", {Writes(y)});
  t.EndCapture(a);
  return t.Build();
}

TEST_CASE("unsafe-reuse is a note where nobody knows whether the kernel between waits") {
  const auto run = [](Ternary waits, Triggers triggers = Triggers::kUnknown) {
    return Run("unsafe-reuse", ReuseBehindProgrammaticLaunch(waits, triggers));
  };
  CHECK(run(Ternary::kYes).empty());
  CHECK(run(Ternary::kUnknown, Triggers::kNo).empty());  // it waits on some paths
  REQUIRE(run(Ternary::kNo).size() == 1);
  CHECK(run(Ternary::kNo)[0].severity == Severity::kError);
  REQUIRE(run(Ternary::kUnknown).size() == 1);
  CHECK(run(Ternary::kUnknown)[0].severity == Severity::kNote);
}

TEST_CASE("unsafe-reuse doesn't judge a memory history, which lacks the uses") {
  CHECK(Run("unsafe-reuse", OfHistory(MissingRecordStream(false))).empty());
}

TEST_CASE("unsafe-reuse trusts a free on the stream when arguments can't be read") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 4096);
  t.Kernel(a, "opaque");
  t.Free(x);
  t.AllocAt(a, 4096, t.trace()[x].address);
  t.Kernel(a, "opaque");
  t.EndCapture(a);
  const Ran trace = t.Build();
  CHECK(RunCheck(*FindCheck("unsafe-reuse"), Facts(trace)).empty());
}

}  // namespace
}  // namespace graphkit
