#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

constexpr const char* kCheck = "deferred-record-stream";

TEST_CASE("deferred-record-stream: no later join") {
  CrossedBlock c;
  c.Request(c.x);
  c.Allocate(8192);
  c.End();
  const Finding finding = RunForOne(kCheck, &c.t);
  CHECK(finding.message ==
        "4 KiB in block 0 of graph 0 'step' were freed but stayed unusable for up to 1 further "
        "node: stream 0 'a' never waits for the last use on stream 1 'b'; deferred frees raise the "
        "peak of the graph by 4 KiB");
  CHECK(finding.advice ==
        "record an event after node 1 (read) on stream 1 'b' and let stream 0 'a' wait for it "
        "before it allocates again");
  CHECK(finding.bytes == 4096);
  CHECK(finding.blocks == std::vector{c.x});
  CHECK(finding.streams == std::vector{c.b});
  CHECK(finding.nodes == std::vector{c.read});
  CHECK(finding.severity == Severity::kWarning);
}

TEST_CASE("deferred-record-stream says no reason that a memory history doesn't hold") {
  CrossedBlock c;
  c.Request(c.x);
  c.Allocate(8192);
  c.End();
  const std::vector<Finding> findings = Run(kCheck, OfHistory(c.t.Build()));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "4 KiB in block 0 of graph 0 'step' were freed but stayed unusable for up to 1 further "
        "node: other streams used it; which ones, and whether they were waited for, isn't in a "
        "memory history; deferred frees raise the peak of the graph by 4 KiB");
}

TEST_CASE("deferred-record-stream doesn't advise a setting that is set") {
  CrossedBlock c;
  c.Request(c.x);
  c.Allocate(8192);
  c.End();
  Ran trace = OfHistory(c.t.Build());
  trace.process.environment = {"PYTORCH_ALLOC_CONF=graph_capture_record_stream_reuse:True"};
  const std::vector<Finding> findings = Run(kCheck, trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].advice == "trace the program with graphkit trace, which sees the streams");
  trace.process.environment = {"PYTORCH_VERSION=2.6.0", "PYTORCH_CUDA_ALLOC_CONF="};
  CHECK(Run(kCheck, trace)[0].advice == findings[0].advice);  // it has no such setting
}

// Two graphs, one after the other: in each, stream a waits for b, which reads the block, but not
// for the stream that reads it last; that is c in the first and b in the second.
TEST_CASE(
    "deferred-record-stream: each graph's advice names its own node that is waited for too "
    "little") {
  TraceBuilder t;
  const StreamId a = t.Stream("a"), b = t.Stream("b"), c = t.Stream("c");
  for (const StreamId last : {c, b}) {
    t.BeginCapture(a);
    const BlockId x = AllocWritten(t, a, 4096);
    t.Order(a, b);
    t.Order(a, c);
    for (const StreamId stream : {b, c}) {
      t.RecordStream(x, stream);
      t.Kernel(stream, "read", {Reads(x)});
    }
    t.RequestFree(x);
    t.Order(last == c ? b : c, a);
    t.Kernel(a, "go on");
    t.EndCapture(a);
    t.CompleteFree(x);
  }
  const std::vector<Finding> findings = Run(kCheck, &t);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].advice.find("after node 2 (read) on stream 2 'c'") != std::string::npos);
  CHECK(findings[1].advice.find("after node 5 (read) on stream 1 'b'") != std::string::npos);
}

TEST_CASE("deferred-record-stream: joined, and the allocator waits all the same") {
  CrossedBlock c;
  c.Request(c.x);
  c.Join();
  c.Allocate(8192);
  c.End();
  const Finding finding = RunForOne(kCheck, &c.t);
  CHECK(finding.message.find("although stream 0 'a' had already waited for the last use: the "
                             "allocator keeps such blocks until the capture ends") !=
        std::string::npos);
  CHECK(finding.advice.find("graph_capture_record_stream_reuse") != std::string::npos);
}

TEST_CASE("deferred-record-stream: joined, but nobody allocates; it costs nothing") {
  CrossedBlock c;
  c.Request(c.x);
  c.Join();
  c.t.Kernel(c.a, "finish");
  c.End();
  const Finding finding = RunForOne(kCheck, &c.t);
  CHECK(finding.message.find("allocated nothing afterwards; it costs nothing") !=
        std::string::npos);
  CHECK(finding.severity == Severity::kNote);
}

TEST_CASE("deferred-record-stream: freed after the join") {
  CrossedBlock c;
  c.Join();
  c.t.Kernel(c.a, "join", {Reads(c.x)});
  c.t.Kernel(c.b, "more");
  c.Request(c.x);
  c.Allocate(8192);
  c.End();
  const Finding finding = RunForOne(kCheck, &c.t);
  CHECK(finding.message.find("freed after stream 0 'a' had waited for the last use") !=
        std::string::npos);
  CHECK(finding.advice == "free it right after its last use, before the other stream goes on");
}

// Two graphs, each with two lines whose blocks come back late without a cost.
TEST_CASE("deferred-record-stream: a cause without a cost is found once for several graphs") {
  TraceBuilder t;
  const StreamId a = t.Stream("a"), b = t.Stream("b");
  for (int graph = 0; graph < 2; ++graph) {
    t.BeginCapture(a);
    std::vector<BlockId> blocks;
    for (const uint32_t line : {7u, 8u}) {
      t.SetStack(t.Stack({{"step", "step.py", line}}));
      blocks.push_back(AllocWritten(t, a, 4096));
    }
    t.Order(a, b);
    for (const BlockId block : blocks) {
      t.RecordStream(block, b);
      t.Kernel(b, "read", {Reads(block)});
    }
    for (const BlockId block : blocks) t.RequestFree(block);
    t.Order(b, a);
    t.Kernel(a, "finish");
    t.EndCapture(a);
    for (const BlockId block : blocks) t.CompleteFree(block);
  }
  const std::vector<Finding> findings = Run(kCheck, &t);
  REQUIRE(findings.size() == 2);
  for (const Finding& finding : findings) {
    CHECK(finding.severity == Severity::kNote);
    CHECK(finding.graph == GraphId(size_t{0}));
  }
  CHECK(findings[0].message.ends_with("; the same of 1 more graph"));
}

TEST_CASE("deferred-record-stream: a stream outside the capture") {
  CrossedBlock c;
  const StreamId eager = c.t.Stream("eager");
  c.t.RecordStream(c.x, eager);
  c.Request(c.x);
  c.Join();
  c.Allocate(8192);
  c.End();
  CHECK(RunForOne(kCheck, &c.t).message.find("was not in the capture at the free") !=
        std::string::npos);
}

TEST_CASE("deferred-record-stream finds nothing when frees are done at once") {
  CrossedBlock c;
  c.Join();
  c.t.Free(c.x);
  c.End();
  CHECK(Run(kCheck, &c.t).empty());
}

}  // namespace
}  // namespace graphkit
