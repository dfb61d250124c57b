// `graphkit check --init FILE`: what a repository needs for its gate, to begin with.
#pragma once

#include <string>

#include "libgraphkit/result.h"

namespace graphkit {

// The files of a gate, beside each other.
struct GateFiles {
  std::string config;
  std::string baseline;
  std::string suppressions;
};

// Where they are to lie: the config as named, the others in its folder. An error where one of them
// is there already: --init replaces nothing.
Result<GateFiles> NewGateFiles(const std::string& config);

// Writes the settings and the list of suppressions, which is empty. The baseline is the verdict's.
Result<void> WriteGateSettings(const GateFiles& files);

}  // namespace graphkit
