// The driver functions that the tracer listens to, and how their parameters become a Call.
// Everything goes by CUPTI's callback id, which never changes; its name in the headers makes the
// number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/cupti_tracer/calls/calls.h"

namespace graphkit {

struct DriverCall;

// The parameters of a call in flight: `raw` is the structure that CUPTI has for it.
struct CallParams {
  const void* raw = nullptr;
  const DriverCall* row = nullptr;
  bool done = false;  // the call has returned success: what it gives back may be read
};

struct DriverCall {
  uint16_t id = 0;  // CUpti_driver_api_trace_cbid
  CallKind kind = CallKind::kOther;
  void (*decode)(const CallParams& params, Call& call) = nullptr;  // null: nothing to read
  bool per_thread = false;  // the stream 0 is the thread's, not the legacy one
};

// All of them, in no order.
std::span<const DriverCall> DriverCalls();

// The row of a callback id; null when it is none of ours.
const DriverCall* FindDriverCall(uint32_t id);

inline constexpr uint32_t kDriverCallLimit = 1024;  // above every callback id

// The handles of a cuGraphLaunch in flight.
GraphLaunch ReadLaunch(const CallParams& params);

// The arguments of a call that say something by their value, in their order, by cuda.h's names.
// `params`: CUPTI's structure for the call. For calls that fail.
void ReadArguments(uint32_t call, const void* params, std::vector<CallArgument>& arguments);

// Runtime functions that say nothing about work or memory, and are called all the time.
bool IsRuntimeNoise(uint32_t id);
inline constexpr uint32_t kRuntimeCallLimit = 523;  // above every runtime callback id

// A stream as the recorder knows it.
uint64_t StreamHandle(const void* stream, bool per_thread);

}  // namespace graphkit
