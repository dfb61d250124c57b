// The words that stand for enumerators in trace files and reports, in the order of their values.
#pragma once

#include <array>
#include <string_view>

#include "libgraphkit/model/collective.h"
#include "libgraphkit/model/estimate.h"
#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/model/stream.h"

namespace graphkit {

template <typename Enum>
struct Names;  // value: the array of words

// Also for enumerations that other headers define.
#define GRAPHKIT_NAMES(Enum, ...)                                                 \
  template <>                                                                     \
  struct Names<Enum> {                                                            \
    static constexpr auto value = std::to_array<std::string_view>({__VA_ARGS__}); \
  };

GRAPHKIT_NAMES(DeviceKind, "cuda", "soft", "imported")
GRAPHKIT_NAMES(Source, "callback", "walk", "derived", "imported")
GRAPHKIT_NAMES(Ternary, "unknown", "no", "yes")
GRAPHKIT_NAMES(Triggers, "unknown", "no", "some", "yes")
GRAPHKIT_NAMES(StreamKind, "created", "legacy", "per_thread")
GRAPHKIT_NAMES(CaptureMode, "global", "thread_local", "relaxed")
GRAPHKIT_NAMES(GraphOrigin, "capture", "explicit", "clone", "child", "body", "imported")
GRAPHKIT_NAMES(NodeKind, "kernel", "memcpy", "memset", "host", "graph", "empty", "event_wait",
               "event_record", "semaphore_signal", "semaphore_wait", "mem_alloc", "mem_free",
               "batch_mem_op", "conditional")
static_assert(Names<NodeKind>::value.size() == kNodeKindCount);
GRAPHKIT_NAMES(NodeChangeKind, "params", "enabled", "disabled", "updatable")
GRAPHKIT_NAMES(ExecCall, "instantiate", "upload", "launch")
GRAPHKIT_NAMES(ExecSource, "estimated", "calibrated", "measured")
GRAPHKIT_NAMES(ExecPart, "exec", "kernel_node", "copy_node", "other_node")
static_assert(Names<ExecPart>::value.size() == kExecParts);
GRAPHKIT_NAMES(SizesFrom, "user", "names", "blocks")
GRAPHKIT_NAMES(ConditionalType, "if", "while", "switch")
GRAPHKIT_NAMES(CollectiveKind, "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
               "gather", "scatter", "all_to_all", "send", "receive")
GRAPHKIT_NAMES(ElementType, "int8", "uint8", "int32", "uint32", "int64", "uint64", "fp16", "fp32",
               "fp64", "bf16", "fp8_e4m3", "fp8_e5m2", "byte")
GRAPHKIT_NAMES(PoolKind, "device", "stream", "graph", "allocator", "private", "host", "managed")
GRAPHKIT_NAMES(AccessMode, "?", "r", "w", "rw")
GRAPHKIT_NAMES(HostMemoryKind, "pageable", "stack", "program")
GRAPHKIT_NAMES(Severity, "note", "warning", "error")
GRAPHKIT_NAMES(Assumption, "order", "torch-streams", "arguments")

// The word of an enumerator; "unknown" where it has none.
template <typename Enum>
constexpr std::string_view NameOf(Enum value) {
  const auto& names = Names<Enum>::value;
  const auto index = static_cast<size_t>(value);
  return index < names.size() ? names[index] : std::string_view("unknown");
}

}  // namespace graphkit
