#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A capture on stream a. Stream b isn't captured: what is launched there runs once.
//
//     a:  scale x → y ─────────────────── add z → out
//     b:                 [solve y → z]
struct Escaping : TwoStreams {
  BlockId x = t.Alloc({}, 4096);
  BlockId y = t.Alloc({}, 4096);
  BlockId z = t.Alloc({}, 4096);
  GraphId graph = t.BeginCapture(a, "solver");
  NodeId scale = t.Kernel(a, "scale", {Reads(x), Writes(y)});
  NodeId add;

  void End(std::initializer_list<Access> accesses) {
    add = t.Kernel(a, "add", accesses);
    t.EndCapture(a);
    t.Launch(t.Instantiate(graph), a);
  }
};

TEST_CASE("escaped-work names work that read what the capture's nodes had yet to write") {
  Escaping s;
  s.t.Work(s.b, "solve", {Reads(s.y), Writes(s.z)});
  s.End({Reads(s.z)});
  const Finding finding = RunForOne("escaped-work", &s.t);
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.message ==
        "solve ran while graph 0 'solver' was captured and isn't part of it: it read block 1 (4 "
        "KiB), which had yet to be written by node 0 (scale)");
  CHECK(finding.nodes == std::vector{s.scale, s.add});
  CHECK(finding.blocks == std::vector{s.y, s.z});
  CHECK(finding.bytes == 8192);
  CHECK(finding.streams == std::vector{s.b});
  REQUIRE(finding.evidence.size() == 3);
  CHECK(finding.evidence[2].text ==
        "it wrote block 2 (4 KiB), which every launch reads by node 1 (add)");
}

TEST_CASE("escaped-work counts how often, and says nothing of work before and after the capture") {
  TwoStreams s;
  const BlockId x = s.t.Alloc({}, 4096), y = s.t.Alloc({}, 4096);
  s.t.Work(s.b, "solve", {Reads(y)});
  const GraphId graph = s.t.BeginCapture(s.a);
  s.t.Kernel(s.a, "scale", {Reads(x), Writes(y)});
  s.t.Work(s.b, "solve", {Reads(y)});
  s.t.Work(s.b, "solve", {Reads(y)});
  s.t.EndCapture(s.a);
  s.t.Work(s.b, "solve", {Reads(y)});
  s.t.Launch(s.t.Instantiate(graph), s.a);
  CHECK(RunForOne("escaped-work", &s.t).message ==
        "solve (2 times) ran while graph 0 was captured and isn't part of it: it read block 1 (4 "
        "KiB), which had yet to be written by node 0 (scale)");
}

TEST_CASE("escaped-work isn't sure where it isn't known who writes") {
  Escaping s;
  s.t.Work(s.b, "solve", {Touches(s.y)});
  s.End({Reads(s.z)});
  const Finding finding = RunForOne("escaped-work", &s.t);
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.message.ends_with(
      "it may have read block 1 (4 KiB), which had yet to be written by node 0 (scale)"));
}

TEST_CASE("escaped-work says nothing of inputs that both only read") {
  Escaping s;
  s.t.Work(s.b, "infer", {Reads(s.x), Writes(s.t.Alloc({}, 4096))});
  s.End({Reads(s.z)});
  CHECK(Run("escaped-work", &s.t).empty());
}

TEST_CASE("escaped-work says nothing of what is filled once from the host or by a value") {
  Escaping s;
  s.t.Work(s.b, NodeKind::kMemset, {Writes(s.z)});
  s.t.Work(s.b, NodeKind::kMemcpy, {Writes(s.x)});
  s.End({Reads(s.z)});
  CHECK(Run("escaped-work", &s.t).empty());
}

TEST_CASE("escaped-work names a fill that a node's sums begin with") {
  Escaping s;
  s.t.Work(s.b, NodeKind::kMemset, {Writes(s.z)});
  s.End({Reads(s.y), ReadsWrites(s.z)});
  const Finding finding = RunForOne("escaped-work", &s.t);
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.message.ends_with(
      "it wrote block 2 (4 KiB), which every launch reads by node 1 (add)"));
}

TEST_CASE("escaped-work says nothing of what the graph overwrites first") {
  Escaping s;
  s.t.Work(s.b, "solve", {Reads(s.x), Writes(s.z)});
  s.t.Kernel(s.a, "solve", {Reads(s.y), Writes(s.z)});
  s.End({Reads(s.z)});
  CHECK(Run("escaped-work", &s.t).empty());
}

TEST_CASE("escaped-work names what the graph overwrites in part only, and reads whole") {
  for (const AccessRows rows : {AccessRows(), AccessRows{.width = 64, .pitch = 128}}) {
    Escaping s;
    s.t.Work(s.b, "solve", {Reads(s.x), Writes(s.z, 0, 4096)});
    Access write = Writes(s.z, 0, rows == AccessRows() ? 4095 : 4032);
    write.rows = rows;
    s.t.Memset(s.a, {write});
    s.End({Reads(s.z)});
    CHECK(RunForOne("escaped-work", &s.t).severity == Severity::kWarning);
  }
}

TEST_CASE("escaped-work says nothing of another thread's work on weights") {
  for (const bool same : {false, true}) {
    Escaping s;
    s.t.SetThread(same ? s.t.trace().captures[0].thread : s.t.Thread("server"));
    const BlockId weights = s.x;
    s.t.Work(s.b, "norm", {Touches(weights)});
    s.t.SetThread(s.t.trace().captures[0].thread);
    s.End({Touches(weights)});
    const std::vector<Finding> findings = Run("escaped-work", &s.t);
    CHECK(findings.size() == (same ? 1 : 0));  // of its own: worth a note
    if (same) CHECK(findings[0].severity == Severity::kNote);
  }
}

TEST_CASE("escaped-work takes memory that was born in the capture for the graph's") {
  TwoStreams s;
  const BlockId x = s.t.Alloc({}, 4096);
  const GraphId graph = s.t.BeginCapture(s.a);
  const BlockId y = s.t.Alloc(s.a, 4096), z = s.t.Alloc(s.a, 4096);
  s.t.Kernel(s.a, "scale", {Touches(x), Touches(y)});
  s.t.SetThread(s.t.Thread("other"));
  s.t.Work(s.b, "attention", {Touches(y), Touches(z)});
  s.t.SetThread(s.t.trace().captures[0].thread);
  s.t.Kernel(s.a, "add", {Touches(z)});
  s.t.EndCapture(s.a);
  s.t.Launch(s.t.Instantiate(graph), s.a);
  CHECK(RunForOne("escaped-work", &s.t).severity == Severity::kWarning);
}

TEST_CASE("escaped-work says nothing of a graph that is never launched") {
  TwoStreams s;
  const BlockId x = s.t.Alloc({}, 4096), y = s.t.Alloc({}, 4096);
  const GraphId graph = s.t.BeginCapture(s.a);
  s.t.Kernel(s.a, "scale", {Reads(x), Writes(y)});
  s.t.Work(s.b, "solve", {Reads(y)});
  s.t.EndCapture(s.a);
  s.t.Destroy(graph);
  CHECK(Run("escaped-work", &s.t).empty());
}

}  // namespace
}  // namespace graphkit
