#include <doctest/doctest.h>

#include <functional>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A counter that a graph's two products use, set by `set` before each of the steps.
struct Counting {
  std::function<bool(int step)> set = [](int) { return true; };
  bool set_later = false;     // between launches
  bool set_inside = false;    // by a node
  bool set_by_graph = false;  // by another graph, launched between
  bool all_work = true;
  uint32_t argument = 8;  // bytes of the products' one

  std::vector<Finding> Find() const {
    TraceBuilder t;
    t.SetThread(t.Thread("main"));
    const StreamId s = t.Stream();
    const BlockId x = t.Alloc({}, 4096), counter = t.Alloc({}, 512);
    for (int step = 0; step < 2; ++step) {
      if (set(step)) t.Work(s, NodeKind::kMemset, {Writes(counter)});
      t.Work(s, "Product", {Reads(x), Touches(counter)});
    }
    const GraphId graph = t.BeginCapture(s, "step");
    if (set_inside) t.Memset(s, {Writes(counter)});
    for (int i = 0; i < 2; ++i) t.Kernel(s, "Product", {Reads(x), Touches(counter)});
    t.EndCapture(s);
    const ExecId exec = t.Instantiate(graph);
    const GraphId zero = t.BeginCapture(s, "zero");
    t.Memset(s, {Writes(counter)});
    t.EndCapture(s);
    const ExecId zeroes = t.Instantiate(zero);
    t.Launch(zeroes, s);
    t.Launch(exec, s);
    if (set_by_graph) t.Launch(zeroes, s);
    if (set_later) t.Work(s, NodeKind::kMemset, {Writes(counter)});
    t.Launch(exec, s);
    Ran trace = t.Build();
    trace.process.all_work = all_work;
    for (Kernel& kernel : trace.kernels) kernel.params = {0, 1};
    trace.kernel_params = {{.offset = 0, .size = argument}};
    return Run("state-not-reset", trace);
  }
};

TEST_CASE("state-not-reset warns of memory that was set before each use outside of graphs only") {
  const auto findings = Counting().Find();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].message ==
        "block 1 (512 B) was set before each use outside of graphs, but not between the 2 launches "
        "of "
        "graph 0 'step': each starts from the previous one's result");
  CHECK(findings[0].blocks == std::vector{BlockId(1u)});
}

TEST_CASE("state-not-reset is a note of a workspace that was set once") {
  const auto findings = Counting{.set = [](int step) { return step == 0; }}.Find();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
}

TEST_CASE("state-not-reset is silent where something sets it, or isn't known not to") {
  CHECK(Counting{.set_later = true}.Find().empty());
  CHECK(Counting{.set_inside = true}.Find().empty());
  CHECK(Counting{.set_by_graph = true}.Find().empty());
  CHECK(Counting{.all_work = false}.Find().empty());
  CHECK(Counting{.argument = 64}.Find().empty());  // the address may be what lay on the stack
  CHECK(Counting{.set = [](int) { return false; }}.Find().empty());
}

// A program that generates text: it clears its cache before each text, and not before each word.
struct Generating {
  bool eagerly = false;     // each text has several words outside of graphs
  bool again = true;        // the cache was cleared after launches, too
  bool read_by_all = true;  // by another kernel than the one that writes

  std::vector<Finding> Find() const {
    TraceBuilder t;
    t.SetThread(t.Thread("main"));
    const StreamId s = t.Stream();
    const BlockId x = t.Alloc({}, 4096), cache = t.Alloc({}, 512);
    const auto begin = [&] {
      t.Work(s, NodeKind::kMemset, {Writes(cache)});
      for (int i = 0; i < (eagerly ? 2 : 1); ++i) {
        for (const Bytes half : {0, 256})
          t.Work(s, "Append", {Reads(x), Touches(cache, half, 256)});
      }
    };
    const auto word = [&] {
      const GraphId graph = t.BeginCapture(s, "word");
      t.Kernel(s, "Append", {Reads(x), Touches(cache, 0, 256)});
      t.Kernel(s, "Append", {Reads(x), Touches(cache, 256, 256)});
      if (read_by_all) t.Kernel(s, "Attend", {Reads(cache), Writes(x)});
      t.EndCapture(s);
      return t.Instantiate(graph);
    };
    const auto end = [&](ExecId exec) {
      for (int i = 0; i < 3; ++i) t.Launch(exec, s);
    };
    begin();
    if (again && !eagerly) end(word());
    if (again) begin();
    end(word());
    Ran trace = t.Build();
    trace.process.all_work = true;
    for (Kernel& kernel : trace.kernels) kernel.params = {0, 1};
    trace.kernel_params = {{.offset = 0, .size = 8}};
    return Run("state-not-reset", trace);
  }
};

TEST_CASE("state-not-reset is silent of state that lasts over several steps between two resets") {
  CHECK(Generating().Find().empty());
  CHECK(Generating{.eagerly = true}.Find().empty());
}

TEST_CASE("state-not-reset is silent of what was set once and several kernels use") {
  CHECK(Generating{.again = false}.Find().empty());
  CHECK(Generating{.again = false, .read_by_all = false}.Find().size() == 1);
}

}  // namespace
}  // namespace graphkit
