#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// Captures, instantiates and launches a graph of two nodes.
struct Requests : TwoStreams {
  ExecId Make(const char* second = "reduce") {
    const GraphId graph = t.BeginCapture(a, "decode");
    t.Kernel(a, "scale");
    t.Kernel(a, second);
    t.EndCapture(a);
    return t.Instantiate(graph);
  }
  void Serve(int requests) {
    for (int i = 0; i < requests; ++i) {
      const ExecId exec = Make();
      t.Launch(exec, a);
      t.Destroy(exec);
    }
  }
};

TEST_CASE("launched-once names graphs that are instantiated for each launch") {
  Requests r;
  r.Serve(9);
  const Finding finding = RunForOne("launched-once", &r.t);
  CHECK(finding.message ==
        "8 execs of graphs alike (2 nodes, graph 0 'decode' first) were each launched once, and "
        "the next was instantiated in their place");
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.graph == GraphId(0u));
}

TEST_CASE("launched-once says nothing of graphs that are launched again") {
  Requests r;
  for (int i = 0; i < 20; ++i) {
    const ExecId exec = r.Make();
    r.t.Launch(exec, r.a);
    r.t.Launch(exec, r.a);
  }
  CHECK(Run("launched-once", &r.t).empty());
}

TEST_CASE("launched-once says nothing of graphs that are made first, and launched once each") {
  Requests r;
  std::vector<ExecId> execs;
  for (int i = 0; i < 20; ++i) execs.push_back(r.Make());
  for (const ExecId exec : execs) r.t.Launch(exec, r.a);
  CHECK(Run("launched-once", &r.t).empty());
}

TEST_CASE("launched-once says nothing of few, or of graphs that differ") {
  Requests few;
  few.Serve(8);
  CHECK(Run("launched-once", &few.t).empty());
  Requests other;
  const char* const kernels[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  for (const char* kernel : kernels) other.t.Launch(other.Make(kernel), other.a);
  CHECK(Run("launched-once", &other.t).empty());
}

TEST_CASE("launched-once leaves what is kept in vain to exec-leak") {
  Requests r;
  r.t.SetStack(r.t.Stack({{"serve", "serve.py", 12}}));
  std::vector<ExecId> execs;
  for (int i = 0; i < 10; ++i) {
    execs.push_back(r.Make());
    r.t.Launch(execs.back(), r.a);
  }
  for (const ExecId exec : execs) r.t.Destroy(exec);
  CHECK(Run("launched-once", &r.t).empty());
}

}  // namespace
}  // namespace graphkit
