// Programs that do nothing wrong and look as if they might: the whole analysis says nothing.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "tests/analysis/pieces.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

struct Program : TwoStreams {
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
    Ran trace = t.Build();
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

struct Use {
  std::string_view kernel;
  Access access;
};

// A block that is written before the fork, touched on either stream, and read at the end.
std::vector<std::string> FindingsBeside(Use one, Use other) {
  Program p;
  const BlockId x = p.ForkWithBlock();
  one.access.block = other.access.block = x;
  p.t.Kernel(p.a, one.kernel, {one.access});
  p.t.Kernel(p.b, other.kernel, {other.access});
  p.Join();
  p.t.Kernel(p.a, "_Z4lastPKf", {Reads(x)});
  p.t.Free(x);
  return p.Findings();
}

TEST_CASE("two streams that write disjoint halves of one block") {
  CHECK(FindingsBeside({"_Z4lowerPf", Writes({}, 0, 4096)},
                       {"_Z5upperPf", Writes({}, 4096, 4096)}) == Nothing{});
}

TEST_CASE("a reader that is declared extern \"C\", beside another one") {
  CHECK(FindingsBeside({"reader", Touches({})}, {"_Z3sumPKf", Reads({})}) == Nothing{});
}

TEST_CASE("an integer argument that equals the address of a live block") {
  CHECK(FindingsBeside({"_Z4readPKf", Reads({})}, {"_Z5countm", Touches({})}) == Nothing{});
}

// A kernel that reads what the one before writes, launched programmatically.
std::vector<std::string> FindingsBehind(Ternary waits) {
  Program p;
  const BlockId x = p.t.Alloc(p.a, 8192);
  p.t.Kernel(p.a, "_Z7producePf", {Writes(x)});
  const std::vector<Access> reads = {Reads(x)};
  p.t.ProgrammaticKernel(p.a, p.t.Function("_Z7consumePKf", waits), reads);
  p.t.Free(x);
  return p.Findings();
}

TEST_CASE("a programmatic launch whose kernel waits before it reads") {
  CHECK(FindingsBehind(Ternary::kYes) == Nothing{});
}

TEST_CASE("the same launch, careless: it isn't clean") {
  const std::vector<std::string> found = FindingsBehind(Ternary::kNo);
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with("error programmatic-only-order: "));
}

}  // namespace
}  // namespace graphkit
