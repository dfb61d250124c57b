#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// An exec of one kernel, and what happens to it, letter by letter: l launch, s set in the exec,
// S set in the graph, B set back there, e switch on, u update, i instantiate another one, d
// destroy; = before s or u: to what it was.
std::vector<Finding> Happens(std::string_view events) {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  const GraphId graph = t.BeginCapture(s);
  const NodeId node = t.Kernel(s, "a");
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(graph);
  bool same = false;
  for (const char event : events) {
    if (event == 'l') t.Launch(exec, s);
    if (event == 's') t.Change(node, exec, NodeChangeKind::kParams, {}, same);
    if (event == 'S' || event == 'B') t.Change(node, {}, NodeChangeKind::kParams);
    if (event == 'B') t.SetBack();
    if (event == 'e') t.Change(node, exec, NodeChangeKind::kEnabled);
    if (event == 'u') t.Update(exec, graph, 0, same);
    if (event == 'i') t.Instantiate(graph);
    if (event == 'd') t.Destroy(exec);
    same = event == '=';
  }
  return Run("update-without-effect", &t);
}

std::string MessageOf(std::string_view events) {
  const auto findings = Happens(events);
  return findings.size() == 1 ? findings[0].message : std::to_string(findings.size());
}

TEST_CASE("update-without-effect names what was set in a graph that its exec doesn't see") {
  CHECK(MessageOf("lSll") ==
        "graph 0 was given other parameters in 1 node after it was instantiated: it was launched 2 "
        "times since, with the old ones");
  CHECK(Happens("lSll")[0].severity == Severity::kWarning);
  CHECK(Happens("lSul").empty());
  CHECK(Happens("Sil").empty());
  CHECK(Happens("lS").empty());
}

// A graph is embedded in another one, and one of its nodes is set then: in the graph (S), in the
// copy (C), in the exec (s); or the copy is given the graph's parameters anew (g).
std::vector<Finding> EmbeddedHappens(std::string_view events) {
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  const GraphId inner = t.BeginCapture(s, "inner");
  const NodeId node = t.Kernel(s, "a");
  t.EndCapture(s);
  const GraphId outer = t.BeginCapture(s, "outer");
  const NodeId holder = t.ChildGraph(s, inner);
  const NodeId copy(t.trace().nodes.size() - 1);
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(outer);
  for (const char event : events) {
    if (event == 'l') t.Launch(exec, s);
    if (event == 'S') t.Change(node, {}, NodeChangeKind::kParams);
    if (event == 'C') t.Change(copy, {}, NodeChangeKind::kParams);
    if (event == 's') t.Change(copy, exec, NodeChangeKind::kParams);
    if (event == 'g') t.Change(holder, exec, NodeChangeKind::kParams);
  }
  Ran trace = t.Build();
  for (NodeChange& change : trace.node_changes)
    if (change.node == holder) change.child = inner;
  return Run("update-without-effect", std::move(trace));
}

TEST_CASE("update-without-effect sees embedded graphs") {
  const auto set = EmbeddedHappens("lSll");
  REQUIRE(set.size() == 1);
  CHECK(set[0].severity == Severity::kWarning);
  CHECK(set[0].message ==
        "graph 0 'inner' was given other parameters in 1 node after it was embedded in graph 1 "
        "'outer': that was launched 2 times since, with the old ones");
  const auto copy = EmbeddedHappens("lCll");
  REQUIRE(copy.size() == 1);
  CHECK(copy[0].message ==
        "graph 1 'outer' was given other parameters in 1 node after it was instantiated: it was "
        "launched 2 times since, with the old ones");
  CHECK(EmbeddedHappens("lSsl").empty());
  CHECK(EmbeddedHappens("lSgl").empty());
  CHECK(EmbeddedHappens("lS").empty());
}

TEST_CASE("update-without-effect: a graph that is set back has what its execs have") {
  CHECK(Happens("lSBll").empty());
  CHECK(Happens("lSsl").empty());  // the exec was given parameters of its own
  CHECK(MessageOf("lSlBl") ==
        "graph 0 was given other parameters in 1 node after it was instantiated: it was launched 1 "
        "time since, with the old ones");
}

TEST_CASE("update-without-effect names updates that no launch follows") {
  CHECK(MessageOf("lud") == "exec 0 of graph 0 was updated, and never launched since");
  CHECK(MessageOf("ls") == "exec 0 of graph 0 was updated, and never launched since");
  CHECK(Happens("slsls").empty());  // one is left over at the end of a loop
}

TEST_CASE("update-without-effect names updates to what the exec had") {
  CHECK(MessageOf("l=ulul=ul=sl") ==
        "3 of 4 updates of exec 0 of graph 0 gave it the parameters that it had");
  CHECK(Happens("lulsl").empty());
}

TEST_CASE("update-without-effect names updates that another one replaces") {
  CHECK(MessageOf("ssl") ==
        "1 update of exec 0 of graph 0 was replaced by another one before a "
        "launch");
  CHECK(MessageOf("suul") ==
        "2 updates of exec 0 of graph 0 were replaced by another one before a "
        "launch");
  CHECK(Happens("slul").empty());
  CHECK(Happens("eul").empty());  // an update leaves switches as they are
  CHECK(Happens("usl").empty());  // the update as a whole, then a node of it
}

}  // namespace
}  // namespace graphkit
