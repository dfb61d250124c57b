// The words that stand for enumerators in a trace file, in the order of the enumerators' values.
#pragma once

#include <array>
#include <string_view>

#include "libgraphkit/model/trace.h"

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
struct Names<ConditionalType> {
  static constexpr std::array<std::string_view, 3> value = {"if", "while", "switch"};
};

template <>
struct Names<CollectiveKind> {
  static constexpr auto value = kCollectiveNames;
};

template <>
struct Names<ElementType> {
  static constexpr auto value = kElementTypeNames;
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

// Kinds of StreamOp that one type of record says, by words of its own.
struct SyncTarget {
  static constexpr std::array<std::string_view, 3> value = {"device", "stream", "event"};
  static constexpr StreamOpKind kKinds[] = {StreamOpKind::kDeviceSync, StreamOpKind::kStreamSync,
                                            StreamOpKind::kEventSync};
};
struct FrontierMode {
  static constexpr std::array<std::string_view, 2> value = {"set", "add"};
  static constexpr StreamOpKind kKinds[] = {StreamOpKind::kSetFrontier,
                                            StreamOpKind::kAddToFrontier};
};
template <typename Words>
struct AsWord {
  StreamOpKind& kind;
};

}  // namespace graphkit
