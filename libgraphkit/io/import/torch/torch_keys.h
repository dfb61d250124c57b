// The keys and actions of PyTorch's memory snapshots, by name. For io/torch_snapshot.cpp.
// pool_id came with PyTorch #177717; history went with #106079 (2.1).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/io/pickle/pickle.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

enum class SnapshotKey : uint8_t {
  kOther,
  kAction,
  kAddr,
  kAddress,
  kDeviceFree,
  kSize,
  kStream,
  kTimeUs,
  kFrames,
  kPool,
  kMetadata,
  kRequestedSize,
  kState,
  kTotalSize,
  kAllocatedSize,
  kActiveSize,
  kSegmentType,
  kExpandable,
  kDevice,
  kBlocks,
  kHistory,
};

struct SnapshotKeyName {
  std::string_view text;
  SnapshotKey key;
};

constexpr std::array<SnapshotKeyName, 21> kSnapshotKeys = {{
    {"action", SnapshotKey::kAction},
    {"addr", SnapshotKey::kAddr},
    {"address", SnapshotKey::kAddress},
    {"device_free", SnapshotKey::kDeviceFree},
    {"size", SnapshotKey::kSize},
    {"stream", SnapshotKey::kStream},
    {"time_us", SnapshotKey::kTimeUs},
    {"frames", SnapshotKey::kFrames},
    {"pool_id", SnapshotKey::kPool},
    {"segment_pool_id", SnapshotKey::kPool},
    {"user_metadata", SnapshotKey::kMetadata},
    {"requested_size", SnapshotKey::kRequestedSize},
    {"state", SnapshotKey::kState},
    {"total_size", SnapshotKey::kTotalSize},
    {"allocated_size", SnapshotKey::kAllocatedSize},
    {"active_size", SnapshotKey::kActiveSize},
    {"segment_type", SnapshotKey::kSegmentType},
    {"is_expandable", SnapshotKey::kExpandable},
    {"device", SnapshotKey::kDevice},
    {"blocks", SnapshotKey::kBlocks},
    {"history", SnapshotKey::kHistory},
}};

struct TorchActionName {
  std::string_view text;
  TorchAction action;
};

constexpr std::array<TorchActionName, 9> kTorchActions = {{
    {"alloc", TorchAction::kAlloc},
    {"free_requested", TorchAction::kFreeRequested},
    {"free_completed", TorchAction::kFreeCompleted},
    {"segment_alloc", TorchAction::kSegmentAlloc},
    {"segment_free", TorchAction::kSegmentFree},
    {"segment_map", TorchAction::kSegmentMap},
    {"segment_unmap", TorchAction::kSegmentUnmap},
    {"snapshot", TorchAction::kSnapshot},
    {"oom", TorchAction::kOom},
}};

// Dicts of one kind mostly have the same keys in the same order, and the pickle shares the key
// strings: the key at a place is known by its address before its text is looked at.
class SnapshotKeyReader {
 public:
  SnapshotKey At(size_t place, const PickleValue& key) {
    if (place < known_.size() && known_[place].first == key.chars) return known_[place].second;
    const SnapshotKey found = Lookup(key);
    if (place >= known_.size() && place < 64) {
      known_.resize(place + 1, {nullptr, SnapshotKey::kOther});
    }
    if (place < known_.size()) known_[place] = {key.chars, found};
    return found;
  }

 private:
  static SnapshotKey Lookup(const PickleValue& key) {
    for (const SnapshotKeyName& name : kSnapshotKeys) {
      if (name.text == key.text()) return name.key;
    }
    return SnapshotKey::kOther;
  }
  std::vector<std::pair<const char*, SnapshotKey>> known_;
};

inline TorchAction TorchActionNamed(std::string_view text) {
  for (const TorchActionName& name : kTorchActions) {
    if (name.text == text) return name.action;
  }
  return TorchAction::kOther;
}

inline bool Natural(const PickleValue& value, uint64_t* out) {
  if (value.is(PickleType::kUint)) {
    *out = value.natural;
    return true;
  }
  if (!value.is(PickleType::kInt) || value.integer < 0) return false;
  *out = static_cast<uint64_t>(value.integer);
  return true;
}

inline bool Truth(const PickleValue* value) {
  return value && (value->is(PickleType::kBool) || value->is(PickleType::kInt)) && value->integer;
}

}  // namespace graphkit
