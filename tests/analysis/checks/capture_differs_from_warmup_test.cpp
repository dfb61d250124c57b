#include <doctest/doctest.h>

#include "tests/analysis/checks/frozen_steps.h"

namespace graphkit {
namespace {

// Warm-ups and a capture of a function, called from other lines.
struct WarmUps {
  int count = 3;
  std::function<bool(int step)> combine = [](int) { return true; };  // -1: the capture
  std::function<bool(int step)> init = [](int) { return false; };
  std::function<void(TraceBuilder& t, NodeId combine, ExecId exec)> before_launch = {};

  Ran Build() const {
    TraceBuilder t;
    t.SetThread(t.Thread("main"));
    const StreamId s = t.Stream();
    const auto stack = [&](uint32_t line, bool captured) {
      return t.Stack({{"Step", "step.cu", line}, {"main", "main.cu", captured ? 9u : 7u}});
    };
    const auto step = [&](int number, auto launch) {
      const bool captured = number < 0;
      t.SetStack(stack(1, captured));
      launch("Split");
      t.SetStack(stack(2, captured));
      if (combine(number)) launch("Combine");
      t.SetStack(stack(3, captured));
      if (init(number)) launch("Init");
    };
    for (int i = 0; i < count; ++i) step(i, [&](const char* name) { t.Work(s, name); });
    const GraphId graph = t.BeginCapture(s, "step");
    step(-1, [&](const char* name) { t.Kernel(s, name); });
    t.EndCapture(s);
    const ExecId exec = t.Instantiate(graph);
    for (int i = 0; i < 2; ++i) {
      if (before_launch) before_launch(t, NodeId(1u), exec);
      t.Launch(exec, s);
    }
    return WithSites(t.Build());
  }
};

TEST_CASE("capture-differs-from-warmup names what each warm-up launched and the capture didn't") {
  const auto findings = Run("capture-differs-from-warmup",
                            WarmUps{.combine = [](int step) { return step >= 0; }}.Build());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "the capture of graph 0 'step' ran Step differently from 3 warm-ups: it doesn't launch "
        "Combine");
  CHECK(findings[0].evidence.at(0).text == "each warm-up launched Combine");
}

// On a stream that isn't captured, as the legacy stream: escaped-work has that.
TEST_CASE("capture-differs-from-warmup is silent of what was launched beside the capture") {
  TraceBuilder t;
  t.SetThread(t.Thread("main"));
  const StreamId s = t.Stream(), other = t.Stream();
  const StackId stack = t.Stack({{"Step", "step.cu", 1}, {"main", "main.cu", 7}});
  t.SetStack(stack);
  for (int i = 0; i < 3; ++i) {
    t.Work(s, "Split");
    t.Work(other, "Combine");
  }
  const Seq warm = t.trace().works.back().seq;
  const GraphId graph = t.BeginCapture(s, "step");
  t.Kernel(s, "Split");
  t.Work(other, "Combine");
  t.EndCapture(s);
  t.Launch(t.Instantiate(graph), s);
  Ran trace = t.Build();
  Ran counted = WithSites(trace);
  REQUIRE(Run("capture-differs-from-warmup", counted).size() == 1);
  std::erase_if(trace.works, [&](const EagerWork& work) { return work.seq <= warm; });
  counted.works = trace.works;
  CHECK(Run("capture-differs-from-warmup", counted).empty());
}

TEST_CASE("capture-differs-from-warmup names what the capture alone launched") {
  const auto findings = Run("capture-differs-from-warmup",
                            WarmUps{.init = [](int step) { return step < 0; }}.Build());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.ends_with("it alone launches Init"));
  CHECK(findings[0].nodes == std::vector{NodeId(2u)});
}

TEST_CASE("capture-differs-from-warmup is silent of one warm-up, of equals, and of a first time") {
  const auto silent = [](const WarmUps& warm_ups) {
    return Run("capture-differs-from-warmup", warm_ups.Build()).empty();
  };
  CHECK(silent({}));
  CHECK(silent({.count = 1, .combine = [](int step) { return step >= 0; }}));
  CHECK(silent({.init = [](int step) { return step == 0; }}));  // one-time initialisation
}

// Three warm-ups and a capture in one function, with Cast in `around` before and behind them.
Ran Surrounded(FrameText around) {
  TraceBuilder t;
  t.SetThread(t.Thread("main"));
  const StreamId s = t.Stream();
  const auto split = [&](uint32_t line) {
    t.SetStack(
        t.Stack({{"Step", "step.cu", 1}, {"Capture", "capture.cu", line}, {"main", "main.cu", 5}}));
  };
  const auto cast = [&] {
    t.SetStack(t.Stack({around, {"main", "main.cu", 3}}));
    for (int i = 0; i < 3; ++i) t.Work(s, "Cast");
  };
  cast();
  split(7);
  for (int i = 0; i < 3; ++i) t.Work(s, "Split");
  const GraphId graph = t.BeginCapture(s, "step");
  split(9);
  t.Kernel(s, "Split");
  t.EndCapture(s);
  t.Launch(t.Instantiate(graph), s);
  cast();
  return WithSites(t.Build());
}

TEST_CASE("capture-differs-from-warmup is silent of what ran before and behind the warm-ups") {
  const auto silent = [](const FrameText& around) {
    return Run("capture-differs-from-warmup", Surrounded(around)).empty();
  };
  CHECK(silent({"Make", "make.cu", 1}));  // called by the function that calls Capture
  CHECK(silent({"Step", "step.cu", 4}));  // another call of the function that warms up
}

TEST_CASE("capture-differs-from-warmup is silent of a kernel with launches from unknown places") {
  Ran trace = WarmUps{.init = [](int step) { return step < 0; }}.Build();
  REQUIRE(Run("capture-differs-from-warmup", trace).size() == 1);
  const auto other = [](const Ran& t, const std::string& name) {
    EagerSite site{.launches = 1, .seq = 1};
    for (size_t i = 0; i < t.kernels.size(); ++i)
      if (NameOf(t, KernelId(i)) == name) site.kernel = KernelId(i);
    REQUIRE(site.kernel);
    return site;
  };
  trace.eager_sites.push_back(other(trace, "Init"));
  CHECK(Run("capture-differs-from-warmup", trace).empty());
}

TEST_CASE("capture-differs-from-warmup counts nodes that are set or switched off at launches") {
  using enum NodeChangeKind;
  for (const NodeChangeKind change : {kParams, kDisabled}) {
    const WarmUps changed{.before_launch = [&](TraceBuilder& t, NodeId combine, ExecId exec) {
      t.Change(combine, exec, change);
    }};
    CHECK(Run("capture-differs-from-warmup", changed.Build()).empty());
  }
}

// PyTorch 2.8 fills two words before each capture.
TEST_CASE("capture-differs-from-warmup leaves alone what ran once for each capture") {
  TraceBuilder t;
  t.SetThread(t.Thread("main"));
  const StreamId s = t.Stream();
  const auto at = [&](const char* function) {
    t.SetStack(t.Stack({{function, "step.cu", 1}, {"main", "main.cu", 9}}));
  };
  const auto capture = [&](const char* kernel) {
    at("Begin");
    t.Work(s, "Fill");
    const GraphId graph = t.BeginCapture(s, kernel);
    at("Step");
    t.Kernel(s, kernel);
    t.EndCapture(s);
    t.Launch(t.Instantiate(graph), s);
  };
  for (int i = 0; i < 3; ++i) capture("Other");
  at("Step");
  for (int i = 0; i < 4; ++i) t.Work(s, "Split");
  capture("Split");
  CHECK(Run("capture-differs-from-warmup", WithSites(t.Build())).empty());
}

// llama.cpp evaluates a prompt and a word outside of graphs for each text, then captures a word and
// launches it.
TEST_CASE("capture-differs-from-warmup is silent of a function that launches the graph, too") {
  TraceBuilder t;
  t.SetThread(t.Thread("main"));
  const StreamId s = t.Stream();
  const auto in = [&](const char* function) {
    return t.Stack({{function, "word.cu", 1}, {"Decode", "decode.cu", 1}, {"main", "main.cu", 5}});
  };
  for (int text = 0; text < 3; ++text) {
    t.SetStack(in("Prompt"));
    t.Work(s, "Product");
    t.SetStack(in("Word"));
    t.Work(s, "Row");
    const GraphId graph = t.BeginCapture(s, "word");
    t.Kernel(s, "Row");
    t.EndCapture(s);
    t.Launch(t.Instantiate(graph), s);
  }
  const StackId launch = in("Launch");
  Ran trace = WithSites(t.Build());
  CHECK(Run("capture-differs-from-warmup", trace).size() == 2);  // of the second and third text
  for (Launch& each : trace.launches) each.stack = launch;
  CHECK(Run("capture-differs-from-warmup", trace).empty());
}

}  // namespace
}  // namespace graphkit
