#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("exec-leak names the graph whose execs were never destroyed") {
  TraceBuilder t;
  const GraphId graph = t.Graph("decode");
  const GraphId other = t.Graph("prefill");
  t.Instantiate(graph);
  t.Instantiate(graph);
  t.Destroy(t.Instantiate(other));
  const Finding finding = RunForOne("exec-leak", &t);
  CHECK(finding.message == "2 execs of graph 0 'decode' were never destroyed");
  CHECK(finding.graph == graph);
}

TEST_CASE("exec-leak finds nothing when all execs are destroyed") {
  TraceBuilder t;
  t.Destroy(t.Instantiate(t.Graph()));
  CHECK(Run("exec-leak", &t).empty());
}

}  // namespace
}  // namespace graphkit
