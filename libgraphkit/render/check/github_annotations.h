// The gate's verdict as workflow commands of GitHub Actions ("::error file=…,line=…::message"): a
// job that prints them shows each finding at its source line.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/model/gate.h"

namespace graphkit {

void RenderGithubAnnotations(const GateRun& run, std::ostream& out);

// A message, and the value of a property, as the runner unescapes them (actions/toolkit,
// packages/core/src/command.ts).
std::string GithubMessage(std::string_view text);
std::string GithubProperty(std::string_view text);

}  // namespace graphkit
