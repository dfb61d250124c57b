#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("lossy-edge-query names the call that had no place for edge data") {
  TraceBuilder t;
  const GraphId graph = t.Graph("g");
  t.Fail("cudaGraphGetEdges", 402, {}, graph);
  const Finding finding = RunForOne("lossy-edge-query", &t);
  CHECK(finding.message ==
        "cudaGraphGetEdges of thread 0 failed (402, cudaErrorLossyQuery): the graph has "
        "programmatic edges, and the call passed no array of edge data");
  CHECK(finding.graph == graph);
}

TEST_CASE("lossy-edge-query finds nothing in other failures") {
  TraceBuilder t;
  t.Fail("cudaMalloc", 2);
  CHECK(Run("lossy-edge-query", &t).empty());
}

}  // namespace
}  // namespace graphkit
