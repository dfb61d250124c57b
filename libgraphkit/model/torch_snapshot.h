// A file of torch.cuda.memory._dump_snapshot (PyTorch): the allocator's segments at the end, and
// the ring of its last events. Plain data, as recorded; read by
// libgraphkit/io/import/torch/torch_snapshot.h.
//
//   segment  |<-------------------------- total_size ------------------------->|
//   blocks   | active_allocated | inactive | active_pending_free |   inactive   |
//
// A free is two events: requested (the tensor died) and completed (the memory may be used again).
// They lie apart when other streams had recorded the block.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

enum class TorchAction : uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kSnapshot,
  kOom,       // size: what was asked for; address: the bytes that the device had free
  kAnnotate,  // torch.cuda.memory._annotate_tensor: metadata of the block at address (#190575)
  kOther,
};
// The allocator gets memory from the driver, or gives it back.
constexpr bool Maps(TorchAction action) {
  return action == TorchAction::kSegmentAlloc || action == TorchAction::kSegmentMap;
}
constexpr bool Unmaps(TorchAction action) {
  return action == TorchAction::kSegmentFree || action == TorchAction::kSegmentUnmap;
}

// A private pool's identity, {0, 0} for the default pool.
struct TorchPoolId {
  uint64_t first = 0;
  uint64_t second = 0;
  auto operator<=>(const TorchPoolId&) const = default;
};

struct TorchEvent {
  TorchAction action = TorchAction::kOther;
  uint16_t pool = kNoPool;  // index into TorchSnapshot::pools; kNoPool: the file doesn't say
  StackId stack = {};       // into TorchSnapshot::stacks
  Address address = 0;
  Bytes size = 0;
  uint64_t stream = 0;     // the stream's handle
  int64_t time_us = 0;     // Unix time
  StringId metadata = {};  // user_metadata, when there is some
  StringId internal = {};  // internal_metadata of the allocator itself (PyTorch #193432, 2.15)

  static constexpr uint16_t kNoPool = 0xffff;
  bool operator==(const TorchEvent&) const = default;
};

inline Interval<Address> RangeOf(const TorchEvent& event) {
  return {event.address, event.address + event.size};
}

// Where a range of the profiler begins or ends ("ProfilerStep#3"): external_annotations.
struct TorchAnnotation {
  StringId name = {};
  int64_t time_us = 0;  // Unix time
  bool end = false;
};

enum class TorchBlockState : uint8_t { kActive, kPendingFree, kInactive };

struct TorchBlock {
  Address address = 0;
  Bytes size = 0;
  Bytes requested_size = 0;  // of the last tensor in it
  TorchBlockState state = TorchBlockState::kInactive;
  StackId stack = {};
  bool operator==(const TorchBlock&) const = default;
};

struct TorchSegment {
  Address address = 0;
  Bytes total_size = 0;
  Bytes requested_size = 0;
  uint64_t stream = 0;
  int32_t device = 0;
  uint16_t pool = 0;  // index into TorchSnapshot::pools
  bool small = false;
  bool expandable = false;
  Slice blocks = {};  // into TorchSnapshot::blocks, by address
  StackId stack = {};
  bool operator==(const TorchSegment&) const = default;
};

struct TorchFrame {
  StringId function = {};
  StringId file = {};
  uint32_t line = 0;
  auto operator<=>(const TorchFrame&) const = default;
};

struct TorchSettings {
  std::string version;          // of PyTorch; empty: unknown
  std::string conf;             // PYTORCH_CUDA_ALLOC_CONF as given
  int64_t max_split_size = -1;  // bytes; -1: no limit
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  bool graph_capture_record_stream_reuse = false;
  // {size class in MiB, divisions}; 0 divisions: round to 512 B.
  std::vector<std::pair<uint64_t, uint32_t>> roundup_power2_divisions;
  bool known = false;  // the file has settings
};

struct TorchSnapshot {
  TorchSettings settings;
  std::vector<TorchPoolId> pools;  // pools[0] is the default pool
  std::vector<TorchSegment> segments;
  std::vector<TorchBlock> blocks;
  std::vector<TorchEvent> events;            // of all devices
  std::vector<Slice> devices;                // device -> its run of events, in time order
  std::vector<TorchAnnotation> annotations;  // by time

  // Stacks without repeats, innermost frame first.
  std::vector<Slice> stacks;  // into stack_frames
  std::vector<uint32_t> stack_frames;
  std::vector<TorchFrame> frames;
  StringTable strings;
};

}  // namespace graphkit
