#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A graph that sends a block, and another one whose block lies at the same address.
struct SendAndReuse : TwoStreams {
  PoolId pool = t.Pool(PoolKind::kPrivate);
  BlockId sent;
  BlockId taken;
  NodeId send;
  NodeId write;
  GraphId first;
  GraphId second;
  ExecId first_exec;
  ExecId second_exec;

  SendAndReuse() {
    t.SetPool(pool);
    first = t.BeginCapture(a, "forward");
    sent = AllocWritten(t, a, 4096, "fill");
    send = t.Kernel(a, "ncclDevKernel_SendRecv", {Reads(sent)});
    t.Free(sent);
    t.EndCapture(a);
    second = t.BeginCapture(b, "backward");
    taken = t.AllocAt(b, 4096, t.trace()[sent].address);
    write = t.Kernel(b, "write", {Writes(taken)});
    t.Free(taken);
    t.EndCapture(b);
    first_exec = t.Instantiate(first);
    second_exec = t.Instantiate(second);
  }
};

TEST_CASE("send-buffer-reuse names a graph that may write over what another one still sends") {
  SendAndReuse s;
  s.t.Launch(s.first_exec, s.a);
  s.t.Launch(s.second_exec, s.b);
  const Finding finding = RunForOne("send-buffer-reuse", &s.t);
  CHECK(finding.message ==
        "node 2 (write) of graph 1 'backward' writes over block 0 (4 KiB), which node 1 "
        "(ncclDevKernel_SendRecv) of graph 0 'forward' may still be sending");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.bytes == 4096);
  CHECK(finding.blocks == std::vector{s.sent, s.taken});
  CHECK(finding.nodes == std::vector{s.send, s.write});
  CHECK(finding.streams == std::vector{s.a, s.b});
}

//     a:  launch (fills x) ── record ──────────── launch (fills x)
//     b:                         └── send x          [wait]
struct SendOutside : TwoStreams {
  BlockId x = t.Alloc({}, 4096);
  NodeId fill;
  ExecId exec;

  SendOutside() {
    const GraphId graph = t.BeginCapture(a, "forward");
    fill = t.Kernel(a, "fill", {Writes(x)});
    t.EndCapture(a);
    exec = t.Instantiate(graph);
    t.Launch(exec, a);
    t.Order(a, b);
  }
};

TEST_CASE("send-buffer-reuse names a graph that may write over what is sent outside of graphs") {
  SendOutside s;
  s.t.Work(s.b, "ncclDevKernel_SendRecv", {Reads(s.x)});
  s.t.Launch(s.exec, s.a);
  const Finding finding = RunForOne("send-buffer-reuse", &s.t);
  CHECK(finding.message ==
        "node 0 (fill) of graph 0 'forward' writes over block 0 (4 KiB), which "
        "ncclDevKernel_SendRecv may still be sending");
  CHECK(finding.bytes == 4096);
  CHECK(finding.nodes == std::vector{s.fill});
  CHECK(finding.streams == std::vector{s.b, s.a});
  REQUIRE(finding.evidence.size() == 3);
  CHECK(finding.evidence[0].text ==
        "ncclDevKernel_SendRecv was submitted outside of graphs on stream 1 'b'");
  CHECK(finding.evidence[1].text ==
        "launch 1 of graph 0 'forward' on stream 0 'a' need not wait for it");
  CHECK(finding.evidence[2].text == "node 0 (fill) was captured on stream 0 'a'");
}

TEST_CASE("send-buffer-reuse names a graph that may write over what is copied to the host") {
  SendOutside s;
  s.t.Work(s.b, NodeKind::kMemcpy, {Reads(s.x, 0, 1024)});
  s.t.Launch(s.exec, s.a);
  const Finding finding = RunForOne("send-buffer-reuse", &s.t);
  CHECK(finding.message ==
        "node 0 (fill) of graph 0 'forward' writes over block 0 (4 KiB), which a memcpy may still "
        "be sending");
  CHECK(finding.bytes == 1024);
}

// Two weights that a foreach kernel touches, in a way that its arguments don't say, and their
// copies.
TEST_CASE("send-buffer-reuse warns once of what may be written while it is copied to the host") {
  TwoStreams s;
  const BlockId x = s.t.Alloc({}, 4096), y = s.t.Alloc({}, 2048);
  s.t.BeginCapture(s.a);
  s.t.Kernel(s.a, "multi_tensor_apply", {Touches(x), Touches(y)});
  s.t.EndCapture(s.a);
  const ExecId exec = s.t.Instantiate(GraphId(0u));
  s.t.Launch(exec, s.a);
  s.t.Order(s.a, s.b);
  s.t.Work(s.b, NodeKind::kMemcpy, {Reads(x, 0, 4096)});
  s.t.Work(s.b, NodeKind::kMemcpy, {Reads(y, 0, 2048)});
  s.t.Launch(exec, s.a);
  const Finding finding = RunForOne("send-buffer-reuse", &s.t);
  CHECK(finding.message ==
        "node 0 (multi_tensor_apply) of graph 0 may write over block 0 (4 KiB), which a memcpy may "
        "still be sending; the same of block 1");
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.bytes == 6144);
  CHECK(finding.blocks == std::vector{x, y});
}

TEST_CASE("send-buffer-reuse finds nothing when the graph waits for what is sent outside") {
  SendOutside s;
  s.t.Work(s.b, "ncclDevKernel_SendRecv", {Reads(s.x)});
  s.t.Order(s.b, s.a);
  s.t.Launch(s.exec, s.a);
  s.t.Work(s.b, "ncclDevKernel_SendRecv", {Reads(s.x)});
  CHECK(Run("send-buffer-reuse", &s.t).empty());
}

TEST_CASE("send-buffer-reuse finds nothing when work outside only computes") {
  SendOutside s;
  s.t.Work(s.b, "add", {Reads(s.x)});
  s.t.Launch(s.exec, s.a);
  CHECK(Run("send-buffer-reuse", &s.t).empty());
}

TEST_CASE("send-buffer-reuse finds nothing when an event orders the launches") {
  SendAndReuse s;
  s.t.Launch(s.first_exec, s.a);
  s.t.Order(s.a, s.b);
  s.t.Launch(s.second_exec, s.b);
  CHECK(Run("send-buffer-reuse", &s.t).empty());
}

TEST_CASE("send-buffer-reuse finds nothing when the host waits in between") {
  SendAndReuse s;
  s.t.Launch(s.first_exec, s.a);
  s.t.Synchronize(s.a);
  s.t.Launch(s.second_exec, s.b);
  CHECK(Run("send-buffer-reuse", &s.t).empty());
}

TEST_CASE("send-buffer-reuse finds nothing when both are launched on one stream") {
  SendAndReuse s;
  s.t.Launch(s.first_exec, s.a);
  s.t.Launch(s.second_exec, s.a);
  s.t.Launch(s.first_exec, s.a);
  CHECK(Run("send-buffer-reuse", &s.t).empty());
}

}  // namespace
}  // namespace graphkit
