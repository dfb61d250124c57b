// The words that stand for enumerators in trace files and reports, in the order of their values.
#pragma once

#include <array>
#include <string_view>

#include "libgraphkit/model/collective.h"
#include "libgraphkit/model/estimate.h"
#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/host_memory.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/model/stream.h"

namespace graphkit {

template <typename Enum>
struct Names;  // value: the array of words

template <>
struct Names<DeviceKind> {
  static constexpr std::array<std::string_view, 3> value = {"cuda", "soft", "imported"};
};

template <>
struct Names<Source> {
  static constexpr std::array<std::string_view, 4> value = {"callback", "walk", "derived",
                                                            "imported"};
};

template <>
struct Names<Ternary> {
  static constexpr std::array<std::string_view, 3> value = {"unknown", "no", "yes"};
};

template <>
struct Names<Triggers> {
  static constexpr std::array<std::string_view, 4> value = {"unknown", "no", "some", "yes"};
};

template <>
struct Names<StreamKind> {
  static constexpr std::array<std::string_view, 3> value = {"created", "legacy", "per_thread"};
};

template <>
struct Names<CaptureMode> {
  static constexpr std::array<std::string_view, 3> value = {"global", "thread_local", "relaxed"};
};

template <>
struct Names<GraphOrigin> {
  static constexpr std::array<std::string_view, 6> value = {"capture", "explicit", "clone",
                                                            "child",   "body",     "imported"};
};

template <>
struct Names<NodeKind> {
  static constexpr std::array<std::string_view, kNodeKindCount> value = {
      "kernel",       "memcpy",       "memset",           "host",           "graph",     "empty",
      "event_wait",   "event_record", "semaphore_signal", "semaphore_wait", "mem_alloc", "mem_free",
      "batch_mem_op", "conditional"};
};

template <>
struct Names<NodeChangeKind> {
  static constexpr std::array<std::string_view, 4> value = {"params", "enabled", "disabled",
                                                            "updatable"};
};

template <>
struct Names<ExecCall> {
  static constexpr std::array<std::string_view, 3> value = {"instantiate", "upload", "launch"};
};

template <>
struct Names<ExecSource> {
  static constexpr std::array<std::string_view, 3> value = {"estimated", "calibrated", "measured"};
};

template <>
struct Names<ExecPart> {
  static constexpr std::array<std::string_view, kExecParts> value = {"exec", "kernel_node",
                                                                     "copy_node", "other_node"};
};

template <>
struct Names<SizesFrom> {
  static constexpr std::array<std::string_view, 3> value = {"user", "names", "blocks"};
};

template <>
struct Names<ConditionalType> {
  static constexpr std::array<std::string_view, 3> value = {"if", "while", "switch"};
};

template <>
struct Names<CollectiveKind> {
  static constexpr std::array<std::string_view, 10> value = {
      "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
      "gather",     "scatter",    "all_to_all",     "send",      "receive"};
};

template <>
struct Names<ElementType> {
  static constexpr std::array<std::string_view, 13> value = {
      "int8", "uint8", "int32", "uint32",   "int64",    "uint64", "fp16",
      "fp32", "fp64",  "bf16",  "fp8_e4m3", "fp8_e5m2", "byte"};
};

template <>
struct Names<PoolKind> {
  static constexpr std::array<std::string_view, 7> value = {
      "device", "stream", "graph", "allocator", "private", "host", "managed"};
};

template <>
struct Names<AccessMode> {
  static constexpr std::array<std::string_view, 4> value = {"?", "r", "w", "rw"};
};

template <>
struct Names<HostMemoryKind> {
  static constexpr std::array<std::string_view, 3> value = {"pageable", "stack", "program"};
};

template <>
struct Names<Severity> {
  static constexpr std::array<std::string_view, 3> value = {"note", "warning", "error"};
};

template <>
struct Names<Assumption> {
  static constexpr std::array<std::string_view, 3> value = {"order", "torch-streams", "arguments"};
};

// The word of an enumerator; "unknown" where it has none.
template <typename Enum>
constexpr std::string_view NameOf(Enum value) {
  const auto& names = Names<Enum>::value;
  const auto index = static_cast<size_t>(value);
  return index < names.size() ? names[index] : std::string_view("unknown");
}

}  // namespace graphkit
