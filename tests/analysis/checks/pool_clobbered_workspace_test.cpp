#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A workspace that a library keeps from a capture, where the graph's own first block was.
//
//     a:  malloc first ── scale ── sum ── free first ── malloc workspace (kept)
struct KeptWorkspace : TwoStreams {
  PoolId pool = t.Pool(PoolKind::kPrivate);
  BlockId first, workspace;
  NodeId scale;
  GraphId graph;
  ExecId exec;

  KeptWorkspace() {
    t.SetPool(pool);
    graph = t.BeginCapture(a, "step");
    first = t.Alloc(a, 4096);
    scale = t.Kernel(a, "scale", {Writes(first)});
    t.Kernel(a, "sum", {Reads(first)});
    t.Free(first);
    workspace = t.AllocAt(a, 4096, t.trace()[first].address);
  }
  void End() {
    t.EndCapture(a);
    exec = t.Instantiate(graph);
  }
};

TEST_CASE("pool-clobbered-workspace names what a launch writes over between two uses") {
  KeptWorkspace s;
  s.End();
  s.t.Work(s.a, NodeKind::kMemset, {Writes(s.workspace)});
  s.t.Launch(s.exec, s.a);
  s.t.Work(s.a, "splitk", {ReadsWrites(s.workspace)});
  const Finding finding = RunForOne("pool-clobbered-workspace", &s.t);
  CHECK(finding.message ==
        "block 1 (4 KiB), allocated in the capture of graph 0 'step' and used outside of graphs, "
        "is written over by launches of graph 0 'step' (node 0 (scale) writes block 0 (4 KiB)); "
        "splitk reads it afterwards");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.bytes == 4096);
  CHECK(finding.blocks == std::vector{s.workspace});
  CHECK(finding.nodes == std::vector{s.scale});
}

TEST_CASE("pool-clobbered-workspace isn't sure where it isn't known that the later use reads") {
  KeptWorkspace s;
  s.End();
  s.t.Work(s.a, "splitk", {Touches(s.workspace)});
  s.t.Launch(s.exec, s.a);
  s.t.Work(s.a, "splitk", {Touches(s.workspace)});
  CHECK(RunForOne("pool-clobbered-workspace", &s.t).severity == Severity::kWarning);
}

// Gives kernels one parameter, of so many bytes.
Ran WithParameter(Ran trace, const char* kernel, std::string_view mangled, uint32_t bytes) {
  for (Kernel& one : trace.kernels) {
    if (trace[one.name] != kernel) continue;
    if (!mangled.empty()) one.name = trace.strings.Intern(mangled);
    one.params = {static_cast<uint32_t>(trace.kernel_params.size()), 1};
    trace.kernel_params.push_back({.offset = 0, .size = bytes});
  }
  return trace;
}

// PyTorch's elementwise kernels take structures whose unused part has what lay on the host's stack.
TEST_CASE("pool-clobbered-workspace notes a use that only a word of a structure shows") {
  KeptWorkspace s;
  s.End();
  s.t.Work(s.a, "elementwise", {Touches(s.workspace)});
  s.t.Launch(s.exec, s.a);
  s.t.Work(s.a, "elementwise", {Touches(s.workspace)});
  const Ran trace = s.t.Build();
  const auto severity = [&](std::string_view mangled, uint32_t bytes) {
    return Run("pool-clobbered-workspace", WithParameter(trace, "elementwise", mangled, bytes))
        .at(0)
        .severity;
  };
  CHECK(severity("", 8) == Severity::kWarning);
  CHECK(severity("", 24) == Severity::kNote);
  CHECK(severity("_Z6filledN2at6detail5ArrayIPcLi3EEE", 24) == Severity::kWarning);
  CHECK(severity("_Z6filledSt5arrayIPcLm3EE", 24) == Severity::kWarning);
  CHECK(severity("_Z6filledSt5arrayIPcLm3EE", 40) == Severity::kNote);
}

TEST_CASE("pool-clobbered-workspace says nothing of what is filled again before it is read") {
  KeptWorkspace s;
  s.End();
  for (int i = 0; i < 3; ++i) {
    s.t.Work(s.a, NodeKind::kMemset, {Writes(s.workspace)});
    s.t.Work(s.a, "splitk", {ReadsWrites(s.workspace)});
    s.t.Launch(s.exec, s.a);
  }
  CHECK(Run("pool-clobbered-workspace", &s.t).empty());
}

// The graph writes 1 KiB of its block, and what uses the workspace begins behind it.
TEST_CASE("pool-clobbered-workspace says nothing of bytes that no launch writes") {
  for (const Bytes offset : {Bytes{0}, Bytes{1024}}) {
    TwoStreams s;
    s.t.SetPool(s.t.Pool(PoolKind::kPrivate));
    const GraphId graph = s.t.BeginCapture(s.a);
    const BlockId first = s.t.Alloc(s.a, 4096);
    s.t.Memset(s.a, {Writes(first, 0, 1024)});
    s.t.Free(first);
    const BlockId workspace = s.t.AllocAt(s.a, 4096, s.t.trace()[first].address);
    s.t.EndCapture(s.a);
    const ExecId exec = s.t.Instantiate(graph);
    s.t.Work(s.a, NodeKind::kMemset, {Writes(workspace, offset, 1024)});
    s.t.Launch(exec, s.a);
    s.t.Work(s.a, "splitk", {Reads(workspace, offset, 1024)});
    CHECK(Run("pool-clobbered-workspace", &s.t).empty() == (offset != 0));
  }
}

TEST_CASE("pool-clobbered-workspace takes what is filled again in part for no more than that") {
  KeptWorkspace s;
  s.End();
  s.t.Work(s.a, NodeKind::kMemset, {Writes(s.workspace)});
  s.t.Launch(s.exec, s.a);
  s.t.Work(s.a, NodeKind::kMemset, {Writes(s.workspace, 0, 1024)});
  s.t.Work(s.a, "splitk", {ReadsWrites(s.workspace)});
  CHECK(RunForOne("pool-clobbered-workspace", &s.t).severity == Severity::kError);
}

TEST_CASE("pool-clobbered-workspace says nothing of a graph's output") {
  KeptWorkspace s;  // `workspace` is what it leaves
  s.t.Kernel(s.a, "write", {Writes(s.workspace)});
  s.End();
  for (int i = 0; i < 3; ++i) {
    s.t.Launch(s.exec, s.a);
    s.t.Work(s.a, "scale", {Touches(s.workspace)});
    s.t.Work(s.a, NodeKind::kMemcpy, {Reads(s.workspace)});
  }
  CHECK(Run("pool-clobbered-workspace", &s.t).empty());
}

TEST_CASE("pool-clobbered-workspace names an output that another graph of the pool wrote over") {
  KeptWorkspace s;
  s.t.Kernel(s.a, "write", {Writes(s.workspace)});
  s.End();
  const GraphId other = s.t.BeginCapture(s.a, "other");
  const BlockId taken = s.t.AllocAt(s.a, 4096, s.t.trace()[s.workspace].address);
  s.t.Kernel(s.a, "spoil", {Writes(taken)});
  s.t.Free(taken);
  s.t.EndCapture(s.a);
  const ExecId exec = s.t.Instantiate(other);
  s.t.Launch(s.exec, s.a);
  s.t.Launch(exec, s.a);
  s.t.Work(s.a, NodeKind::kMemcpy, {Reads(s.workspace)});
  const Finding finding = RunForOne("pool-clobbered-workspace", &s.t);
  CHECK(finding.graph == other);
  CHECK(finding.severity == Severity::kError);
}

}  // namespace
}  // namespace graphkit
