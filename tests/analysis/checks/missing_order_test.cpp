#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// a and b touch block 0 at once, each as told.
std::vector<Finding> Together(const Access& on_a, const Access& on_b,
                              std::string_view kernel = "_Z3usePf") {
  auto [t, a, b] = TwoStreams();
  t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "first");
  t.Order(a, b);
  t.Memset(a, {on_a});
  t.Kernel(b, kernel, {on_b});
  t.Order(b, a);
  t.EndCapture(a);
  return Run("missing-order", &t);
}

const BlockId kX{uint32_t{0}};

TEST_CASE("missing-order is an error when both ranges are known, overlap, and one writes") {
  const std::vector<Finding> findings = Together(Writes(kX, 0, 2048), Reads(kX, 1024, 1024));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "nothing orders node 1 (memset) and node 2 (use), which touch the same bytes of block 0 "
        "(4 KiB), and one writes");
}

// 0        4 KiB     8 KiB
// |  block 0  |  block 1  |
TEST_CASE("missing-order sees all blocks that a copy runs over") {
  for (const bool ordered : {false, true}) {
    auto [t, a, b] = TwoStreams();
    const BlockId x = t.AllocAt(a, 4096, 0x200000), y = t.AllocAt(a, 4096, 0x201000);
    t.BeginCapture(a);
    t.Kernel(a, "first");
    t.Order(a, b);
    t.Memcpy(a, {Writes(x, 0, 8192)});
    if (ordered) t.Order(a, b);
    t.Memset(b, {Writes(y, 0, 4096)});
    t.Order(b, a);
    t.EndCapture(a);
    const std::vector<Finding> findings = Run("missing-order", &t);
    REQUIRE(findings.size() == (ordered ? 0 : 1));
    if (ordered) continue;
    CHECK(findings[0].severity == Severity::kError);
    CHECK(findings[0].blocks == std::vector{y});
  }
}

TEST_CASE("missing-order is a note when one has the address in a structure") {
  auto [t, a, b] = TwoStreams();
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "first");
  t.Order(a, b);
  t.Memset(a, {Writes(x, 0, 4096)});
  t.Kernel(b, "_Z3use4List", {Touches(x)});
  t.Order(b, a);
  t.EndCapture(a);
  Ran trace = t.Build();
  for (Kernel& kernel : trace.kernels) kernel.params = {0, 1};
  trace.kernel_params = {{.offset = 0, .size = 64}};
  const std::vector<Finding> findings = Run("missing-order", trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
}

TEST_CASE("missing-order is a note when the range isn't known") {
  const std::vector<Finding> findings = Together(Writes(kX, 0, 2048), Touches(kX, 512));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
}

// A collective of torch.distributed that nothing orders before its buffer's reader; `called` from
// this file.
std::string AdviceOnCollective(std::string_view called) {
  const std::string torch = "/v/lib/python3.12/site-packages/torch/distributed/";
  auto [t, a, b] = TwoStreams();
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "first");
  t.Order(a, b);
  t.SetStack(t.Stack({{"all_reduce", torch + "distributed_c10d.py", 9},
                      {"wrapper", torch + "c10d_logger.py", 8},
                      {"step", called, 7}}));
  t.Kernel(b, "ncclDevKernel_AllReduce", {Writes(x, 0, 4096)});
  t.SetStack({});
  t.Memset(a, {Writes(x, 0, 4096)});
  t.Order(b, a);
  t.EndCapture(a);
  return RunForOne("missing-order", &t).advice;
}

TEST_CASE("missing-order advises to wait for the work where the program holds it") {
  CHECK(AdviceOnCollective("/app/train.py").starts_with("call wait() on the work"));
  CHECK(AdviceOnCollective("/v/lib/python3.12/site-packages/torch/nn/parallel/distributed.py")
            .starts_with("after "));
}

// Two kernels that are given addresses in one block.
std::vector<Finding> Kernels(std::string_view one, const Access& by_one, std::string_view other,
                             const Access& by_other) {
  auto [t, a, b] = TwoStreams();
  t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "first");
  t.Order(a, b);
  t.Kernel(a, one, {by_one});
  t.Kernel(b, other, {by_other});
  t.Order(b, a);
  t.EndCapture(a);
  return Run("missing-order", &t);
}

TEST_CASE("missing-order warns of kernels that are given one pointer, which isn't const to both") {
  const std::string_view uses = "_Z3usePf", reads = "_Z5readsPKf", holds = "_Z5holds6Tensor";
  for (const auto& findings :
       {Kernels(uses, Touches(kX), uses, Touches(kX)), Kernels(uses, Touches(kX), reads, Reads(kX)),
        Kernels(holds, Touches(kX), uses, Touches(kX))}) {
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::kWarning);
    CHECK(findings[0].message.ends_with(
        "which are both given the same address in block 0 (4 KiB), and one may write there"));
  }
  CHECK(Kernels(reads, Reads(kX), reads, Reads(kX)).empty());
  CHECK(Kernels(holds, Touches(kX), holds, Touches(kX)).empty());  // both may only read
  CHECK(Kernels("named_so", Touches(kX), uses, Touches(kX)).empty());
  CHECK(Kernels(uses, Touches(kX), uses, Touches(kX, 512)).empty());
  const auto apart = Kernels(uses, Touches(kX), reads, Reads(kX, 512));
  REQUIRE(apart.size() == 1);
  CHECK(apart[0].severity == Severity::kNote);
}

TEST_CASE("missing-order compares copies of columns row by row") {
  const auto columns = [](Bytes offset, uint32_t width) {
    return Access{kX, AccessMode::kWrite, offset, 7 * 512 + width, {width, 512}};
  };
  CHECK(Together(columns(0, 256), columns(256, 256)).empty());
  REQUIRE(Together(columns(0, 257), columns(256, 256)).size() == 1);
  CHECK(Together(columns(0, 257), columns(256, 256))[0].severity == Severity::kError);
}

TEST_CASE("missing-order: two streams may write disjoint halves of one block") {
  CHECK(Together(Writes(kX, 0, 2048), Writes(kX, 2048, 2048)).empty());
  CHECK(Together(Writes(kX, 0, 2048), Touches(kX, 2048)).empty());
}

TEST_CASE("missing-order says nothing of readers, nor of a kernel whose name tells no types") {
  CHECK(Together(Reads(kX, 0, 2048), Reads(kX)).empty());
  CHECK(Together(Reads(kX, 0, 2048), Touches(kX), "extern_c_reader").empty());
}

// An argument of 8 bytes that happens to equal an address is an access whose mode nobody knows.
TEST_CASE("missing-order: an integer that equals an address is no alarm") {
  for (const Finding& finding : Together(Reads(kX), Touches(kX, 512), "_Z5counti")) {
    CHECK(finding.severity == Severity::kNote);
  }
}

TEST_CASE("missing-order finds nothing once the streams are joined") {
  CrossedBlock c;
  c.Join();
  c.t.Memset(c.a, {Writes(c.x, 0, 4096)});
  c.t.Free(c.x);
  c.End();
  CHECK(Run("missing-order", &c.t).empty());
}

// Two memsets of a graph that is built by hand, and a third node behind them.
size_t FindingsOf(bool truncated, bool instantiated) {
  TraceBuilder t;
  const GraphId graph = t.Graph();
  const BlockId x = t.Alloc({}, 4096);
  t.Add(graph, NodeKind::kMemset, {}, {Writes(x, 0, 512)});
  t.Add(graph, NodeKind::kMemset, {}, {Writes(x, 0, 512)});
  t.Add(graph, NodeKind::kEmpty);
  if (instantiated) t.Instantiate(graph);
  Ran trace = t.Build();
  trace.completeness.truncated = truncated;
  return Run("missing-order", trace).size();
}

TEST_CASE("missing-order: edges that would have followed in a trace that was cut off") {
  CHECK(FindingsOf(false, false) == 1);
  CHECK(FindingsOf(true, false) == 0);
  CHECK(FindingsOf(true, true) == 1);
}

TEST_CASE("missing-order: the last node of a trace that was cut off may lack its edges") {
  auto [t, a, b] = TwoStreams();
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "first");
  t.Order(a, b);
  t.Memset(a, {Writes(x, 0, 512)});
  t.Memset(b, {Writes(x, 0, 512)});
  Ran trace = t.Build();
  CHECK(Run("missing-order", trace).size() == 1);
  trace.completeness.truncated = true;
  CHECK(Run("missing-order", trace).empty());
}

// Two memsets of one block that nothing orders, in a graph made by calls.
GraphId Unordered(TraceBuilder& t, BlockId x = {}) {
  if (!x.valid()) x = t.Alloc({}, 4096);
  const GraphId graph = t.Graph("made");
  t.Add(graph, NodeKind::kMemset, {}, {Writes(x, 0, 4096)});
  t.Add(graph, NodeKind::kMemset, {}, {Writes(x, 0, 4096)});
  return graph;
}

TEST_CASE("missing-order advises a dependency where nodes were added by calls") {
  TraceBuilder t;
  t.Instantiate(Unordered(t));
  const Finding finding = RunForOne("missing-order", &t);
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.advice == "add a dependency between the two (cudaGraphAddDependencies)");
}

TEST_CASE("missing-order is a note in a graph that never runs, an error in the one that does") {
  for (const bool instantiated : {false, true}) {
    TraceBuilder t;
    const GraphId graph = Unordered(t);
    if (instantiated) t.Destroy(t.Instantiate(graph));
    t.Destroy(graph);
    const Finding finding = RunForOne("missing-order", &t);
    CHECK(finding.severity == (instantiated ? Severity::kError : Severity::kNote));
    CHECK(finding.message.ends_with("; this graph never runs") == !instantiated);
  }
  TraceBuilder t;  // only cloned: the clone is what runs
  const GraphId original = Unordered(t);
  Ran trace = t.Build();
  trace.graphs.push_back({.origin = GraphOrigin::kClone, .original = original});
  const std::vector<Finding> findings = Run("missing-order", std::move(trace));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
}

TEST_CASE("missing-order: a race in a graph that never runs hides none in one that does") {
  TraceBuilder t;
  const BlockId x = t.Alloc({}, 4096);
  t.Destroy(Unordered(t, x));
  const GraphId runs = Unordered(t, x);
  t.Instantiate(runs);
  const std::vector<Finding> findings = Run("missing-order", &t);
  REQUIRE(findings.size() == 2);
  for (const Finding& finding : findings) {
    CHECK(finding.severity == (finding.graph == runs ? Severity::kError : Severity::kNote));
  }
}

// Two fills of a graph, of one block or of two, that nothing orders.
std::vector<Finding> SetTogether(bool set_apart) {
  TraceBuilder t;
  const BlockId x = t.Alloc({}, 4096), y = t.Alloc({}, 4096);
  const GraphId graph = t.Graph();
  t.Add(graph, NodeKind::kMemset, {}, {Writes(x, 0, 4096)});
  const NodeId second = t.Add(graph, NodeKind::kMemset, {}, {Writes(set_apart ? x : y, 0, 4096)});
  t.Change(second, {}, NodeChangeKind::kParams, {Writes(set_apart ? y : x, 0, 4096)});
  t.Instantiate(graph);
  return Run("missing-order", &t);
}

TEST_CASE("missing-order goes by the parameters that were set before the graph was instantiated") {
  CHECK(SetTogether(true).empty());
  CHECK(SetTogether(false).size() == 1);
}

}  // namespace
}  // namespace graphkit
