// What the process ends with (docs/cli.md). Several at once: 2 before 3 before 1.
#pragma once

#include "libgraphkit/result.h"

namespace graphkit {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;      // a verdict: the check, the verification failed
inline constexpr int kExitBad = 2;         // bad usage or input
inline constexpr int kExitIncomplete = 3;  // made from incomplete input, and still shown

// `trace` ends with the program's own code; these are graphkit's (as env(1) and timeout(1) have
// them).
inline constexpr int kExitTrace = 125;          // graphkit failed
inline constexpr int kExitNotExecutable = 126;  // the program can't be executed
inline constexpr int kExitNotFound = 127;       // there is no such program

inline int ExitCodeOf(const Error& error) {
  return error.kind == Error::Kind::kIncomplete ? kExitIncomplete : kExitBad;
}

}  // namespace graphkit
