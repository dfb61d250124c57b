#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

struct Leaking {
  TraceBuilder t;
  StreamId stream = t.Stream();
  GraphId graph = t.BeginCapture(stream);
  BlockId block = t.AllocNode(stream, 8 << 20);

  Leaking() { t.EndCapture(stream); }
};

TEST_CASE("graph-allocation-leak: a launched graph whose memory nobody frees can't run again") {
  Leaking leaking;
  leaking.t.Launch(leaking.t.Instantiate(leaking.graph), leaking.stream);
  const Finding finding = RunForOne("graph-allocation-leak", &leaking.t);
  CHECK(finding.message ==
        "graph 0 allocates block 0 (8 MiB), never freed; relaunching this graph will fail");
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.bytes == 8 << 20);
  CHECK(finding.blocks == std::vector{leaking.block});
}

TEST_CASE("graph-allocation-leak: an exec that frees on launch keeps one copy") {
  Leaking leaking;
  leaking.t.Launch(leaking.t.Instantiate(leaking.graph, kInstantiateAutoFreeOnLaunch),
                   leaking.stream);
  CHECK(RunForOne("graph-allocation-leak", &leaking.t).severity == Severity::kWarning);
}

TEST_CASE("graph-allocation-leak: freeing in the graph or after the launch is right") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.BeginCapture(stream);
  t.FreeNode(stream, t.AllocNode(stream, 512));
  t.EndCapture(stream);
  CHECK(Run("graph-allocation-leak", &t).empty());

  Leaking after;
  after.t.Free(after.block, after.stream);
  CHECK(Run("graph-allocation-leak", &after.t).empty());
}

}  // namespace
}  // namespace graphkit
