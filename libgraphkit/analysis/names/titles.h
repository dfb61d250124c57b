// Titles of things in reports and drawings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// The C++ name behind a mangled one, printable; what isn't mangled comes back printable.
std::string Demangle(std::string_view name);

// A demangled function name without its return type, parameters and template arguments, in at most
// `columns` columns; enclosing namespaces go first when it is too long:
//
//     void at::native::(anonymous namespace)::fill<4, float>(int, float*)   →   at::native::fill<…>
std::string ShortName(std::string_view demangled, size_t columns);

// "kernel add<…>", "memcpy", "event_record": what a node is, in at most `columns` columns.
std::string NodeTitle(const Trace& trace, NodeId id, size_t columns);

// "recorded on the software device (simulated)", "recorded on NVIDIA H200".
std::string DeviceTitle(DeviceKind device, std::string_view name = {});

// "edge data not available (CUDA 12.1)", of a driver whose edges have none.
void AddMissingEdgeData(const Process& process, std::vector<std::string>& notes);

// Where memory was asked for, when that isn't known.
inline constexpr const char* kNoStack = "no call stack";
inline constexpr const char* kBeforeRecording = "allocated before recording began (no stack)";

// "stream 2", "stream 2 \"copy\"", "legacy default stream".
std::string StreamTitle(const Trace& trace, StreamId id);

// "graph 3", "graph 3 \"decode\"".
std::string GraphTitle(const Trace& trace, GraphId id);
std::string GraphTitle(GraphId id, std::string_view name);

// "pool 1 (graph)", "pool 2 (allocator, decode)".
std::string PoolTitle(const Trace& trace, PoolId id);

// The program's own code first, then what it called to get there:
// "train.py:17 forward, in torch/nn/modules/linear.py:134 forward"; empty for no stack. Of a stack
// with PyTorch's native frames the line and the operator: "llama/modeling_llama.py:216 silu".
std::string StackTitle(const Trace& trace, StackId id);

}  // namespace graphkit
