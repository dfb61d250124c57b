// The gate's verdict: as text, JSON, JUnit XML, SARIF, Markdown, and annotations of GitHub
// Actions.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// The gate's verdict as a person reads it in a job's log:
//
//     trace.json: 1 graph, 12 nodes, 5 blocks, recorded on the software device (simulated)
//
//     failed: 1 reason
//       - trace.json: max-deferred: graph 0 step: 1 MiB deferred, limit 0 B
//     …
void RenderCheckText(const GateRun& run, const TextStyle& style, std::ostream& out);

// The gate's verdict as JSON, schema "graphkit-check", version 1 (docs/check.md).
void RenderCheckJson(const GateRun& run, std::ostream& out);

// The gate's verdict as JUnit XML: one suite for each trace; in it a test case for completeness,
// for each check, for each figure that has a limit. Elements and attributes are those that Jenkins
// and GitLab read.
void RenderJunit(const GateRun& run, std::ostream& out);

// The gate's verdict as SARIF 2.1.0 (OASIS, 27 March 2020), for code scanning services. `version`
// is graphkit's.
void RenderSarif(const GateRun& run, std::string_view version, std::ostream& out);

// The gate's verdict as workflow commands of GitHub Actions ("::error file=…,line=…::message"): a
// job that prints them shows each finding at its source line.
void RenderGithubAnnotations(const GateRun& run, std::ostream& out);

// The gate's verdict as Markdown for the summary of a job: reasons, limits, the memory of the
// largest graphs as bars, and the findings folded away. Lists have at most style.top entries.
void RenderCheckMarkdown(const GateRun& run, const TextStyle& style, std::ostream& out);

// A message, and the value of a property, as the runner unescapes them (actions/toolkit,
// packages/core/src/command.ts).
std::string GithubMessage(std::string_view text);
std::string GithubProperty(std::string_view text);

}  // namespace graphkit
