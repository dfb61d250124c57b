// The settings of `graphkit check`: the configuration file, and over it the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/result.h"

namespace graphkit {

// As given on the command line; it overrides the file.
struct CheckOptions {
  std::vector<std::string> fail_on;
  GateConfig limits;  // those of kGateLimits that are given
  std::optional<std::string> baseline, allow_increase, suppressions, config;
};

struct CheckSettings {
  std::string file;  // empty: none
  GateConfig config;
  std::string baseline;  // empty: none
};

void AddCheckOptions(CLI::App& app, CheckOptions& options);

// Reads the configuration (graphkit.json of the current folder, when there is one and none is
// given) and the suppressions, and refuses ids that no check has.
Result<CheckSettings> ReadSettings(const CheckOptions& options, const Date& today);

// The checks that graphkit has.
std::vector<GateCheck> KnownChecks();

}  // namespace graphkit
