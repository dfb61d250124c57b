// What `graphkit --version` prints.
#pragma once

#include <string>

namespace graphkit {

// The version of graphkit, the version of the trace format that it writes, and the CUPTI that it
// would use, when there is one.
std::string VersionText();

std::string Version();  // of graphkit: "0.1.0"

}  // namespace graphkit
