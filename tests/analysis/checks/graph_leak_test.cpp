#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("graph-leak names graphs that were never destroyed") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.BeginCapture(stream, "step");
  t.EndCapture(stream);
  t.Destroy(t.Graph("done right"));
  const Finding finding = RunForOne("graph-leak", &t);
  CHECK(finding.message == "graph 0 'step' was never destroyed");
}

TEST_CASE("graph-leak doesn't ask for graphs that a failed capture never gave") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.BeginCapture(stream);
  t.InvalidateCapture(stream, "cudaMalloc", 900);
  CHECK(Run("graph-leak", &t).empty());
}

TEST_CASE("graph-leak leaves embedded graphs to the node that holds them") {
  TraceBuilder t;
  const GraphId child = t.Graph();
  t.Add(child, NodeKind::kEmpty);
  const StreamId stream = t.Stream();
  const GraphId graph = t.BeginCapture(stream);
  t.ChildGraph(stream, child);
  t.EndCapture(stream);
  t.Destroy(child);
  t.Destroy(graph);
  CHECK(Run("graph-leak", &t).empty());
}

}  // namespace
}  // namespace graphkit
