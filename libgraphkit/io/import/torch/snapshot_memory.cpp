#include "libgraphkit/io/import/torch/snapshot_memory.h"

#include <unordered_set>

namespace graphkit {
namespace {

constexpr size_t kMostDevices = 1024;

std::span<const TorchEvent> EventsOf(const TorchSnapshot& snapshot, size_t device) {
  if (device >= snapshot.devices.size()) return {};
  const Slice run = snapshot.devices[device];
  return std::span(snapshot.events).subspan(run.first, run.count);
}

struct Rewinding {
  const TorchSnapshot& s;
  size_t device;
  SnapshotStart start = {};
  std::unordered_map<Address, Bytes> live = {};  // allocated among the events and not yet freed
  std::unordered_set<Address> pending = {};
  size_t completions = 0;
  size_t never_completed = 0;  // frees requested of blocks that weren't held back in the end

  SnapshotStart Run() {
    RewindRanges();
    CountFrees();
    for (const TorchEvent& event : EventsOf(s, device)) Walk(event);
    TakeFinalBlocks();
    start.completions_skipped = completions == 0 && never_completed > 0;
    if (!start.completions_skipped) start.unmatched += never_completed;
    start.unmatched += live.size();
    return std::move(start);
  }

  void RewindRanges() {
    start.ranges = OwnersAtEnd(s, device);
    const std::span<const TorchEvent> events = EventsOf(s, device);
    for (size_t i = events.size(); i-- > 0;) {
      const TorchEvent& event = events[i];
      if (Maps(event.action)) start.ranges.Remove(RangeOf(event));
      if (!Unmaps(event.action)) continue;
      const bool unknown = event.pool == TorchEvent::kNoPool;
      start.ranges.Add(RangeOf(event), {event.stream, unknown ? uint16_t{0} : event.pool,
                                        event.action == TorchAction::kSegmentUnmap});
    }
  }

  void CountFrees() {
    size_t requests = 0;
    for (const TorchEvent& event : EventsOf(s, device)) {
      requests += event.action == TorchAction::kFreeRequested;
      completions += event.action == TorchAction::kFreeCompleted;
    }
    start.requests_skipped = requests == 0 && completions > 0;
  }

  void Walk(const TorchEvent& event) {
    switch (event.action) {
      case TorchAction::kAlloc:
        if (!live.insert_or_assign(event.address, event.size).second) ++start.unmatched;
        if (!pending.empty()) never_completed += pending.erase(event.address);
        break;
      case TorchAction::kFreeRequested:
        if (live.erase(event.address) == 0) {
          start.blocks.push_back({event.address, event.size, event.stream, {}, false});
        }
        pending.insert(event.address);
        break;
      case TorchAction::kFreeCompleted:
        if (pending.erase(event.address) > 0) break;
        if (start.requests_skipped ? live.erase(event.address) > 0 : live.contains(event.address)) {
          break;
        }
        start.blocks.push_back(
            {event.address, event.size, event.stream, {}, !start.requests_skipped});
        break;
      default:
        break;
    }
  }

  // A block that lives at the end and wasn't allocated among the events was there before them.
  void TakeFinalBlocks() {
    bool segments = false;
    size_t still_pending = 0;
    for (const TorchSegment& segment : s.segments) {
      if (segment.device != static_cast<int32_t>(device)) continue;
      segments = true;
      for (uint32_t i = 0; i < segment.blocks.count; ++i) {
        const TorchBlock& block = s.blocks[segment.blocks.first + i];
        if (block.state == TorchBlockState::kInactive || live.erase(block.address) > 0) continue;
        const bool held_back = block.state == TorchBlockState::kPendingFree;
        if (held_back && pending.contains(block.address)) {
          ++still_pending;
          continue;
        }
        start.blocks.push_back(
            {block.address, block.requested_size, segment.stream, block.stack, held_back});
      }
    }
    if (segments) never_completed += pending.size() - still_pending;
  }
};

}  // namespace

size_t DeviceCount(const TorchSnapshot& snapshot) {
  size_t count = snapshot.devices.size();
  for (const TorchSegment& segment : snapshot.segments) {
    if (segment.device >= 0 && static_cast<size_t>(segment.device) < kMostDevices) {
      count = std::max(count, static_cast<size_t>(segment.device) + 1);
    }
  }
  return std::min(count, kMostDevices);
}

IntervalMap<RangeOwner> OwnersAtEnd(const TorchSnapshot& snapshot, size_t device) {
  IntervalMap<RangeOwner> ranges;
  for (const TorchSegment& segment : snapshot.segments) {
    if (segment.device != static_cast<int32_t>(device)) continue;
    ranges.Add({segment.address, segment.address + segment.total_size},
               {segment.stream, segment.pool, segment.expandable});
  }
  return ranges;
}

SnapshotStart FindStart(const TorchSnapshot& snapshot, size_t device) {
  return Rewinding{snapshot, device}.Run();
}

std::vector<uint32_t> CountAllocs(const TorchSnapshot& snapshot, size_t device,
                                  const SnapshotStart& start) {
  std::vector<uint32_t> counts(snapshot.pools.size());
  if (counts.size() < 2) return counts;
  const IntervalMap<RangeOwner> at_end = OwnersAtEnd(snapshot, device);
  IntervalMap<RangeOwner> ranges = start.ranges;
  for (const TorchEvent& event : EventsOf(snapshot, device)) {
    const auto pool_in = [&](const IntervalMap<RangeOwner>& in) {
      if (event.pool < counts.size()) return event.pool;
      const RangeOwner* owner = in.Find(event.address);
      return owner ? owner->pool : uint16_t{0};
    };
    if (event.action == TorchAction::kAlloc) ++counts[pool_in(ranges)];
    if (Maps(event.action)) ranges.Add(RangeOf(event), {event.stream, pool_in(at_end), false});
    if (Unmaps(event.action)) ranges.Remove(RangeOf(event));
  }
  return counts;
}

void SnapshotMemory::Start(uint32_t device, const SnapshotStart& start) {
  Device& d = devices_[device];
  d.at_end = OwnersAtEnd(s_, device);
  for (const auto& [begin, held] : start.ranges.all()) {
    AddSegment(device, held.range,
               {make.Stream(device, held.value.stream), Pool(device, held.value.pool),
                held.value.expandable});
  }
  for (const StartBlock& block : start.blocks) {
    const BlockId id = AddBlock(device, block, PoolAt(device, block.address));
    if (!block.pending) continue;
    RequestFree(device, id, {}, false);
    d.live.erase(block.address);
    d.pending[block.address] = id;
  }
  for (const auto* blocks : {&d.live, &d.pending}) {
    for (const auto& [address, id] : *blocks) {
      SetAllocated(id, AllocatedAt(d, address, make.trace[id].size));
    }
  }
  const std::vector<uint32_t> allocs = CountAllocs(s_, device, start);
  for (size_t pool = 1; pool < allocs.size(); ++pool) {
    if (allocs[pool] == 0) continue;
    graphs_[Pool(device, static_cast<uint16_t>(pool))].allocs_left = allocs[pool];
  }
}

PoolId SnapshotMemory::Pool(uint32_t device, uint16_t pool) {
  PoolId& id = pools_[{device, pool}];
  if (id) return id;
  const TorchPoolId name = pool < s_.pools.size() ? s_.pools[pool] : TorchPoolId{};
  if (name == TorchPoolId{}) return id = make.AddPool(PoolKind::kAllocator, "PyTorch");
  return id = make.AddPool(PoolKind::kPrivate, "private pool (" + std::to_string(name.first) +
                                                   ", " + std::to_string(name.second) + ")");
}

PoolId SnapshotMemory::PoolAt(uint32_t device, Address address) {
  const Held* held = devices_[device].ranges.Find(address);
  return held ? held->pool : Pool(device, 0);
}

PoolId SnapshotMemory::PoolOf(uint32_t device, const TorchEvent& event) {
  if (event.pool != TorchEvent::kNoPool) return Pool(device, event.pool);
  return PoolAt(device, event.address);
}

PoolId SnapshotMemory::PoolOfSegment(uint32_t device, const TorchEvent& event) {
  if (event.pool != TorchEvent::kNoPool) return Pool(device, event.pool);
  const RangeOwner* at_end = devices_[device].at_end.Find(event.address);
  return Pool(device, at_end ? at_end->pool : uint16_t{0});
}

PoolId SnapshotMemory::DriverPool(uint32_t device) {
  PoolId& id = devices_[device].driver;
  if (!id) id = make.AddPool(PoolKind::kDevice);
  return id;
}

SnapshotMemory::PoolGraph* SnapshotMemory::GraphOf(PoolId pool) {
  const auto found = graphs_.find(pool);
  return found == graphs_.end() ? nullptr : &found->second;
}

// The graph of a private pool begins with the pool's first recorded allocation.
void SnapshotMemory::BeginGraph(PoolGraph& pool, PoolId id, StreamId origin) {
  pool.graph = make.AddGraph(make.trace[make.trace[id].name]);
  pool.capture = static_cast<uint32_t>(make.trace.captures.size());
  make.trace.captures.push_back({.graph = pool.graph,
                                 .origin = origin,
                                 .status = CaptureStatus::kCompleted,
                                 .begin = make.Next()});
}

// Whatever the stream ran since its last node.
void SnapshotMemory::AddNode(PoolGraph& pool, StreamId stream) {
  if (!std::exchange(pool.alloc_since[stream], false)) return;
  const NodeId id =
      make.AddNode({.graph = pool.graph, .stream = stream, .source = Source::kDerived});
  const NodeId last = std::exchange(pool.last_node[stream], id);
  if (last) make.AddEdge(last, id, Source::kDerived);
}

void SnapshotMemory::AddSegment(uint32_t device, Interval<Address> range, Held held) {
  if (range.empty()) return;
  const BlockId memory =
      make.AddBlock({.address = range.begin, .size = range.size(), .pool = DriverPool(device)});
  held.segment = SegmentId(make.trace.segments.size());
  make.trace.segments.push_back({.address = range.begin,
                                 .size = range.size(),
                                 .pool = held.pool,
                                 .stream = held.stream,
                                 .block = memory,
                                 .allocated = make.Next()});
  devices_[device].ranges.Add(range, held);
}

void SnapshotMemory::Map(uint32_t device, const TorchEvent& event) {
  const StreamId stream = make.Stream(device, event.stream);
  AddSegment(device, {event.address, event.address + event.size},
             {stream, PoolOfSegment(device, event), event.action == TorchAction::kSegmentMap});
}

// Segments in the range end; their rests beside the range begin anew.
void SnapshotMemory::Unmap(uint32_t device, const TorchEvent& event) {
  const Interval<Address> range{event.address, event.address + event.size};
  for (const auto& [piece, held] : devices_[device].ranges.Remove(range)) {
    Segment& segment = make.trace.segments[held.segment.index()];
    segment.freed = make.Next();
    make.Free(segment.block);
    AddSegment(device, {piece.begin, range.begin}, held);
    AddSegment(device, {range.end, piece.end}, held);
  }
}

// A free block is handed out whole where the rest wouldn't be split off: in the large pool one of
// at most 1 MiB, or behind a block from max_split_size on (should_split and round_size in
// c10/cuda/CUDACachingAllocator.cpp). Events have the sizes that were requested only.
Bytes SnapshotMemory::AllocatedAt(const Device& d, Address address, Bytes requested) const {
  const Bytes rounded = RoundRequest(config_, requested);
  const Held* held = d.ranges.Find(address);
  if (!held || held->expandable || config_.expandable_segments || IsSmall(config_, rounded)) {
    return rounded;
  }
  const Segment& segment = make.trace[held->segment];
  Address end = segment.address + segment.size;
  for (const auto* blocks : {&d.live, &d.pending}) {
    const auto next = blocks->upper_bound(address);
    if (next != blocks->end()) end = std::min(end, next->first);
  }
  const Bytes free = end - address;
  if (free < rounded) return rounded;
  const bool split = rounded < config_.max_split_size && free - rounded > config_.small_size;
  return split ? rounded : free;
}

void SnapshotMemory::SetAllocated(BlockId id, Bytes bytes) {
  const Bytes rounded = RoundUp(make.trace[id].size, kBlockGranularity);
  const Bytes slack = bytes > rounded ? bytes - rounded : 0;
  if (slack == make.trace[id].slack) return;
  make.trace.blocks.Change(id.index(), [&](Block& block) { block.slack = slack; });
}

void SnapshotMemory::TakeFinalSizes() {
  for (const TorchSegment& segment : s_.segments) {
    const auto device = static_cast<size_t>(segment.device);
    if (device >= devices_.size()) continue;
    for (uint32_t i = 0; i < segment.blocks.count; ++i) {
      const TorchBlock& block = s_.blocks[segment.blocks.first + i];
      if (block.state == TorchBlockState::kInactive) continue;
      for (const auto* blocks : {&devices_[device].live, &devices_[device].pending}) {
        const auto at = blocks->find(block.address);
        if (at != blocks->end()) SetAllocated(at->second, block.size);
      }
    }
  }
}

BlockId SnapshotMemory::AddBlock(uint32_t device, const StartBlock& from, PoolId pool) {
  Device& d = devices_[device];
  Block block{.address = from.address,
              .size = from.size,
              .pool = pool,
              .stream = make.Stream(device, from.stream),
              .stack = from.stack};
  if (const Held* held = d.ranges.Find(from.address)) block.segment = held->segment;
  PoolGraph* graph = GraphOf(pool);
  if (graph && graph->graph && graph->allocs_left > 0) {
    block.graph = graph->graph;
    graph->alloc_since[block.stream] = true;
  }
  return d.live[from.address] = make.AddBlock(block);
}

void SnapshotMemory::Allocate(uint32_t device, const TorchEvent& event) {
  const PoolId pool = PoolOf(device, event);
  const StreamId stream = make.Stream(device, event.stream);
  PoolGraph* graph = GraphOf(pool);
  if (graph && !graph->graph) BeginGraph(*graph, pool, stream);
  const BlockId id =
      AddBlock(device, {event.address, event.size, event.stream, event.stack, false}, pool);
  SetAllocated(id, AllocatedAt(devices_[device], event.address, event.size));
  if (!graph || graph->allocs_left == 0 || --graph->allocs_left > 0) return;
  make.trace.captures[graph->capture].end = make.Next();
}

void SnapshotMemory::RequestFree(uint32_t device, BlockId id, StackId stack, bool completed) {
  const Block block = make.trace.blocks[id.index()];
  PoolGraph* graph = block.graph ? GraphOf(block.pool) : nullptr;
  if (graph && graph->allocs_left > 0) AddNode(*graph, block.stream);
  if (!completed && graph) {
    const StreamId other = make.NamedStream(device, "not in the snapshot");
    make.trace.block_streams.push_back({id, other, make.Next()});
  }
  make.Free(id, block.stream);
  make.trace.blocks.Change(id.index(), [&](Block& freed) {
    freed.free_stack = stack;
    if (!completed) freed.free_completed = kNever;
  });
}

void SnapshotMemory::RequestFree(uint32_t device, const TorchEvent& event, bool completed) {
  Device& d = devices_[device];
  const auto at = d.live.find(event.address);
  if (at == d.live.end()) return;
  RequestFree(device, at->second, event.stack, completed);
  if (!completed) d.pending[event.address] = at->second;
  d.live.erase(at);
}

void SnapshotMemory::CompleteFree(uint32_t device, const TorchEvent& event) {
  Device& d = devices_[device];
  const auto at = d.pending.find(event.address);
  if (at == d.pending.end()) return;
  make.trace.blocks.Change(at->second.index(),
                           [&](Block& block) { block.free_completed = make.Next(); });
  d.pending.erase(at);
}

}  // namespace graphkit
