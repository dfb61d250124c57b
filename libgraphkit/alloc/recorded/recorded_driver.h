// The driver of a recorded run: answers the allocator's model as the real one answered then, and
// notes where the model asks for something else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/models/driver_memory.h"
#include "libgraphkit/alloc/recorded/recorded_replay.h"

namespace graphkit {

class RecordedDriver final : public DriverMemory {
 public:
  void Expect(const RecordedOperation& operation) { due_.push_back(operation); }
  const std::deque<RecordedOperation>& due() const { return due_; }
  // True if memory was given back next.
  bool GivesBack() const { return !due_.empty() && IsRelease(due_.front()); }
  static bool IsRelease(const RecordedOperation& operation) {
    return operation.segment.kind == SegmentEvent::Kind::kFree ||
           operation.segment.kind == SegmentEvent::Kind::kUnmap;
  }

  // Recorded operations that the model didn't make.
  void Settle() {
    for (const RecordedOperation& left : due_) {
      misses_.push_back({.event = left.event, .segment = true, .recorded = left.segment.address});
    }
    due_.clear();
  }
  void set_event(uint32_t event) { event_ = event; }
  void set_exhausted(bool exhausted) { exhausted_ = exhausted; }  // it refuses all
  uint64_t hits() const { return hits_; }
  uint64_t told() const { return told_; }  // recorded, and nothing else tells it
  std::vector<PredictionMiss> TakeMisses() { return std::move(misses_); }

  // The recorded allocator gave memory back before it got more.
  bool Exhausted() const override { return GivesBack() || exhausted_; }
  std::optional<Address> Allocate(Bytes size) override {
    if (!due_.empty() && due_.front().segment.size == size) {
      const Address address = due_.front().segment.address;
      due_.pop_front();
      ++hits_;
      return address;
    }
    const Address address = Reserve(size);
    Miss(address);
    return address;
  }
  void Free(Address address, Bytes size) override {
    Match(SegmentEvent::Kind::kFree, address, size);
  }
  // Of an expandable segment the lowest page is mapped first.
  Address Reserve(Bytes size) override {
    if (!due_.empty() && due_.front().segment.kind == SegmentEvent::Kind::kMap) {
      return due_.front().segment.address;
    }
    const Address address = unrecorded_;
    unrecorded_ += RoundUp(size, Bytes{2} << 20);
    return address;
  }
  void Unreserve(Address, Bytes) override {}
  bool Map(Address address, Bytes size) override {
    Match(SegmentEvent::Kind::kMap, address, size);
    return true;
  }
  void Unmap(Address address, Bytes size) override {
    Match(SegmentEvent::Kind::kUnmap, address, size);
  }
  bool Collected(std::span<const Address> segments) const override {
    return std::ranges::all_of(segments, [&](Address segment) { return IsFreed(segment); });
  }
  // Where all were, the model frees them whatever their ages are.
  std::vector<Address> CollectedOf(std::span<const Address> segments) override {
    std::vector<Address> collected;
    std::ranges::copy_if(segments, std::back_inserter(collected),
                         [&](Address segment) { return IsFreed(segment); });
    if (collected.size() < segments.size()) {
      told_ += collected.size();
      hits_ -= collected.size();  // what counting their frees adds
    }
    return collected;
  }

 private:
  bool IsFreed(Address segment) const {
    return std::ranges::any_of(due_, [&](const RecordedOperation& op) {
      return op.segment.kind == SegmentEvent::Kind::kFree && op.segment.address == segment;
    });
  }
  // An operation of the model that wasn't recorded.
  void Miss(Address address) {
    misses_.push_back({.event = event_, .segment = true, .predicted = address});
  }
  void Match(SegmentEvent::Kind kind, Address address, Bytes size) {
    const auto at = std::find_if(due_.begin(), due_.end(), [&](const RecordedOperation& op) {
      return op.segment.kind == kind && op.segment.address == address && op.segment.size == size;
    });
    if (at == due_.end()) {
      Miss(address);
      return;
    }
    due_.erase(at);
    ++hits_;
  }

  std::deque<RecordedOperation> due_;  // recorded and not yet asked for
  std::vector<PredictionMiss> misses_;
  uint64_t hits_ = 0;
  uint64_t told_ = 0;
  uint32_t event_ = 0;
  bool exhausted_ = false;
  Address unrecorded_ = Address{1} << 60;  // above every recorded address
};

}  // namespace graphkit
