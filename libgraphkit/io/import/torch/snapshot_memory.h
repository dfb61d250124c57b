// The state of an allocator before the first event of a snapshot's history, walked back from the
// state at its end:
//
//   events     alloc A   free B   alloc C   free A          end: C, D
//   at start   B, D
#pragma once

#include <map>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/io/import/trace_maker.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

// Whose a range is, by the numbers of the snapshot.
struct RangeOwner {
  uint64_t stream = 0;
  uint16_t pool = 0;  // index into TorchSnapshot::pools
  bool expandable = false;
};

struct StartBlock {
  Address address = 0;
  Bytes size = 0;  // as requested
  uint64_t stream = 0;
  StackId stack = {};
  bool pending = false;  // its free had been requested
};

struct SnapshotStart {
  IntervalMap<RangeOwner> ranges;
  std::vector<StartBlock> blocks;
  size_t unmatched = 0;  // allocations whose block is neither freed nor alive at the end, and
                         // blocks allocated where another one lay
  // One of a free's two events wasn't recorded (skip_actions of _record_memory_history, PyTorch
  // #168183): frees are known, how long they were deferred isn't.
  bool requests_skipped = false;
  bool completions_skipped = false;
};

// How many devices the file speaks of.
size_t DeviceCount(const TorchSnapshot& snapshot);

// The segments of the end, with whose they are.
IntervalMap<RangeOwner> OwnersAtEnd(const TorchSnapshot& snapshot, size_t device);

SnapshotStart FindStart(const TorchSnapshot& snapshot, size_t device);

// How many of the recorded allocations came out of each pool (index into TorchSnapshot::pools).
// Most snapshots say it of segments only.
std::vector<uint32_t> CountAllocs(const TorchSnapshot& snapshot, size_t device,
                                  const SnapshotStart& start);

// The memory of one snapshot as it becomes a trace: streams, pools with their graphs, segments and
// blocks. See torch_snapshot.h.

class SnapshotMemory {
 public:
  explicit SnapshotMemory(const TorchSnapshot& snapshot)
      : s_(snapshot), config_(ConfigOf(snapshot.settings)), devices_(DeviceCount(snapshot)) {}

  TraceMaker make;

  // The state before the first event of a device.
  void Start(uint32_t device, const SnapshotStart& start) {
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

  void Allocate(uint32_t device, const TorchEvent& event) {
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

  // Events that refer to no block are passed over.
  void RequestFree(uint32_t device, const TorchEvent& event, bool completed) {
    Device& d = devices_[device];
    const auto at = d.live.find(event.address);
    if (at == d.live.end()) return;
    RequestFree(device, at->second, event.stack, completed);
    if (!completed) d.pending[event.address] = at->second;
    d.live.erase(at);
  }

  void CompleteFree(uint32_t device, const TorchEvent& event) {
    Device& d = devices_[device];
    const auto at = d.pending.find(event.address);
    if (at == d.pending.end()) return;
    make.trace.blocks.Change(at->second.index(),
                             [&](Block& block) { block.free_completed = make.Next(); });
    d.pending.erase(at);
  }

  void Map(uint32_t device, const TorchEvent& event) {
    const StreamId stream = make.Stream(device, event.stream);
    AddSegment(device, {event.address, event.address + event.size},
               {stream, PoolOfSegment(device, event), event.action == TorchAction::kSegmentMap});
  }

  // Segments in the range end; their rests beside the range begin anew.
  void Unmap(uint32_t device, const TorchEvent& event) {
    const Interval<Address> range{event.address, event.address + event.size};
    for (const auto& [piece, held] : devices_[device].ranges.Remove(range)) {
      Segment& segment = make.trace.segments[held.segment.index()];
      segment.freed = make.Next();
      make.Free(segment.block);
      AddSegment(device, {piece.begin, range.begin}, held);
      AddSegment(device, {range.end, piece.end}, held);
    }
  }

  // After the last event: the blocks that are there have the sizes that the file gives them.
  void TakeFinalSizes() {
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

 private:
  struct Held {
    StreamId stream;
    PoolId pool;
    bool expandable = false;
    SegmentId segment = {};
  };
  struct Device {
    IntervalMap<Held> ranges;
    IntervalMap<RangeOwner> at_end;
    std::map<Address, BlockId> live;  // by where they begin
    std::map<Address, BlockId> pending;
    PoolId driver;  // what segments are made of
  };
  // A private pool's graph, and where each of its streams stands.
  struct PoolGraph {
    GraphId graph;
    uint32_t capture = 0;
    uint32_t allocs_left = 0;
    std::map<StreamId, NodeId> last_node;
    std::map<StreamId, bool> alloc_since;  // a block was allocated after that node
  };

  PoolId Pool(uint32_t device, uint16_t pool) {
    PoolId& id = pools_[{device, pool}];
    if (id) return id;
    const TorchPoolId name = pool < s_.pools.size() ? s_.pools[pool] : TorchPoolId{};
    if (name == TorchPoolId{}) return id = make.AddPool(PoolKind::kAllocator, "PyTorch");
    return id = make.AddPool(PoolKind::kPrivate, "private pool (" + std::to_string(name.first) +
                                                     ", " + std::to_string(name.second) + ")");
  }

  PoolId PoolAt(uint32_t device, Address address) {
    const Held* held = devices_[device].ranges.Find(address);
    return held ? held->pool : Pool(device, 0);
  }

  PoolId PoolOf(uint32_t device, const TorchEvent& event) {
    if (event.pool != TorchEvent::kNoPool) return Pool(device, event.pool);
    return PoolAt(device, event.address);
  }

  PoolId PoolOfSegment(uint32_t device, const TorchEvent& event) {
    if (event.pool != TorchEvent::kNoPool) return Pool(device, event.pool);
    const RangeOwner* at_end = devices_[device].at_end.Find(event.address);
    return Pool(device, at_end ? at_end->pool : uint16_t{0});
  }

  PoolId DriverPool(uint32_t device) {
    PoolId& id = devices_[device].driver;
    if (!id) id = make.AddPool(PoolKind::kDevice);
    return id;
  }

  PoolGraph* GraphOf(PoolId pool) {
    const auto found = graphs_.find(pool);
    return found == graphs_.end() ? nullptr : &found->second;
  }

  // The graph of a private pool begins with the pool's first recorded allocation.
  void BeginGraph(PoolGraph& pool, PoolId id, StreamId origin) {
    pool.graph = make.AddGraph(make.trace[make.trace[id].name]);
    pool.capture = static_cast<uint32_t>(make.trace.captures.size());
    make.trace.captures.push_back({.graph = pool.graph,
                                   .origin = origin,
                                   .status = CaptureStatus::kCompleted,
                                   .begin = make.Next()});
  }

  // Whatever the stream ran since its last node.
  void AddNode(PoolGraph& pool, StreamId stream) {
    if (!std::exchange(pool.alloc_since[stream], false)) return;
    const NodeId id =
        make.AddNode({.graph = pool.graph, .stream = stream, .source = Source::kDerived});
    const NodeId last = std::exchange(pool.last_node[stream], id);
    if (last) make.AddEdge(last, id, Source::kDerived);
  }

  void AddSegment(uint32_t device, Interval<Address> range, Held held) {
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

  // A free block is handed out whole where the rest wouldn't be split off: in the large pool one of
  // at most 1 MiB, or behind a block from max_split_size on (should_split and round_size in
  // c10/cuda/CUDACachingAllocator.cpp). Events have the sizes that were requested only.
  Bytes AllocatedAt(const Device& d, Address address, Bytes requested) const {
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

  void SetAllocated(BlockId id, Bytes bytes) {
    const Bytes rounded = RoundUp(make.trace[id].size, kBlockGranularity);
    const Bytes slack = bytes > rounded ? bytes - rounded : 0;
    if (slack == make.trace[id].slack) return;
    make.trace.blocks.Change(id.index(), [&](Block& block) { block.slack = slack; });
  }

  BlockId AddBlock(uint32_t device, const StartBlock& from, PoolId pool) {
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

  void RequestFree(uint32_t device, BlockId id, StackId stack, bool completed) {
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

  const TorchSnapshot& s_;
  CachingConfig config_;
  std::vector<Device> devices_;
  std::map<std::pair<uint32_t, uint16_t>, PoolId> pools_;
  std::map<PoolId, PoolGraph> graphs_;
};

}  // namespace graphkit
