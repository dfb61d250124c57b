#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("capture-invalidated names the call, the rule, and the memory that is stuck") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a, "step");
  const BlockId x = AllocWritten(t, a, 4096);
  t.InvalidateCapture(a, "cudaMalloc", 900);
  const Finding finding = RunForOne("capture-invalidated", &t);
  CHECK(finding.message ==
        "cudaMalloc (900, cudaErrorStreamCaptureUnsupported) of thread 0 on stream 0 'a' broke the "
        "capture of graph 0 'step' on stream 0 'a': while a capture is open, calls that wait for "
        "the device or may do so are not allowed");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.blocks == std::vector{x});
  CHECK(finding.bytes == 4096);
}

TEST_CASE("capture-invalidated says what the call was given") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  t.InvalidateCapture(a, "cudaMalloc", 900);
  Ran trace = t.Build();
  trace.failures[0].arguments = trace.strings.Intern("bytesize=4096");
  const std::vector<Finding> findings = Run("capture-invalidated", std::move(trace));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].evidence[0].text.ends_with(" with bytesize=4096"));
}

TEST_CASE("capture-invalidated finds nothing in a capture that ended well") {
  CrossedBlock c;
  c.Join();
  c.End();
  CHECK(Run("capture-invalidated", &c.t).empty());
}

constexpr const char* kUnsafe =
    ": while a capture is open, calls that wait for the device or may do so are not allowed";

TEST_CASE("capture-invalidated looks behind the end that only noticed, for the call that failed") {
  TraceBuilder t;
  const StreamId a = t.Stream("a"), b = t.Stream("b");
  t.BeginCapture(a);
  const GraphId other = t.BeginCapture(b);
  t.Kernel(a, "before");
  t.Fail("cudaMalloc", 900, {}, other);  // it breaks both, and was told of one
  t.InvalidateCapture(a, "cudaStreamEndCapture", 901);
  t.InvalidateCapture(b, "cudaStreamEndCapture", 901);
  const Ran trace = t.Build();
  const std::vector<Finding> findings = Run("capture-invalidated", trace);
  REQUIRE(findings.size() == 2);
  for (const Finding& finding : findings) {
    CHECK(finding.message.starts_with("cudaMalloc (900, cudaErrorStreamCaptureUnsupported)"));
  }
  CHECK(Run("unsafe-call-in-capture", trace).empty());
}

TEST_CASE("capture-invalidated names the destruction of a stream, which succeeded") {
  TraceBuilder t;
  const StreamId a = t.Stream("a"), b = t.Stream("b");
  t.BeginCapture(a);
  t.Kernel(a, "fork");
  t.Order(a, b);
  t.Kernel(b, "side");
  t.Order(b, a);
  t.Destroy(b);
  t.Fail("cudaLaunchKernel", 901, a, GraphId(0u));
  t.InvalidateCapture(a, "cudaStreamEndCapture", 901);
  const Finding finding = RunForOne("capture-invalidated", &t);
  CHECK(finding.message ==
        "the capture of graph 0 on stream 0 'a' failed (901) after cudaStreamDestroy of stream 1 "
        "'b', which succeeded: the stream was part of the capture");
  CHECK(finding.advice == "join stream 1 'b', and destroy it after the capture has ended");
}

TEST_CASE("capture-invalidated says between which calls a capture broke when none is known") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  t.Kernel(a, "last");
  t.Fail("cudaLaunchKernel", 901, a, GraphId(0u));
  t.InvalidateCapture(a, "cudaStreamEndCapture", 901);
  CHECK(RunForOne("capture-invalidated", &t).message ==
        "the capture of graph 0 on stream 0 'a' failed (901), and which call broke it was not "
        "recorded: a call that succeeded, after node 0 (last) and before cudaLaunchKernel (901) of "
        "thread 0 on stream 0 'a'");
}

// The advice on one failed call of a thread in a capture of another, or of itself.
std::string AdviceOn(const char* call, CaptureMode mode, bool own_thread) {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  t.InvalidateCapture(a, call, 900);
  Ran trace = t.Build();
  trace.captures[0].mode = mode;
  trace.captures[0].thread = ThreadId(0u);
  trace.failures[0].thread = ThreadId(own_thread ? 0u : 1u);
  if (std::string_view(call) == "cudaMalloc") trace.failures[0].stream = {};
  trace.threads.resize(2);
  const std::vector<Finding> findings = Run("capture-invalidated", std::move(trace));
  REQUIRE(findings.size() == 1);
  if (findings[0].message.find(kUnsafe) == std::string::npos) {
    CHECK(findings[0].message.find(" can't be captured") != std::string::npos);
  }
  return findings[0].advice;
}

TEST_CASE("capture-invalidated advises what helps in the capture's mode") {
  const std::string outside = "make the call before the capture begins or after it has ended";
  CHECK(AdviceOn("cudaMalloc", CaptureMode::kGlobal, true) ==
        outside + ", or capture in relaxed mode");
  CHECK(AdviceOn("cudaMalloc", CaptureMode::kThreadLocal, true) ==
        outside + ", or capture in relaxed mode");
  CHECK(AdviceOn("cudaMalloc", CaptureMode::kGlobal, false) ==
        outside +
            ", capture in thread-local mode, or let thread 1 call "
            "cudaThreadExchangeStreamCaptureMode first");
  CHECK(AdviceOn("cudaMalloc", CaptureMode::kRelaxed, true) == outside);
  CHECK(AdviceOn("cudaStreamSynchronize", CaptureMode::kGlobal, true) == outside);
  CHECK(AdviceOn("cudaStreamAddCallback", CaptureMode::kRelaxed, true) ==
        "use cudaLaunchHostFunc, which becomes a node of the graph");
  CHECK(
      AdviceOn("cudaMemcpy3DBatchAsync", CaptureMode::kRelaxed, true) ==
      "call cudaMemcpyAsync for each copy, which becomes a node; make other batches outside of it");
}

}  // namespace
}  // namespace graphkit
