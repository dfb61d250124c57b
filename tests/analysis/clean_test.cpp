// Programs that do nothing wrong and look as if they might: the whole analysis says nothing.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/generate/build_trace.h"

namespace graphkit {
namespace {

struct Program {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  StreamId b = t.Stream("b");
  EventId fork = t.Event();
  EventId join = t.Event();
  GraphId graph = t.BeginCapture(a, "step");

  void Fork() {
    t.Record(fork, a);
    t.Wait(b, fork);
  }
  // A block that is written before the fork.
  BlockId ForkWithBlock() {
    const BlockId x = t.Alloc(a, 8192);
    t.Memset(a, {Writes(x, 0, 8192)});
    Fork();
    return x;
  }
  void Join() {
    t.Record(join, b);
    t.Wait(a, join);
  }
  // "severity check: message" of everything that is found once the program has ended well.
  std::vector<std::string> Findings() {
    t.EndCapture(a);
    const ExecId exec = t.Instantiate(graph);
    t.Launch(exec, a);
    t.Destroy(exec);
    t.Destroy(graph);
    t.Destroy(fork);
    t.Destroy(join);
    t.Destroy(a);
    t.Destroy(b);
    Trace trace = t.Build();
    for (Kernel& kernel : trace.kernels) kernel.has_layout = true;
    const Report report = *Analyze(trace);
    std::vector<std::string> found;
    for (const Finding& finding : report.findings) {
      found.push_back(std::string(SeverityName(finding.severity)) + " " + finding.check + ": " +
                      finding.message);
    }
    return found;
  }
};

using Nothing = std::vector<std::string>;

TEST_CASE("two streams that write disjoint halves of one block") {
  Program p;
  const BlockId x = p.ForkWithBlock();
  p.t.Kernel(p.a, "_Z4lowerPf", {Writes(x, 0, 4096)});
  p.t.Kernel(p.b, "_Z5upperPf", {Writes(x, 4096, 4096)});
  p.Join();
  p.t.Kernel(p.a, "_Z3sumPKf", {Reads(x)});
  p.t.Free(x);
  CHECK(p.Findings() == Nothing{});
}

TEST_CASE("a reader that is declared extern \"C\", beside another one") {
  Program p;
  const BlockId x = p.ForkWithBlock();
  p.t.Kernel(p.a, "reader", {Touches(x)});
  p.t.Kernel(p.b, "_Z3sumPKf", {Reads(x)});
  p.Join();
  p.t.Kernel(p.a, "_Z4lastPKf", {Reads(x)});
  p.t.Free(x);
  CHECK(p.Findings() == Nothing{});
}

TEST_CASE("an integer argument that equals the address of a live block") {
  Program p;
  const BlockId x = p.ForkWithBlock();
  p.t.Kernel(p.a, "_Z4readPKf", {Reads(x)});
  p.t.Kernel(p.b, "_Z5countm", {Touches(x)});
  p.Join();
  p.t.Kernel(p.a, "_Z4lastPKf", {Reads(x)});
  p.t.Free(x);
  CHECK(p.Findings() == Nothing{});
}

TEST_CASE("a programmatic launch whose kernel waits before it reads") {
  Program p;
  const BlockId x = p.t.Alloc(p.a, 8192);
  p.t.Kernel(p.a, "_Z7producePf", {Writes(x)});
  const KernelId consume = p.t.Function("_Z7consumePKf", Ternary::kYes);
  const std::vector<Access> reads = {Reads(x)};
  p.t.ProgrammaticKernel(p.a, consume, reads);
  p.t.Free(x);
  CHECK(p.Findings() == Nothing{});
}

TEST_CASE("the same launch, careless: it isn't clean") {
  Program p;
  const BlockId x = p.t.Alloc(p.a, 8192);
  p.t.Kernel(p.a, "_Z7producePf", {Writes(x)});
  const KernelId consume = p.t.Function("_Z7consumePKf", Ternary::kNo);
  const std::vector<Access> reads = {Reads(x)};
  p.t.ProgrammaticKernel(p.a, consume, reads);
  p.t.Free(x);
  const std::vector<std::string> found = p.Findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with("error programmatic-only-order: "));
}

}  // namespace
}  // namespace graphkit
