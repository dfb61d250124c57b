// Pools, and what is said of them.
#include <algorithm>

#include "plugins/torch_allocator/device_allocator.h"

namespace graphkit::torch {

PrivatePool* DeviceAllocator::FindPool(const PoolKey& key) {
  const auto at = std::ranges::find(pools_, key, &PrivatePool::key);
  return at != pools_.end() ? &*at : nullptr;
}

PrivatePool* DeviceAllocator::AddPool(const PoolKey& key, const std::string& name) {
  PrivatePool& pool = pools_.emplace_back(key, name, driver_, &segments_);
  pool.eager.set_synchronize_callback([this] { WaitForAll(); });
  return &pool;
}

// Where the stream's mallocs go to; null: the default pool.
PrivatePool* DeviceAllocator::Redirected(uint64_t stream) {
  for (auto at = redirections_.rbegin(); at != redirections_.rend(); ++at) {
    if (!at->filter || at->filter(stream)) return at->pool;
  }
  return nullptr;
}

void DeviceAllocator::BeginPool(const PoolKey& key, StreamFilter filter) {
  const std::lock_guard lock(mutex_);
  PrivatePool* pool = FindPool(key);
  if (pool == nullptr) {
    const std::string name = std::to_string(key.first) + "." + std::to_string(key.second);
    pool = AddPool(key, "pool " + name);
  }
  ++pool->users;
  redirections_.push_back({pool, std::move(filter)});
}

void DeviceAllocator::EndPool(const PoolKey& key) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(redirections_.rbegin(), redirections_.rend(),
                               [&](const Redirection& r) { return r.pool->key == key; });
  if (at != redirections_.rend()) redirections_.erase(std::next(at).base());
  EndCaptures();
}

void DeviceAllocator::ReleasePool(const PoolKey& key) {
  const std::lock_guard lock(mutex_);
  PrivatePool* pool = FindPool(key);
  if (pool == nullptr) return;
  --pool->users;
  EndCaptures();
  GiveBackReleased();
}

// Not while captures go on: giving memory back may wait for the device.
void DeviceAllocator::GiveBackReleased() {
  if (!captures_.empty()) return;
  for (auto at = pools_.begin(); at != pools_.end();) {
    PrivatePool* pool = &*at++;
    const auto of_pool = [&](const auto& use) { return use.pool == pool; };
    if (!pool->unused() || std::ranges::any_of(redirections_, of_pool)) continue;
    const LivePoolFigures figures = pool->live.figures();
    figures_.proved_frees += figures.found;
    figures_.deferred_frees += figures.deferred;
    figures_.deferred_bytes += figures.deferred_bytes;
    std::erase_if(planned_, of_pool);
    pool->live.Release();
    pool->eager.EmptyCache();
    pools_.erase(std::prev(at));
  }
}

graphkit_allocator_figures DeviceAllocator::figures() {
  const std::lock_guard lock(mutex_);
  graphkit_allocator_figures now = figures_;
  now.reserved = segments_.reserved;
  now.peak_reserved = segments_.peak_reserved;
  for (const PrivatePool& pool : pools_) {
    now.proved_frees += pool.live.figures().found;
    now.deferred_frees += pool.live.figures().deferred;
    now.deferred_bytes += pool.live.figures().deferred_bytes;
  }
  for (const PlannedUse& use : planned_) now.plan_unused += use.cursor.skipped();
  return now;
}

void DeviceAllocator::ResetPeaks() {
  const std::lock_guard lock(mutex_);
  figures_.peak_allocated = figures_.allocated;
  segments_.peak_reserved = segments_.reserved;
}

}  // namespace graphkit::torch
