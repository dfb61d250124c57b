// The traces for a gate's files: judged and drawn in every format.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/compare/gate.h"
#include "tests/read_ran.h"
#include "tools/graphkit/check/check.h"

namespace graphkit {

inline GateSubject SubjectOf(const std::string& name) {
  const Result<Ran> trace = ReadRan(std::string(GRAPHKIT_TESTDATA) + "/traces/soft/" + name);
  if (!trace) std::abort();
  Result<Report> report = Analyze(*trace);
  if (!report) std::abort();
  return MakeGateSubject(name, Facts(*trace), *std::move(report));
}

inline const std::vector<GateSubject>& Subjects() {
  static const std::vector<GateSubject> subjects = {SubjectOf("leaky.json"),
                                                    SubjectOf("record_stream.json")};
  return subjects;
}

// Judges, draws, and aborts where the verdict doesn't agree with what it says.
inline void JudgeAndDraw(const GateConfig& config, const std::optional<Baseline>& baseline) {
  GateRun run;
  run.subjects = Subjects();
  run.verdict = JudgeGate(run.subjects, config, baseline);
  if (run.verdict.passed() != run.verdict.reasons.empty()) std::abort();
  for (const GateMeasure& measure : run.verdict.measures) {
    if (!measure.passed && run.verdict.passed()) std::abort();
  }
  std::ostringstream out;
  RenderCheckJson(run, out);
  RenderCheckText(run, {{}, out});
  RenderSarif(run, "1", out);
  RenderJunit(run, out);
  RenderGithubAnnotations(run, out);
}

}  // namespace graphkit
