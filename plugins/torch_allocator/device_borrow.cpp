// Memory of a graph's pool for mallocs outside of captures, between two launches.
#include <algorithm>

#include "plugins/torch_allocator/device_allocator.h"

namespace graphkit::torch {

Bytes DeviceAllocator::Borrow(const PoolKey& key, uint64_t stream) {
  const std::lock_guard lock(mutex_);
  EndCaptures();
  PrivatePool* pool = FindPool(key);
  if (pool == nullptr || LendingOf(pool) != nullptr) return 0;
  const auto captured = [pool](const OpenCapture& capture) {
    return std::ranges::find(capture.pools, pool) != capture.pools.end();
  };
  if (std::ranges::any_of(captures_, captured)) return 0;
  LentRanges ranges(pool->live.Lendable());
  if (ranges.bytes() == 0) return 0;
  ++pool->lent;
  lendings_.push_back({pool, std::this_thread::get_id(), stream, std::move(ranges)});
  return lendings_.back().ranges.bytes();
}

DeviceAllocator::Lending* DeviceAllocator::LendingOf(const PrivatePool* pool) {
  const auto at = std::ranges::find(lendings_, pool, &Lending::pool);
  return at != lendings_.end() ? &*at : nullptr;
}

void* DeviceAllocator::MallocLent(Bytes size, uint64_t stream) {
  const auto serves = [&](const Lending& lending) {
    return lending.open && lending.stream == stream && lending.thread == std::this_thread::get_id();
  };
  const auto lending = std::ranges::find_if(lendings_, serves);
  if (lending == lendings_.end()) return nullptr;
  const Bytes rounded = RoundUp(size, kBlockGranularity);
  const std::optional<Address> address = lending->ranges.Take(rounded);
  if (!address) return nullptr;
  lending->blocks[*address] = rounded;
  lending->used += rounded;
  ++figures_.borrowed;
  figures_.peak_borrowed = std::max<uint64_t>(figures_.peak_borrowed, lending->used);
  return HandOut({.address = *address,
                  .requested = size,
                  .size = rounded,
                  .stream = stream,
                  .pool = lending->pool,
                  .lent = true,
                  .lending = &*lending});
}

// The host let go of it; its streams may still use it.
void DeviceAllocator::FreeLent(const Block& block) {
  Lending& lending = *block.lending;
  lending.blocks.erase(block.address);
  lending.used -= block.size;
  for (const uint64_t stream : block.streams) {
    if (std::ranges::find(lending.streams, stream) == lending.streams.end()) {
      lending.streams.push_back(stream);
    }
  }
  WaitForStreams(block);
}

std::vector<LentBlock> DeviceAllocator::Return(const PoolKey& key) {
  const std::lock_guard lock(mutex_);
  PrivatePool* pool = FindPool(key);
  Lending* lending = pool != nullptr ? LendingOf(pool) : nullptr;
  if (lending == nullptr) return {};
  lending->open = false;
  std::vector<LentBlock> late;
  for (const auto& [address, size] : lending->blocks) late.push_back({address, size});
  if (!late.empty()) return late;
  const bool ordered = std::ranges::all_of(
      lending->streams, [&](uint64_t stream) { return WaitFor(stream, lending->stream); });
  if (!ordered) return {LentBlock{}};
  Forget(lending);
  return {};
}

// Orders the later work of `later` after all present work of `stream`.
bool DeviceAllocator::WaitFor(uint64_t stream, uint64_t later) {
  const StreamMark mark = driver_->Record(segments_.device, stream);
  if (mark.over) return true;
  const bool ordered =
      mark.event != nullptr && driver_->LetWait(segments_.device, later, mark.event);
  if (mark.event != nullptr) driver_->Drop(mark.event);
  return ordered || driver_->WaitForDevice(segments_.device);
}

// Blocks of it that still wait for their streams are over for who comes after its stream.
void DeviceAllocator::Forget(Lending* lending) {
  const auto let_go = [lending](Block* block) {
    if (block->lending == lending) block->lending = nullptr;
  };
  for (WaitingFree& free : waiting_) let_go(&free.block);
  for (auto& [stream, blocks] : held_) std::ranges::for_each(blocks, [&](Block& b) { let_go(&b); });
  --lending->pool->lent;
  lendings_.remove_if([lending](const Lending& other) { return &other == lending; });
  GiveBackReleased();
}

}  // namespace graphkit::torch
