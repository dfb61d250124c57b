// `graphkit replay --against-recorded`: the models of PyTorch's allocator against what it did, in a
// snapshot or in the captures of a trace.
#pragma once

#include <string>
#include <vector>

#include "tools/graphkit/cli/options.h"

namespace graphkit {

struct RecordedArguments {
  std::string file;
  std::vector<std::string> allocators;  // none: PyTorch's
  Format format = Format::kText;
  std::string output = "-";
};

// The exit code.
int ReplayAgainstRecorded(const RecordedArguments& arguments);

}  // namespace graphkit
