#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A graph that copies a block of host memory, freed before its second launch or not.
std::vector<Finding> LaunchPinned(std::string_view check, bool freed, bool copied = true) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const PoolId pinned = t.Pool(PoolKind::kHost);
  t.SetPool(pinned);
  const BlockId x = t.Alloc({}, 4096);
  const GraphId graph = t.BeginCapture(s, "load");
  t.Kernel(s, "_Z5readsPKf", {Reads(x)});
  if (copied) t.Memcpy(s, {Reads(x)});
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(graph);
  t.Launch(exec, s);
  if (freed) t.Free(x);
  t.Launch(exec, s);
  return Run(check, &t);
}

TEST_CASE("stale-host-memory names page-locked memory that was freed before a launch") {
  const auto findings = LaunchPinned("stale-host-memory", true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "graph 0 'load' was launched after page-locked memory that it touches was freed: block 0 "
        "(4 KiB)");
  CHECK(LaunchPinned("stale-host-memory", false).empty());
  CHECK(LaunchPinned("dead-input", true).empty());
}

TEST_CASE("stale-host-memory warns where kernels alone were given the memory") {
  const auto findings = LaunchPinned("stale-host-memory", true, false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
}

TEST_CASE("stale-host-memory says where memory was unregistered") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.SetPool(t.Pool(PoolKind::kHost, "registered"));
  const BlockId x = t.Alloc({}, 4096);
  const GraphId graph = t.BeginCapture(s);
  t.Memcpy(s, {Reads(x)});
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(graph);
  t.Free(x);
  t.Launch(exec, s);
  CHECK(RunForOne("stale-host-memory", &t).evidence.at(0).text ==
        "block 0 (4 KiB) was unregistered after the capture of graph 0, and node 0 (memcpy) "
        "touches it");
}

constexpr Address kArray = 0x7fff'0000'1000;

// A copy of a stack, launched by a thread whose stack ends there.
struct StackLaunch {
  Address top = kArray + 4096;
  bool own_thread = true;
  bool set_again = false;  // the node was given other parameters
  bool earlier = false;    // the known stack is that of a launch before
};

std::vector<Finding> LaunchStack(const StackLaunch& how) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const BlockId x = t.Alloc({}, 4096);
  const ThreadId thread = t.Thread("main"), other = t.Thread("other");
  t.SetThread(thread);
  const GraphId graph = t.BeginCapture(s, "load");
  const NodeId copy = t.Memcpy(s, {Writes(x)});
  t.TouchHost(HostMemoryKind::kStack, AccessMode::kRead, kArray, 512);
  t.EndCapture(s);
  const GraphId empty = t.Graph();
  const ExecId exec = t.Instantiate(graph), second = t.Instantiate(empty);
  if (how.set_again) t.Change(copy, exec, NodeChangeKind::kParams, {Writes(x)});
  t.StackTop(how.own_thread ? thread : other, how.top);
  if (how.earlier) t.Launch(second, s);
  t.Launch(exec, s);
  return Run("stale-host-memory", &t);
}

TEST_CASE("stale-host-memory names a copy of a stack whose function had returned") {
  const auto findings = LaunchStack({});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "graph 0 'load' was launched after the function had returned whose stack it copies: 512 B "
        "in 1 node of thread 0 'main'");
}

TEST_CASE("stale-host-memory claims nothing that the stack doesn't prove") {
  CHECK(LaunchStack({.top = kArray}).empty());        // the array may still be there
  CHECK(LaunchStack({.top = kArray - 64}).empty());   // a function that it called launches
  CHECK(LaunchStack({.own_thread = false}).empty());  // the stack is another one
  CHECK(LaunchStack({.set_again = true}).empty());    // another memory is copied
  CHECK(LaunchStack({.earlier = true}).empty());      // the stack may have grown since
}

// A graph that uploads page-locked memory, and what happens between its two launches.
template <typename Between>
std::vector<Finding> Stage(Between between, bool other_writes = false) {
  TraceBuilder t;
  const StreamId s = t.Stream(), side = t.Stream();
  const BlockId x = t.Alloc({}, 4096), z = t.Alloc({}, 4096);
  t.SetPool(t.Pool(PoolKind::kHost));
  const BlockId staging = t.Alloc({}, 8192);
  const GraphId graph = t.BeginCapture(s);
  t.Memcpy(s, {Writes(x, 0, 4096), Reads(staging, 0, 4096)});
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(graph);
  if (other_writes) {
    t.BeginCapture(s);
    t.Memcpy(s, {Writes(staging, 0, 64), Reads(z, 0, 64)});
    t.EndCapture(s);
  }
  t.Launch(exec, s);
  t.Synchronize(s);
  const auto copy = [&](Access to, Access from) { t.Work(side, NodeKind::kMemcpy, {to, from}); };
  between(t, staging, x, z, copy);
  t.Launch(exec, s);
  return Run("stale-host-memory", &t);
}

TEST_CASE("stale-host-memory notes a captured copy of what another transfer sent") {
  const auto findings = Stage([](auto& t, auto m, auto, auto z, auto copy) {
    t.ChangeBytes(m, 0, 4096);
    copy(Writes(z, 0, 4096), Reads(m, 0, 4096));
  });
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message ==
        "graph 0 copies what another transfer sent from page-locked memory: block 2 (8 KiB)");
}

TEST_CASE("stale-host-memory warns where the other transfer sent another part") {
  const auto findings = Stage([](auto& t, auto m, auto, auto z, auto copy) {
    t.ChangeBytes(m, 0, 4096);
    copy(Writes(z, 0, 64), Reads(m, 128, 64));
  });
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
}

TEST_CASE("stale-host-memory notes a captured copy of what another transfer left") {
  const auto findings = Stage([](auto& t, auto m, auto, auto z, auto copy) {
    copy(Writes(m, 0, 4096), Reads(z, 0, 4096));
    t.ChangeBytes(m, 0, 4096);
    t.Synchronize();
  });
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "graph 0 copies what another transfer left in page-locked memory: block 2 (8 KiB)");
}

TEST_CASE("stale-host-memory is silent where the graph may have its own bytes") {
  // Nothing changed.
  CHECK(Stage([](auto&, auto m, auto, auto z, auto copy) {
          copy(Writes(z, 0, 4096), Reads(m, 0, 4096));
        }).empty());
  // Filled again after the other transfer, or after what it wrote had arrived.
  CHECK(Stage([](auto& t, auto m, auto, auto z, auto copy) {
          t.ChangeBytes(m, 0, 4096);
          copy(Writes(z, 0, 4096), Reads(m, 0, 4096));
          t.ChangeBytes(m, 0, 4096);
        }).empty());
  CHECK(Stage([](auto& t, auto m, auto, auto z, auto copy) {
          copy(Writes(m, 0, 4096), Reads(z, 0, 4096));
          t.ChangeBytes(m, 0, 4096);
          t.Synchronize();
          t.ChangeBytes(m, 0, 4096);
        }).empty());
  // Filled by a graph.
  CHECK(Stage(
            [](auto& t, auto m, auto, auto z, auto copy) {
              t.ChangeBytes(m, 0, 4096);
              copy(Writes(z, 0, 4096), Reads(m, 0, 4096));
            },
            true)
            .empty());
  // By hand what the graph does; and memory beside.
  CHECK(Stage([](auto& t, auto m, auto x, auto, auto copy) {
          t.ChangeBytes(m, 0, 4096);
          copy(Writes(x, 0, 4096), Reads(m, 0, 4096));
        }).empty());
  CHECK(Stage([](auto& t, auto m, auto, auto z, auto copy) {
          t.ChangeBytes(m, 0, 4096);
          copy(Writes(z, 0, 4096), Reads(m, 4096, 4096));
        }).empty());
}

}  // namespace
}  // namespace graphkit
