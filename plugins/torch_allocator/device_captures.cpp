// Mallocs and frees in captures.
#include <graphkit/annotate.h>

#include <algorithm>

#include "plugins/torch_allocator/device_allocator.h"

namespace graphkit::torch {
namespace {

constexpr uint64_t kNoPool = ~uint64_t{0};  // of the key of a capture that none was begun for

}  // namespace

DeviceAllocator::OpenCapture& DeviceAllocator::Open(const StreamCapture& info, uint64_t stream) {
  const auto at = std::ranges::find(captures_, info.id, &OpenCapture::id);
  if (at != captures_.end()) return *at;
  const auto edges = [this](uint64_t node, std::vector<LiveEdge>* in) {
    return driver_->EdgesInto(node, in);
  };
  return captures_.emplace_back(
      OpenCapture{.id = info.id, .stream = stream, .order = LiveOrder(settings_.edges, edges)});
}

PrivatePool* DeviceAllocator::PoolOfCapture(uint64_t stream, uint64_t capture) {
  if (PrivatePool* pool = Redirected(stream)) return pool;
  const PoolKey key{capture, kNoPool};
  if (PrivatePool* pool = FindPool(key)) return pool;
  PrivatePool* pool = AddPool(key, "capture " + std::to_string(capture) + " without a pool");
  pool->kept = true;
  return pool;
}

void DeviceAllocator::JoinCapture(PrivatePool* pool, OpenCapture* capture) {
  if (std::ranges::find(capture->pools, pool) != capture->pools.end()) return;
  capture->pools.push_back(pool);
  pool->live.BeginCapture({.capture = capture->id, .order = &capture->order});
}

void* DeviceAllocator::MallocCaptured(Bytes size, uint64_t stream, const StreamCapture& info) {
  if (captures_.empty() || captures_.back().id != info.id) EndCaptures();
  OpenCapture& capture = Open(info, stream);
  if (!capture.counted) {
    capture.counted = true;
    ++figures_.captures;
    if (plan_ != nullptr) capture.plan = plan_->NextCapture();
  }
  PrivatePool* pool = PoolOfCapture(stream, info.id);
  JoinCapture(pool, &capture);
  LiveAsker asker{.capture = info.id, .stream = stream, .order = &capture.order};
  if (info.known) asker.point = capture.order.PointAfter(info.frontier);
  const std::optional<BlockId> id = Place(size, pool, &capture, asker);
  if (!id) return nullptr;
  ++figures_.captured_mallocs;
  SayCompleted(pool);
  return HandOut({.address = pool->live.address(*id),
                  .requested = size,
                  .size = pool->live.size(*id),
                  .stream = stream,
                  .pool = pool,
                  .captured = true,
                  .id = id->value,
                  .capture = info.id,
                  .since = capture.order.nodes()});
}

std::optional<BlockId> DeviceAllocator::Place(Bytes size, PrivatePool* pool, OpenCapture* capture,
                                              const LiveAsker& asker) {
  if (plan_ != nullptr) {
    if (const auto id = PlaceAsPlanned(size, pool, capture, asker)) return id;
  }
  return pool->live.Malloc(size, asker);
}

std::optional<BlockId> DeviceAllocator::PlaceAsPlanned(Bytes size, PrivatePool* pool,
                                                       OpenCapture* capture,
                                                       const LiveAsker& asker) {
  PlannedUse* use = PlanOf(pool, capture);
  const std::optional<Bytes> offset = use != nullptr ? use->cursor.Next(size) : std::nullopt;
  if (!offset) {
    ++figures_.plan_departures;
    return {};
  }
  std::optional<BlockId> id;
  if (use->arena != nullptr) {
    id = pool->live.MallocAt(use->arena, *offset, size, asker, settings_.trust_plan);
  }
  ++(id ? figures_.planned : figures_.plan_refusals);
  return id;
}

DeviceAllocator::PlannedUse* DeviceAllocator::PlanOf(PrivatePool* pool, OpenCapture* capture) {
  if (capture->plan == nullptr) return nullptr;
  const uint64_t key = plan_->planned.sequence ? 0 : capture->id;
  size_t pools = 0;
  for (PlannedUse& use : planned_) {
    if (use.capture != key) continue;
    if (use.pool == pool) return &use;
    ++pools;
  }
  if (pools >= capture->plan->size()) return nullptr;
  const PlannedPool& planned = (*capture->plan)[pools];
  PlanArena* arena = pool->live.AddArena(planned.size, planned.borrow);
  return &planned_.emplace_back(PlannedUse{key, pool, PlanCursor(&planned), arena});
}

// True if the block is free by order, or when its capture ends. Otherwise it was freed outside
// captures.
bool DeviceAllocator::FreeInCapture(const Block& block) {
  std::vector<StreamCapture> streams{driver_->CaptureOf(block.stream, true)};
  for (const uint64_t s : block.streams) streams.push_back(driver_->CaptureOf(s, true));
  const auto in = std::ranges::find_if(streams, &StreamCapture::active);
  if (in == streams.end()) return false;
  const auto index = static_cast<size_t>(in - streams.begin());
  OpenCapture& capture = Open(*in, index == 0 ? block.stream : block.streams[index - 1]);
  JoinCapture(block.pool, &capture);
  FreeByOrder(block, &capture, streams);
  return true;
}

void DeviceAllocator::FreeByOrder(const Block& block, OpenCapture* capture,
                                  const std::vector<StreamCapture>& streams) {
  LivePool& live = block.pool->live;
  const size_t since = block.capture == capture->id ? block.since : 0;
  std::vector<NodeId> markers;
  const bool known = std::ranges::all_of(streams, [&](const StreamCapture& s) {
    return s.active && s.id == capture->id && s.known &&
           capture->order.AddMarkers(s.frontier, since, &markers);
  });
  if (known) {
    live.Free(BlockId(block.id), capture->id, markers);
    live.Progress({.capture = capture->id,
                   .stream = block.stream,
                   .order = &capture->order,
                   .point = capture->order.PointAfter(streams[0].frontier)});
  } else {
    live.FreeAtEnd(BlockId(block.id), capture->id);
  }
  if (!live.completed(BlockId(block.id))) {
    graphkit_free_requested(reinterpret_cast<const void*>(block.address),  // NOLINT
                            reinterpret_cast<void*>(block.stream));        // NOLINT
  }
  SayCompleted(block.pool);
}

void DeviceAllocator::SayCompleted(PrivatePool* pool) {
  for (const BlockId id : pool->live.TakeCompleted()) {
    graphkit_free_completed(reinterpret_cast<const void*>(pool->live.address(id)));  // NOLINT
  }
}

// Those whose streams aren't captured any more.
void DeviceAllocator::EndCaptures() {
  for (auto at = captures_.begin(); at != captures_.end();) {
    const StreamCapture now = driver_->CaptureOf(at->stream, false);
    if (now.unsure || (now.active && now.id == at->id)) {
      ++at;
      continue;
    }
    for (PrivatePool* pool : at->pools) {
      pool->live.EndCapture(at->id);
      SayCompleted(pool);
    }
    EndPlan(at->id);
    at = captures_.erase(at);
  }
}

void DeviceAllocator::EndPlan(uint64_t capture) {
  std::erase_if(planned_, [&](const PlannedUse& use) {
    if (use.capture != capture) return false;
    figures_.plan_unused += use.cursor.skipped() + use.cursor.left();
    return true;
  });
}

}  // namespace graphkit::torch
