#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

constexpr int32_t kInvalidValue = 1, kMemoryAllocation = 2, kNotSupportedError = 801;
constexpr int32_t kInvalidStructure = 2, kOperationNotSupported = 3, kHandleUnused = 5;
constexpr uint64_t kAutoFree = 1;

// A graph on stream s; what is added to it is up to the test.
struct Failing {
  TraceBuilder t;
  StreamId s = t.Stream("s");
  GraphId graph = t.BeginCapture(s);

  void Fail(FailedGraph of, int32_t error = kInvalidValue,
            const char* call = "cudaGraphInstantiate") {
    if (t.Capturing(s)) t.EndCapture(s);
    of.graph = graph;
    t.Fail(call, error);
    t.SetFailed(of);
  }
  Finding One() { return RunForOne("instantiate-failed", &t); }
  std::string Text(FailedGraph of, int32_t error = kInvalidValue,
                   const char* call = "cudaGraphInstantiate") {
    Fail(of, error, call);
    return One().message;
  }
  // A conditional node with one body.
  GraphId Body() { return t.Body(t.Conditional(s, ConditionalType::kIf)); }
};

TEST_CASE("instantiate-failed names an allocation in a body") {
  Failing f;
  f.t.Add(f.Body(), NodeKind::kMemAlloc);
  f.Fail({});
  const Finding finding = f.One();
  CHECK(finding.message ==
        "cudaGraphInstantiate of graph 0 failed (1) at node 1 (mem_alloc): the body of a "
        "conditional node can contain only kernels, copies, memsets, empty nodes, child graphs and "
        "conditional nodes");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.nodes == std::vector<NodeId>{NodeId(size_t{1})});
}

TEST_CASE("instantiate-failed names a copy of pageable memory in a body") {
  Failing f;
  f.t.Add(f.Body(), NodeKind::kMemcpy);
  f.t.TouchHost(HostMemoryKind::kPageable, AccessMode::kRead, 4096, 64);
  CHECK(f.Text({}).find("at node 1 (memcpy): copies in the body") != std::string::npos);
}

TEST_CASE("instantiate-failed names the second exec of a graph that has one") {
  Failing f;
  f.t.FreeNode(f.s, f.t.AllocNode(f.s, 512));
  f.t.EndCapture(f.s);
  const ExecId first = f.t.Instantiate(f.graph);
  f.Fail({}, kNotSupportedError);
  CHECK(f.One().message.find("can have only one exec at a time") != std::string::npos);

  Failing destroyed;
  destroyed.t.FreeNode(destroyed.s, destroyed.t.AllocNode(destroyed.s, 512));
  destroyed.t.EndCapture(destroyed.s);
  destroyed.t.Destroy(destroyed.t.Instantiate(destroyed.graph));
  CHECK(destroyed.Text({}).find("CUDA gives no reason") != std::string::npos);
  CHECK(first.valid());
}

TEST_CASE("instantiate-failed knows what a graph for the device can contain") {
  Failing host;
  host.t.Kernel(host.s, "a");
  host.t.Host(host.s);
  CHECK(
      host.Text({.flags = kInstantiateDeviceLaunch}).find("at node 1 (host): a graph for launch") !=
      std::string::npos);
  Failing empty;
  CHECK(empty.Text({.flags = kInstantiateDeviceLaunch}).find("at least one kernel") !=
        std::string::npos);
  Failing both;
  both.t.Kernel(both.s, "a");
  CHECK(both.Text({.flags = kInstantiateDeviceLaunch | kAutoFree}).find("free its memory") !=
        std::string::npos);
}

TEST_CASE("instantiate-failed takes CUDA's own reason and node first") {
  Failing cycle;
  const NodeId a = cycle.t.Kernel(cycle.s, "a");
  CHECK(cycle.Text({.node = a, .reason = kInvalidStructure}) ==
        "cudaGraphInstantiate of graph 0 failed (1) at node 0 (a): the edges of the graph form a "
        "cycle");
  Failing handle;
  CHECK(handle.Text({.reason = kHandleUnused}).find("has no conditional node") !=
        std::string::npos);
  Failing kernel;
  const NodeId launches = kernel.t.Kernel(kernel.s, "launches");
  const FailedGraph of{
      .node = launches, .reason = kOperationNotSupported, .flags = kInstantiateDeviceLaunch};
  CHECK(kernel.Text(of).find("at node 0 (launches): it does something") != std::string::npos);
}

TEST_CASE("instantiate-failed finds the cycle that was there") {
  Failing f;
  const NodeId a = f.t.Kernel(f.s, "a"), b = f.t.Kernel(f.s, "b");
  const EdgeId back = f.t.Connect(b, a);
  f.t.EndCapture(f.s);
  f.Fail({});
  f.t.Remove(back);
  CHECK(f.One().message ==
        "cudaGraphInstantiate of graph 0 failed (1): the edges of the graph form a cycle");
}

TEST_CASE("instantiate-failed tells of uploads that didn't fit, and of what came after") {
  Failing f;
  f.t.Kernel(f.s, "a");
  f.t.EndCapture(f.s);
  const ExecId exec = f.t.Instantiate(f.graph);
  f.Fail({}, kMemoryAllocation, "cudaGraphUpload");
  f.Fail({}, kMemoryAllocation, "cudaGraphUpload");
  f.t.Launch(exec, f.s);
  const Finding finding = f.One();
  CHECK(finding.message ==
        "cudaGraphUpload of graph 0 failed (2): the device is out of memory; 2 calls failed for "
        "this reason");
  CHECK(finding.severity == Severity::kNote);
}

TEST_CASE("instantiate-failed is a note where an exec took the graph over by an update") {
  for (const bool updated : {false, true}) {
    Failing f;
    f.t.Kernel(f.s, "a");
    f.t.EndCapture(f.s);
    const GraphId other = f.t.BeginCapture(f.s);
    f.t.Kernel(f.s, "a");
    f.t.EndCapture(f.s);
    f.Fail({});
    const ExecId exec = f.t.Instantiate(other);
    if (updated) f.t.Update(exec, f.graph);
    CHECK(f.One().severity == (updated ? Severity::kNote : Severity::kError));
  }
}

TEST_CASE("instantiate-failed leaves calls that a capture refuses to other checks") {
  Failing f;
  f.Fail({}, 900);
  CHECK(Run("instantiate-failed", &f.t).empty());
}

}  // namespace
}  // namespace graphkit
