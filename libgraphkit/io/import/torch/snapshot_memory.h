// The memory of one snapshot as it becomes a trace: streams, pools with their graphs, segments and
// blocks. See torch_snapshot_trace.h.
#pragma once

#include <map>
#include <vector>

#include "libgraphkit/io/import/range_map.h"
#include "libgraphkit/io/import/torch/snapshot_start.h"
#include "libgraphkit/io/import/trace_maker.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

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
    RangeMap<Held> ranges;
    RangeMap<RangeOwner> at_end;
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
