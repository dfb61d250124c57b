// A run of the gate with something of everything in it, and names that want to break out.
#pragma once

#include "libgraphkit/compare/gate.h"
#include "libgraphkit/model/gate.h"

namespace graphkit {

inline constexpr char kHostile[] = "k<a,b>&\"'\n::error::]]>%0A\x1b[31m\xff\xef\xbf\xbf--><script>";

inline GateSubject SampleSubject() {
  GraphSummary graph;
  graph.graph = GraphId(0u);
  graph.name = "step";
  graph.nodes = 3;
  graph.deferred_bytes = 1 << 20;
  GateSubject subject;
  subject.trace = "out/trace.json";
  subject.report.device = DeviceKind::kSoft;
  subject.report.graphs = {graph};
  subject.report.totals = {.graphs = 1, .nodes = 3, .edges = 3, .blocks = 2};
  Finding leak{.check = "block-leak",
               .severity = Severity::kError,
               .message = "block 1 of 1 MiB is never freed",
               .advice = "free it before the capture ends",
               .bytes = 1 << 20,
               .graph = GraphId(0u),
               .blocks = {BlockId(1u)},
               .logical = "graph 0 step/block 1"};
  const PlaceFrame line{"_Z4stepv", "/src/app/step.cu", 42};
  leak.places = {{.line = line, .frames = {{"_Z5innerv", "libtorch.so", 0}, line}},
                 {.line = {"_Z4stepv", "/src/app/step.cu", 50}, .about = "graph 0 is launched"}};
  Finding late{.check = "late-free",
               .message = "block 0 is freed late",
               .bytes = 512,
               .logical = "graph 0 step/block 0"};
  Finding accepted{.check = "exec-leak",
                   .severity = Severity::kError,
                   .message = "exec 0 stays",
                   .logical = "trace"};
  subject.report.findings = {leak, late, accepted};
  return subject;
}

inline GateRun SampleRun() {
  GateConfig config{.fail_on_severity = Severity::kError};
  config.limits["max-deferred"] = 0;
  config.limits["max-leaks"] = 5;
  config.suppressions = {{.check = "exec-leak", .reason = "lives as long as the process"},
                         {.check = "late-free", .reason = "old", .expires = Date{2020, 1, 1}}};
  config.today = {2026, 1, 1};
  GateRun run;
  run.subjects = {SampleSubject()};
  run.checks = {{"block-leak", "A block is never freed."},
                {"exec-leak", "An exec is never destroyed."},
                {"late-free", "A block is freed late."},
                {"unsafe-reuse", "Memory is used again without proof."}};
  run.verdict = JudgeGate(run.subjects, config, {});
  run.source_root = "/src/app";
  return run;
}

// Every text that comes from a trace, a file name or a configuration is hostile.
inline GateRun HostileRun() {
  GateSubject subject = SampleSubject();
  subject.trace = kHostile;
  subject.report.graphs[0].name = kHostile;
  for (Finding& finding : subject.report.findings) {
    finding.message = finding.advice = kHostile;
    finding.severity = Severity::kError;
    finding.logical = kHostile;
    const PlaceFrame line{kHostile, kHostile, 7};
    finding.places = {{.line = line, .frames = {line, {kHostile, "", 0}}},
                      {.line = {"", kHostile, 8}, .about = kHostile}};
  }
  GateConfig config{.fail_on_severity = Severity::kError};
  config.limits["max-deferred"] = 0;
  config.suppressions = {{.check = "exec-leak", .reason = kHostile}};
  GateRun run;
  run.subjects = {subject};
  run.checks = {{"block-leak", kHostile}};
  run.verdict = JudgeGate(run.subjects, config, {});
  return run;
}

inline GateRun RefusedRun() {
  GateRun run;
  run.subjects = {SampleSubject()};
  run.subjects[0].report.complete = false;
  run.subjects[0].report.incomplete_because = {"the file is cut off"};
  run.verdict = JudgeGate(run.subjects, {}, {});
  return run;
}

}  // namespace graphkit
