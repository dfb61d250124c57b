// `graphkit replay SNAPSHOT --what-if SETTING`: what PyTorch's allocator would have reserved under
// other settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/graphkit/cli/options.h"

namespace graphkit {

struct WhatIfArguments {
  std::string file;
  std::vector<std::string> settings;
  std::optional<Bytes> capacity;
  Format format = Format::kText;
  std::string output = "-";
};

// The exit code.
int ReplayWhatIfs(const WhatIfArguments& arguments);

}  // namespace graphkit
