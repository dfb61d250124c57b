// The pools of graphs that share them (libgraphkit/alloc/plan/pool_sharers.h), while a policy is
// replayed from one graph to the next: what a graph finds there when its capture begins.
//
//     segment 3   | a (lives) |  hole  | b (lives) | hole |      a graph's mallocs may take the
//     segment 7   |            hole                       |      holes of their own stream
#pragma once

#include <map>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

struct MemoryHole {
  Bytes offset = 0;
  Bytes size = 0;
  StreamId owner;
  bool small = false;
  bool operator==(const MemoryHole&) const = default;
};

struct HeldMemory {
  std::vector<MemoryHole> holes;
  Bytes end = 0;
  bool operator==(const HeldMemory&) const = default;
};

class HeldPools {
 public:
  HeldPools(const Trace& trace, const CachingConfig& config) : trace_(trace), config_(config) {}

  // A graph's first allocation: blocks stay whose free wasn't requested before.
  void Begin(Seq begin);
  Bytes living() const { return living_; }      // bytes of blocks that stayed
  Bytes reserved() const { return reserved_; }  // of segments
  // The highest byte that a block had, without segments.
  const std::map<PoolId, Bytes>& tops() const { return tops_; }
  HeldMemory Of(PoolId pool) const;

  void AddSegment(PoolId pool, const MemoryHole& segment);
  // Of a graph, in segments, or without them where it was planned.
  void Add(PoolId pool, const std::vector<PlacedBlock>& placed);

 private:
  struct Pool {
    std::vector<MemoryHole> segments;  // as they were made
    std::vector<PlacedBlock> living;
  };

  const Trace& trace_;
  const CachingConfig& config_;
  std::map<PoolId, Pool> pools_;
  std::map<PoolId, Bytes> tops_;
  Bytes living_ = 0;
  Bytes reserved_ = 0;
};

}  // namespace graphkit
