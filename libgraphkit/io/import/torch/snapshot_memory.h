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
// blocks. See torch_snapshot_trace.h.

class SnapshotMemory {
 public:
  explicit SnapshotMemory(const TorchSnapshot& snapshot)
      : s_(snapshot), config_(ConfigOf(snapshot.settings)), devices_(DeviceCount(snapshot)) {}

  TraceMaker make;

  // The state before the first event of a device.
  void Start(uint32_t device, const SnapshotStart& start);

  void Allocate(uint32_t device, const TorchEvent& event);
  // Events that refer to no block are passed over.
  void RequestFree(uint32_t device, const TorchEvent& event, bool completed);
  void CompleteFree(uint32_t device, const TorchEvent& event);
  void Map(uint32_t device, const TorchEvent& event);
  void Unmap(uint32_t device, const TorchEvent& event);
  // After the last event: the blocks that are there have the sizes that the file gives them.
  void TakeFinalSizes();

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

  PoolId Pool(uint32_t device, uint16_t pool);
  PoolId PoolAt(uint32_t device, Address address);
  PoolId PoolOf(uint32_t device, const TorchEvent& event);
  PoolId PoolOfSegment(uint32_t device, const TorchEvent& event);
  PoolId DriverPool(uint32_t device);
  PoolGraph* GraphOf(PoolId pool);
  void BeginGraph(PoolGraph& pool, PoolId id, StreamId origin);
  void AddNode(PoolGraph& pool, StreamId stream);
  void AddSegment(uint32_t device, Interval<Address> range, Held held);
  Bytes AllocatedAt(const Device& device, Address address, Bytes requested) const;
  void SetAllocated(BlockId block, Bytes bytes);
  BlockId AddBlock(uint32_t device, const StartBlock& block, PoolId pool);
  void RequestFree(uint32_t device, BlockId block, StackId stack, bool completed);

  const TorchSnapshot& s_;
  CachingConfig config_;
  std::vector<Device> devices_;
  std::map<std::pair<uint32_t, uint16_t>, PoolId> pools_;
  std::map<PoolId, PoolGraph> graphs_;
};

}  // namespace graphkit
