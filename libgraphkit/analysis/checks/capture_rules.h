// What the checks of captures share: the rules that CUDA's errors stand for.
#pragma once

#include <cstdint>
#include <string>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

// cudaError_t (driver_types.h, CUDA 13.0), and the rule behind it.
struct CaptureRule {
  int32_t error;
  const char* name;
  const char* broken;
  const char* advice;
};
inline constexpr int32_t kErrorLossyQuery = 402;
inline constexpr int32_t kErrorInvalidated = 901;
inline constexpr int32_t kErrorUnjoined = 904;

// Null: the error isn't about captures.
const CaptureRule* CaptureRuleOf(int32_t error);

// The call that invalidated a capture; null: not recorded.
const Failure* CauseOf(const Trace& trace, const Capture& capture);

std::string ThreadName(const Trace& trace, ThreadId thread);

// "cudaMalloc (900, cudaErrorStreamCaptureUnsupported) of thread 0 'main' on stream 1".
std::string CallText(const Trace& trace, const Failure& failure);

// "cudaMalloc was called after node 3, with bytesize=4096".
std::string CalledText(const Trace& trace, const Failure& failure);

// Adds what was allocated in the finding's graph and that nobody has freed.
void AddStuckMemory(const Facts& facts, Finding* finding);

}  // namespace graphkit
