// `graphkit replay snapshot.pickle --allocator pytorch --against-recorded`.
#pragma once

#include <string>

#include "tools/graphkit/cli/options.h"

namespace graphkit {

// Says how much of a recorded run the allocator's model predicts; gives the exit code.
int ReplayAgainstRecorded(const std::string& snapshot, Format format, const std::string& output);

}  // namespace graphkit
