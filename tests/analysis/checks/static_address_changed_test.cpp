#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

struct Captured {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  PoolId pool = t.Pool(PoolKind::kAllocator);
  BlockId input = MakeInput();
  GraphId graph = Capture();
  ExecId exec = t.Instantiate(graph);
  NodeId read;

  BlockId MakeInput() {
    t.SetPool(pool);
    return t.Alloc(a, 4096);
  }
  GraphId Capture() {
    const GraphId captured = t.BeginCapture(a, "step");
    read = t.Kernel(a, "read", {Reads(input)});
    t.EndCapture(a);
    return captured;
  }
};

TEST_CASE("static-address-changed names an input that was made anew at another address") {
  Captured c;
  c.t.Launch(c.exec, c.a);
  c.t.Free(c.input);
  c.MakeInput();
  c.t.Launch(c.exec, c.a);
  const Ran trace = c.t.Build();
  const std::vector<Finding> findings = Run("static-address-changed", trace);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "graph 0 'step' was launched with the old address of block 0 (4 KiB), which the program "
        "has freed and made anew elsewhere");
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].bytes == 4096);
  CHECK(findings[0].blocks == std::vector{c.input});
  CHECK(Run("dead-input", trace).empty());
}

TEST_CASE("static-address-changed finds nothing when the input keeps its address") {
  Captured c;
  const Address address = c.t.trace()[c.input].address;
  c.t.Free(c.input);
  c.t.AllocAt(c.a, 4096, address);
  c.t.Launch(c.exec, c.a);
  CHECK(Run("static-address-changed", &c.t).empty());
}

TEST_CASE("static-address-changed finds nothing when nothing was made in the input's place") {
  Captured c;
  c.t.Launch(c.exec, c.a);
  c.t.Free(c.input);
  c.t.Launch(c.exec, c.a);
  const Ran trace = c.t.Build();
  CHECK(Run("static-address-changed", trace).empty());
  CHECK(Run("dead-input", trace).size() == 1);
}

// As `x = load()` does in a loop: the new one is made before the old one goes, by another call of
// the same line.
TEST_CASE("static-address-changed knows an input by the line that made it") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.SetPool(t.Pool(PoolKind::kAllocator));
  const auto load = [&](uint32_t caller) {
    t.SetStack(t.Stack({{"rand", "/venv/lib/python3.11/site-packages/torch/random.py", caller},
                        {"load", "train.py", 7},
                        {"<module>", "train.py", caller}}));
    return t.Alloc(a, 4096);
  };
  const BlockId input = load(20);
  const GraphId graph = t.BeginCapture(a, "step");
  t.Kernel(a, "read", {Reads(input)});
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  t.Launch(exec, a);
  load(30);
  t.Free(input);
  t.Launch(exec, a);
  const Ran trace = t.Build();
  CHECK(Run("static-address-changed", trace).size() == 1);
  CHECK(Run("dead-input", trace).empty());
}

}  // namespace
}  // namespace graphkit
