#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> ConsumeEarly(Ternary waits, std::string_view check) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "produce", {Writes(x)});
  const Access read[] = {Reads(x)};
  t.ProgrammaticKernel(a, t.Function("consume", waits), read);
  t.EndCapture(a);
  return Run(check, &t);
}

TEST_CASE("programmatic-only-order is an error when the consumer is known not to wait") {
  const std::vector<Finding> findings = ConsumeEarly(Ternary::kNo, "programmatic-only-order");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "node 1 (consume) doesn't wait for its grid dependencies: nothing else ends node 0 "
        "(produce) before node 1 (consume) touches block 0 (4 KiB)");
}

TEST_CASE("programmatic-only-order is a note when nobody knows whether it waits") {
  const std::vector<Finding> findings = ConsumeEarly(Ternary::kUnknown, "programmatic-only-order");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
}

TEST_CASE("programmatic-only-order: a kernel in several graphs is one note, but two errors") {
  for (const auto& [waits, findings] :
       {std::pair(Ternary::kUnknown, 1u), std::pair(Ternary::kNo, 2u)}) {
    TraceBuilder t;
    const StreamId a = t.Stream("a");
    const BlockId x = t.Alloc(a, 4096);
    const KernelId consume = t.Function("consume", waits);
    for (int graph = 0; graph < 2; ++graph) {
      t.BeginCapture(a);
      t.Kernel(a, "produce", {Writes(x)});
      const Access read[] = {Reads(x)};
      t.ProgrammaticKernel(a, consume, read);
      t.EndCapture(a);
    }
    const std::vector<Finding> found = Run("programmatic-only-order", &t);
    REQUIRE(found.size() == findings);
    CHECK(found[0].advice ==
          "call cudaGridDependencySynchronize() in consume before it touches what it shares, or "
          "launch it without programmatic serialization");
    CHECK(found[0].message.ends_with("; the same of 1 more graph") == (findings == 1));
  }
}

TEST_CASE("a correct programmatic launch is no finding, and never missing order") {
  CHECK(ConsumeEarly(Ternary::kYes, "programmatic-only-order").empty());
  CHECK(ConsumeEarly(Ternary::kYes, "missing-order").empty());
  CHECK(ConsumeEarly(Ternary::kNo, "missing-order").empty());
}

TEST_CASE("programmatic-only-order: one that nobody knows doesn't hide one that doesn't wait") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "produce", {Writes(x)});
  const Access read[] = {Reads(x)};
  t.ProgrammaticKernel(a, t.Function("maybe"), read);
  t.ProgrammaticKernel(a, t.Function("never", Ternary::kNo), read);
  t.EndCapture(a);
  const std::vector<Finding> findings = Run("programmatic-only-order", &t);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message ==
        "node 1 (maybe) isn't known to wait for its grid dependencies: nothing else ends node 0 "
        "(produce) before node 1 (maybe) touches block 0 (4 KiB)");
  CHECK(findings[1].severity == Severity::kError);
  CHECK(findings[1].message ==
        "node 2 (never) doesn't wait for its grid dependencies: nothing else ends node 0 "
        "(produce) before node 2 (never) touches block 0 (4 KiB)");
}

TEST_CASE("programmatic-only-order is a note when another way may wait") {
  TraceBuilder t;
  const GraphId graph = t.Graph();
  const BlockId x = t.Alloc({}, 4096);
  const NodeId produce = t.Add(graph, NodeKind::kMemset, {}, {Writes(x, 0, 512)});
  const NodeId maybe = t.Add(graph, NodeKind::kKernel);
  const NodeId consume = t.Add(graph, NodeKind::kMemset, {maybe}, {Reads(x, 0, 512)});
  t.Connect(produce, maybe, kPortProgrammatic, EdgeType::kProgrammatic);
  t.Connect(produce, consume, kPortProgrammatic, EdgeType::kProgrammatic);
  Ran trace = t.Build();
  trace.nodes.Change(consume.index(), [&](Node& node) {
    node.kind = NodeKind::kKernel;
    node.kernel = KernelId(trace.kernels.size());
  });
  trace.kernels.push_back({.name = trace.kernels[0].name, .waits = Ternary::kNo});
  const std::vector<Finding> findings = Run("programmatic-only-order", trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message ==
        "node 1 (kernel) isn't known to wait for its grid dependencies: nothing else ends node 0 "
        "(memset) before node 2 (kernel) touches block 0 (4 KiB)");
}

// A producer of which it is known when it triggers, and a consumer that doesn't wait.
Finding ConsumeAfter(Triggers triggers, Ternary writes) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  const Access write[] = {Writes(x)}, read[] = {Reads(x)};
  t.Kernel(a, t.Function("produce", Ternary::kNo, triggers, writes), write);
  t.ProgrammaticKernel(a, t.Function("consume", Ternary::kNo), read);
  t.EndCapture(a);
  return RunForOne("programmatic-only-order", &t);
}

TEST_CASE("programmatic-only-order says what is known of the producer's trigger") {
  const Finding early = ConsumeAfter(Triggers::kYes, Ternary::kYes);
  CHECK(early.severity == Severity::kError);
  REQUIRE_FALSE(early.evidence.empty());
  CHECK(early.evidence[0].text ==
        "node 0 (produce) triggers, and may write after that: node 1 (consume) may run before "
        "these writes (assumes that they are to memory that both touch)");
  const Finding late = ConsumeAfter(Triggers::kYes, Ternary::kNo);
  CHECK(late.severity == Severity::kError);
  REQUIRE_FALSE(late.evidence.empty());
  CHECK(late.evidence[0].text ==
        "node 0 (produce) triggers after its last write: what it wrote is visible to node 1 "
        "(consume) only if that waits");
}

TEST_CASE("programmatic-only-order is a warning while the producer never triggers") {
  const Finding finding = ConsumeAfter(Triggers::kNo, Ternary::kUnknown);
  CHECK(finding.severity == Severity::kWarning);
  REQUIRE_FALSE(finding.evidence.empty());
  CHECK(finding.evidence[0].text ==
        "node 0 (produce) never triggers: node 1 (consume) starts when all its blocks have ended, "
        "but what they wrote need not be visible");
}

TEST_CASE("programmatic-only-order: blocks that have begun may write, without a trigger too") {
  TraceBuilder t;
  const StreamId a = t.Stream("a"), b = t.Stream("b");
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  const EventId begun = t.Event();
  const NodeId produce = t.KernelWithEvent(a, begun, kPortLaunchCompletion, "produce", {Writes(x)});
  t.Wait(b, begun);
  const Access read[] = {Reads(x)};
  t.Kernel(b, t.Function("consume", Ternary::kNo), read);
  t.Order(b, a);
  t.Kernel(a);
  t.EndCapture(a);
  Ran trace = t.Build();
  trace.kernels[trace[produce].kernel.index()].triggers = Triggers::kNo;
  const std::vector<Finding> findings = Run("programmatic-only-order", trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
}

}  // namespace
}  // namespace graphkit
