// Steps of a program outside of captures and in one, for the checks of what a capture froze.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/analysis/checks/run.h"

namespace graphkit {

// The trace with its work outside of captures counted, as the tracer does, instead of recorded.
inline Ran WithSites(Ran trace) {
  std::map<std::pair<KernelId, StackId>, EagerSite> sites;
  for (uint64_t i = 0; i < trace.works.size(); ++i) {
    const EagerWork& work = trace.works[i];
    EagerSite& site = sites[{work.kernel, work.stack}];
    const uint64_t first = site.launches == 0 ? i : site.first;
    site = {work.kernel, work.stack, work.thread, 1, first, i, work.seq};
    trace.eager_sites.push_back(site);
  }
  trace.works.clear();
  return trace;
}

// Numbers of the kernel at a place.
struct Scalars {
  Seq seq = 0;
  std::vector<Scalar> all;
  void Pass(uint16_t argument, uint64_t bits) { all.push_back({seq, argument, 0, bits}); }
};

// A step of three kernels that runs outside of captures and is captured then, launched three times.
// `pass` gives numbers to the last kernel: of a step outside of captures (0, 1, …), or of a capture
// (-1, -2, …).
struct Steps {
  size_t outside = 3;
  size_t captures = 1;
  size_t launches = 3;
  bool stacks = true;
  bool updates = false;  // the later captures go into the first one's exec, and are destroyed
  using Pass = std::function<void(Scalars& to, int step)>;
  Pass pass = [](Scalars&, int) {};
  Pass pass_all = [](Scalars&, int) {};  // to all kernels

  Ran Build() const {
    TraceBuilder t;
    t.SetThread(t.Thread("main"));
    const StreamId s = t.Stream();
    std::vector<StackId> stacks_of;
    Scalars scalars;
    for (uint32_t line = 1; line <= 3; ++line)
      stacks_of.push_back(t.Stack({{"Step", "step.cu", line}, {"main", "main.cu", 7}}));
    constexpr const char* kNames[] = {"Forward", "Backward", "Update"};
    const auto step = [&](int number, auto launch) {
      for (size_t i = 0; i < 3; ++i) {
        if (stacks) t.SetStack(stacks_of[i]);
        launch(kNames[i]);
        scalars.seq = number < 0 ? t.trace().nodes.back().seq : t.trace().works.back().seq;
        pass_all(scalars, number);
        if (i == 2) pass(scalars, number);
      }
    };
    for (size_t i = 0; i < outside; ++i)
      step(static_cast<int>(i), [&](const char* name) { t.Work(s, name); });
    std::vector<ExecId> execs;
    for (size_t i = 0; i < captures; ++i) {
      const GraphId graph = t.BeginCapture(s, "step");
      step(-1 - static_cast<int>(i), [&](const char* name) { t.Kernel(s, name); });
      t.EndCapture(s);
      if (!updates || i == 0) {
        execs.push_back(t.Instantiate(graph));
        continue;
      }
      t.Launch(execs[0], s);
      t.Update(execs[0], graph);
      t.Destroy(graph);
    }
    for (const ExecId exec : execs)
      for (size_t i = 0; i < launches; ++i) t.Launch(exec, s);
    Ran trace = t.Build();
    trace.scalars = std::move(scalars.all);
    return WithSites(std::move(trace));
  }
};

inline Finding One(std::string_view check, const Steps& steps) {
  const std::vector<Finding> findings = Run(check, steps.Build());
  REQUIRE(findings.size() == 1);
  return findings[0];
}
inline bool Silent(const Steps& steps) {
  return Run("frozen-argument", steps.Build()).empty() && Run("frozen-grid", steps.Build()).empty();
}

}  // namespace graphkit
