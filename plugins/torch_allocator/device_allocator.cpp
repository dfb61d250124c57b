#include "plugins/torch_allocator/device_allocator.h"

#include <graphkit/annotate.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "libgraphkit/checked_number.h"

namespace graphkit::torch {
namespace {

void* PointerTo(Address address) { return reinterpret_cast<void*>(address); }  // NOLINT
Address AddressOf(const void* pointer) { return reinterpret_cast<Address>(pointer); }
void* StreamHandle(uint64_t stream) { return reinterpret_cast<void*>(stream); }  // NOLINT

}  // namespace

DeviceAllocator::DeviceAllocator(int device, const Settings& settings, CudaDriver* driver,
                                 PlanGuide* plan)
    : settings_(settings),
      driver_(driver),
      plan_(plan),
      segments_{.device = device},
      plain_segments_(driver, &segments_, "torch MemPool") {
  AddPool({0, 0}, "default")->kept = true;
}

void* DeviceAllocator::Malloc(Bytes size, uint64_t stream, bool* lent) {
  if (size == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  LookAtEvents();
  const StreamCapture info = driver_->CaptureOf(stream, true);
  void* made = nullptr;
  if (info.active) {
    made = MallocCaptured(size, stream, info);
  } else {
    PrivatePool* pool = Redirected(stream);
    if (pool == nullptr && !lendings_.empty()) made = MallocLent(size, stream);
    if (made != nullptr) {
      if (lent != nullptr) *lent = true;
    } else {
      made = MallocEager(size, stream, pool != nullptr ? pool : &pools_.front());
    }
  }
  ++(made != nullptr ? figures_.mallocs : figures_.out_of_memory);
  return made;
}

void* DeviceAllocator::MallocEager(Bytes size, uint64_t stream, PrivatePool* pool) {
  const auto ask = [&] {
    return pool->eager.Malloc({.size = size, .stream = stream, .capturing = !captures_.empty()});
  };
  std::optional<BlockHandle> handle = ask();
  if (!handle) {
    EndCaptures();
    GiveBackCached();
    handle = ask();
  }
  if (!handle) return nullptr;
  return HandOut({.address = pool->eager.address(*handle),
                  .requested = size,
                  .size = pool->eager.size(*handle),
                  .stream = stream,
                  .pool = pool,
                  .id = *handle});
}

void* DeviceAllocator::HandOut(Block block) {
  figures_.allocated += block.size;
  figures_.peak_allocated = std::max(figures_.peak_allocated, figures_.allocated);
  void* pointer = PointerTo(block.address);
  graphkit_alloc(pointer, block.requested, StreamHandle(block.stream));
  blocks_[block.address] = std::move(block);
  return pointer;
}

bool DeviceAllocator::RecordStream(void* pointer, uint64_t stream) {
  const std::lock_guard lock(mutex_);
  const auto at = blocks_.find(AddressOf(pointer));
  if (at == blocks_.end()) return false;
  Block& block = at->second;
  ++figures_.record_streams;
  if (stream == block.stream || std::ranges::find(block.streams, stream) != block.streams.end()) {
    return true;
  }
  block.streams.push_back(stream);
  graphkit_record_stream(pointer, block.requested, StreamHandle(stream));
  return true;
}

bool DeviceAllocator::Free(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto at = blocks_.find(AddressOf(pointer));
  if (at == blocks_.end()) return false;
  const Block block = std::move(at->second);
  blocks_.erase(at);
  ++figures_.frees;
  figures_.allocated -= block.size;
  if (block.lent) {
    FreeLent(block);
  } else if (!block.captured) {
    FreeEager(block);
  } else if (!FreeInCapture(block)) {
    WaitForStreams(block);
  }
  if (block.pool->unused()) GiveBackReleased();
  return true;
}

void DeviceAllocator::FreeEager(const Block& block) {
  block.pool->eager.RequestFree(block.id);
  WaitForStreams(block);
}

// Outside captures the block's own stream is ordered; the others are waited for.
void DeviceAllocator::WaitForStreams(const Block& block) {
  if (block.streams.empty()) return Complete(block);
  graphkit_free_requested(PointerTo(block.address), StreamHandle(block.stream));
  if (const std::optional<uint64_t> stream = CapturedStream(block)) {
    held_[*stream].push_back(block);
  } else {
    WaitForEvents(block);
  }
}

std::optional<uint64_t> DeviceAllocator::CapturedStream(const Block& block) {
  const auto captured = [this](uint64_t s) { return driver_->CaptureOf(s, false).maybe(); };
  if (captured(block.stream)) return block.stream;
  const auto at = std::ranges::find_if(block.streams, captured);
  if (at == block.streams.end()) return {};
  return *at;
}

// The block's memory may be used again.
void DeviceAllocator::Complete(const Block& block) {
  if (block.captured) {
    block.pool->live.FreeNow(BlockId(block.id));
    SayCompleted(block.pool);
    return;
  }
  graphkit_free_completed(PointerTo(block.address));
  if (block.lent) {
    if (block.lending != nullptr) block.lending->ranges.Give(block.address, block.size);
    return;
  }
  block.pool->eager.CompleteFree(block.id);
}

void DeviceAllocator::WaitForEvents(const Block& block) {
  const auto free = waiting_.insert(waiting_.end(), {block, 0});
  for (const uint64_t stream : block.streams) {
    const StreamMark mark = driver_->Record(segments_.device, stream);
    if (mark.over) continue;
    ++free->events;
    if (mark.event != nullptr) {
      events_[stream].push_back({mark.event, free});
    } else {
      unproved_.push_back(free);
    }
  }
  if (free->events > 0) return;
  Complete(block);
  waiting_.erase(free);
}

// One of the events that the block waits for.
void DeviceAllocator::EventOver(std::list<WaitingFree>::iterator free) {
  if (--free->events > 0) return;
  Complete(free->block);
  waiting_.erase(free);
}

// Each captured stream is asked once, however many blocks wait for it.
void DeviceAllocator::LookAtCaptures() {
  std::vector<Block> over;
  for (auto at = held_.begin(); at != held_.end();) {
    if (driver_->CaptureOf(at->first, false).maybe()) {
      ++at;
      continue;
    }
    std::ranges::move(at->second, std::back_inserter(over));
    at = held_.erase(at);
  }
  for (const Block& block : over) {
    if (const std::optional<uint64_t> stream = CapturedStream(block)) {
      held_[*stream].push_back(block);
    } else {
      WaitForEvents(block);
    }
  }
}

void DeviceAllocator::LookAtEvents() {
  if (!held_.empty()) LookAtCaptures();
  for (auto& [stream, events] : events_) {
    while (!events.empty() && driver_->Done(events.front().event)) {
      const auto free = events.front().free;
      driver_->Drop(events.front().event);
      events.pop_front();
      EventOver(free);
    }
  }
}

void DeviceAllocator::WaitForAll() {
  for (const auto& [stream, events] : events_) {
    if (!events.empty()) driver_->Wait(events.back().event);
  }
  LookAtEvents();
  if (unproved_.empty() || !captures_.empty() || !held_.empty()) return;
  if (!driver_->WaitForDevice(segments_.device)) return;
  for (const auto free : std::exchange(unproved_, {})) EventOver(free);
}

void DeviceAllocator::GiveBackCached() {
  WaitForAll();
  if (!captures_.empty()) return;
  GiveBackReleased();
  for (PrivatePool& pool : pools_) pool.eager.EmptyCache();
}

void DeviceAllocator::EmptyCache() {
  const std::lock_guard lock(mutex_);
  EndCaptures();
  GiveBackCached();
}

void DeviceAllocator::SetFraction(double fraction) {
  const std::lock_guard lock(mutex_);
  const std::optional<Bytes> total = driver_->TotalMemory(segments_.device);
  if (total) segments_.limit = SaturateWhole(static_cast<double>(*total) * fraction);
}

bool DeviceAllocator::BaseOf(const void* pointer, void** base, size_t* size) {
  const std::lock_guard lock(mutex_);
  auto after = segments_.segments.upper_bound(AddressOf(pointer));
  if (after == segments_.segments.begin()) return false;
  const auto& [address, bytes] = *std::prev(after);
  if (AddressOf(pointer) >= address + bytes) return false;
  *base = PointerTo(address);
  if (size != nullptr) *size = bytes;
  return true;
}

void* DeviceAllocator::SegmentMalloc(Bytes size) {
  if (size == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const std::optional<Address> address = plain_segments_.Allocate(size);
  ++(address ? figures_.mallocs : figures_.out_of_memory);
  if (!address) return nullptr;
  plain_[*address] = size;
  return PointerTo(*address);
}

bool DeviceAllocator::SegmentFree(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto at = plain_.find(AddressOf(pointer));
  if (at == plain_.end()) return false;
  ++figures_.frees;
  plain_segments_.Free(at->first, at->second);
  plain_.erase(at);
  return true;
}

}  // namespace graphkit::torch
