// Where things stand in the drawings of the report: nodes and blocks over capture order, nodes on
// lanes, blocks at addresses.
//
//     capture order   malloc x   k0      k1      free x   malloc y   k2
//     x, in quarters  0          1       5       9        10         11         15
//
// A node is four quarters wide, an allocation or a free one; all else in the trace takes no room.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

struct ReportLane {
  std::string title;
  GraphId graph;    // whose nodes lie here; none: a stream of the whole program
  StreamId stream;  // none: nodes without one
  bool operator==(const ReportLane&) const = default;
};

// A node, or a launch.
template <typename IdType>
struct LanePlace {
  IdType id;
  uint32_t x = 0;
  uint32_t lane = 0;
  bool operator==(const LanePlace&) const = default;
};

// Live in [begin, freed), deferred in [freed, end).
struct BlockPlace {
  BlockId block;
  uint32_t begin = 0;
  uint32_t freed = 0;
  uint32_t end = 0;
  Bytes offset = 0;
  bool operator==(const BlockPlace&) const = default;
};

// Memory that lies together: a segment, or neighbouring driver allocations.
struct MemoryBand {
  PoolId pool;
  SegmentId segment;
  Bytes offset = 0;
  Bytes size = 0;
  bool operator==(const MemoryBand&) const = default;
};

// A block as the policy places it.
struct PolicyPlace {
  BlockId block;
  Bytes offset = 0;
  bool operator==(const PolicyPlace&) const = default;
};

// One graph that a user launches, with the graphs inside it; or the whole program.
struct ReportView {
  GraphId root;  // none: the whole program
  uint32_t width = 0;
  std::vector<ReportLane> lanes = {};
  std::vector<LanePlace<NodeId>> nodes = {};  // by x
  std::vector<BlockPlace> blocks = {};        // by begin
  std::vector<MemoryBand> bands = {};         // by offset
  Bytes extent = 0;                           // of the bands
  std::vector<LanePlace<LaunchId>> launches = {};
  std::vector<PolicyPlace> policy = {};  // by block
  std::vector<MemoryBand> policy_bands = {};
  Bytes policy_extent = 0;
  std::vector<NodeId> path = {};      // the longest one
  std::vector<uint32_t> events = {};  // x of each event of a snapshot, in the whole program
  bool operator==(const ReportView&) const = default;
};

// A view for each graph that isn't inside another, and last, unless one graph is all there is, the
// whole program. `policy` may be null.
std::vector<ReportView> LayOutReport(const Facts& facts, const PolicyReplay* policy);

// Addresses without the gaps: where blocks lie when only the memory that they use is drawn.
struct CompactMemory {
  std::vector<MemoryBand> bands;  // by pool, then by address
  std::vector<Bytes> offsets;     // of each block
  Bytes extent = 0;
};

// Of each segment all of it, or what lies between the lowest and the highest address used; of
// blocks outside segments what they cover. The latter's extent is `recorded_extent_bytes` of the
// report.
CompactMemory CompactAddresses(const Ran& trace, std::span<const BlockId> blocks,
                               bool whole_segments);

}  // namespace graphkit
