// Shared by the checks of captures: the rules that CUDA's errors stand for.
#pragma once

#include <cstdint>
#include <optional>
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
std::optional<BrokenRule> RuleOf(const Trace& trace, const Failure& failure,
                                 const Capture* capture);

// Why a capture failed. What is told of a failed call is taken for it, unless it only noticed that
// the capture was broken (901). Otherwise what happened between the capture's last node and the
// first call that noticed:
//
//     node 4 ── cudaMalloc of another thread (900) ── cudaLaunchKernel (901) ── end (901)
//     node 4 ── cudaStreamDestroy of a joined stream ─────────────────────────── end (901)
struct CaptureBreak {
  const Failure* failure = nullptr;  // the call that failed and broke it
  StreamId destroyed;                // of no failure: a stream of the capture, destroyed meanwhile
  GraphId lost;                      // or the graph that holds the capture's, which went away
  NodeId last;                       // the last node that was captured; may be none
  const Failure* noticed = nullptr;  // the first call that noticed; null: none
};
CaptureBreak BreakOf(const Trace& trace, const Capture& capture);

// "cudaMalloc (900, cudaErrorStreamCaptureUnsupported) of thread 0 'main' on stream 1".
std::string CallText(const Trace& trace, const Failure& failure);

// "cudaMalloc was called after node 3, with bytesize=4096".
std::string CalledText(const Facts& facts, const Failure& failure);

// Adds what was allocated in the finding's graph and not freed.
void AddStuckMemory(const Facts& facts, Finding* finding);

}  // namespace graphkit
