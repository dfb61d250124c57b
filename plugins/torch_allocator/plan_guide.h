// The plan's place for each malloc of each capture. The n-th capture that allocates is the
// n-th graph of the plan; the k-th malloc in a pool of it is the k-th block of that pool's arena.
//
//     plan   512   1024   512   2048        the program: 512 1024 2048: departs by one block that
//     asked  512   1024    ·    2048        it doesn't ask for; the others lie as planned
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/result.h"
#include "libgraphkit/units.h"

namespace graphkit::torch {

// One arena of a graph, in the order of the capture.
struct PlannedPool {
  struct Block {
    Bytes offset = 0;
    Bytes size = 0;  // rounded
    bool operator==(const Block&) const = default;
  };
  Bytes size = 0;  // of the arena
  std::vector<Block> blocks = {};
  // Memory that the plan lends between launches; none: it doesn't say (`graphkit survive --plan`
  // does).
  std::optional<std::vector<Interval<Bytes>>> borrow = {};
  bool operator==(const PlannedPool&) const = default;
};

struct PlannedGraphs {
  std::vector<std::vector<PlannedPool>> graphs = {};  // by capture; by pool
  bool sequence = false;                              // one entry, for all captures together
  bool operator==(const PlannedGraphs&) const = default;
};
PlannedGraphs SplitPlan(const PlannedMemory& plan);
Result<PlannedGraphs> ReadPlannedGraphs(const std::string& path);

// The process's: captures are counted over all devices.
struct PlanGuide {
  PlannedGraphs planned;
  std::atomic<size_t> captures = 0;

  // For the next capture; null: the plan has no more.
  const std::vector<PlannedPool>* NextCapture() {
    const size_t number = captures++;
    const size_t graph = planned.sequence ? 0 : number;
    return graph < planned.graphs.size() ? &planned.graphs[graph] : nullptr;
  }
};

// Goes through a pool's blocks as the program asks for them.
class PlanCursor {
 public:
  explicit PlanCursor(const PlannedPool* pool) : pool_(pool) {}

  // The place of a malloc. Nothing: the plan has none like it here.
  std::optional<Bytes> Next(Bytes size);
  uint64_t skipped() const { return skipped_; }
  uint64_t left() const { return pool_->blocks.size() - next_; }
  const PlannedPool& pool() const { return *pool_; }

 private:
  static constexpr size_t kLookAhead = 8;  // so many blocks in a row may be missing

  const PlannedPool* pool_;
  size_t next_ = 0;
  uint64_t skipped_ = 0;
};

}  // namespace graphkit::torch
