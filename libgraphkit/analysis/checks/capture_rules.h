// CUDA's rules of captures: which error of a call stands for which rule, and what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// cudaError_t (driver_types.h, CUDA 13.0), and the rule behind it.
struct CaptureRule {
  int32_t error;
  const char* name;
  const char* broken;
  const char* advice;
  bool breaks = true;  // leaves the capture broken
};
inline constexpr int32_t kErrorLossyQuery = 402;
inline constexpr int32_t kErrorUnsupported = 900;
inline constexpr int32_t kErrorInvalidated = 901;
inline constexpr int32_t kErrorUnjoined = 904;

// Null: the error isn't about captures.
const CaptureRule* CaptureRuleOf(int32_t error);

// The rule behind a failed call, in the words that fit the call and the capture's mode.
struct BrokenRule {
  std::string broken;
  std::string advice;
};

// `capture` is the one that the call hit; null: unknown. Nothing: the error isn't about captures.
std::optional<BrokenRule> RuleOf(const Ran& trace, const Failure& failure, const Capture* capture);
// The same of a call in a capture that went on. Any failure of a call that makes a node counts.
std::optional<BrokenRule> RuleInWholeCapture(const Ran& trace, const Failure& failure,
                                             const Capture* capture);

}  // namespace graphkit
