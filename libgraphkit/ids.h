// Typed dense indices. Things in a trace refer to each other by these, never by pointer: a NodeId
// is an index into Trace::nodes, and can't be mixed up with an EdgeId.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace graphkit {

template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;

  uint32_t value = kNone;  // kNone: refers to nothing

  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr explicit Id(size_t v) : value(static_cast<uint32_t>(v)) {}

  constexpr bool valid() const { return value != kNone; }
  constexpr explicit operator bool() const { return valid(); }
  constexpr size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

using GraphId = Id<struct GraphTag>;
using NodeId = Id<struct NodeTag>;
using EdgeId = Id<struct EdgeTag>;
using CaptureId = Id<struct CaptureTag>;
using StreamId = Id<struct StreamTag>;
using EventId = Id<struct EventTag>;
using BlockId = Id<struct BlockTag>;
using SegmentId = Id<struct SegmentTag>;
using PoolId = Id<struct PoolTag>;
using ExecId = Id<struct ExecTag>;
using LaunchId = Id<struct LaunchTag>;
using KernelId = Id<struct KernelTag>;
using CommunicatorId = Id<struct CommunicatorTag>;
using ThreadId = Id<struct ThreadTag>;
using StackId = Id<struct StackTag>;
using StringId = Id<struct StringTag>;

}  // namespace graphkit

template <typename Tag>
struct std::hash<graphkit::Id<Tag>> {
  size_t operator()(graphkit::Id<Tag> id) const noexcept { return id.value; }
};
