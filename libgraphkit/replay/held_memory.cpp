#include "libgraphkit/replay/held_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {
namespace {

// A rest that a large segment wouldn't have split off belongs to the block before it.
void AddHole(const CachingConfig& config, const MemoryHole& hole, bool behind_block,
             HeldMemory* held) {
  const bool kept = hole.small || !behind_block || hole.size > config.small_size;
  if (hole.size > 0 && kept) held->holes.push_back(hole);
}

void AddHoles(const Trace& trace, SegmentId id, std::vector<BlockId> living,
              const CachingConfig& config, HeldMemory* held) {
  const Segment& segment = trace[id];
  std::ranges::sort(living, {}, [&](BlockId block) { return trace[block].address; });
  MemoryHole hole{
      .offset = held->end, .owner = segment.stream, .small = segment.size <= config.small_segment};
  bool behind_block = false;
  for (const BlockId block : living) {
    const Bytes begin = held->end + (trace[block].address - segment.address);
    hole.size = begin - hole.offset;
    AddHole(config, hole, behind_block, held);
    hole.offset = begin + RoundedSize(trace[block]);
    behind_block = true;
  }
  hole.size = held->end + segment.size - hole.offset;
  AddHole(config, hole, behind_block, held);
}

// Where each graph's first capture began; kNever: it wasn't captured.
std::vector<Seq> FindBegins(const Trace& trace) {
  std::vector<Seq> begins(trace.graphs.size(), kNever);
  for (const Capture& capture : trace.captures) {
    Seq& begin = begins[capture.graph.index()];
    begin = std::min(begin, capture.begin);
  }
  return begins;
}

}  // namespace

// The history of one pool.
struct PoolHistory::Sweep {
  enum class What : uint8_t { kFreed, kAllocated, kCapture };
  struct Step {
    Seq seq = 0;
    What what = What::kFreed;
    bool segment = false;
    uint32_t thing = 0;  // a block, a segment, or a graph
  };

  void AddLife(bool segment, size_t thing, Seq begin, Seq end) {
    steps.push_back({begin, What::kAllocated, segment, static_cast<uint32_t>(thing)});
    if (end != kNever) steps.push_back({end, What::kFreed, segment, static_cast<uint32_t>(thing)});
  }

  std::vector<Step> steps;
};

PoolHistory::PoolHistory(const Trace& trace, std::span<const std::vector<BlockId>> blocks)
    : trace_(trace) {
  const std::vector<Seq> begins = FindBegins(trace);
  std::map<PoolId, Sweep> sweeps;
  for (size_t graph = 0; graph < blocks.size(); ++graph) {
    if (begins[graph] == kNever) continue;
    for (const BlockId block : blocks[graph]) {
      const PoolId pool = trace[block].pool;
      if (!pool.valid() || !held_.try_emplace({GraphId(graph), pool}).second) continue;
      sweeps[pool].steps.push_back(
          {begins[graph], Sweep::What::kCapture, false, static_cast<uint32_t>(graph)});
    }
  }
  for (size_t i = 0; i < trace.segments.size(); ++i) {
    const Segment& segment = trace.segments[i];
    const auto sweep = sweeps.find(segment.pool);
    if (sweep != sweeps.end()) sweep->second.AddLife(true, i, segment.allocated, segment.freed);
  }
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    const auto sweep = block.segment.valid() ? sweeps.find(block.pool) : sweeps.end();
    if (sweep != sweeps.end()) {
      sweep->second.AddLife(false, i, block.allocated, block.free_completed);
    }
  }
  for (auto& [pool, sweep] : sweeps) {
    std::ranges::sort(sweep.steps, {},
                      [](const Sweep::Step& step) { return std::pair(step.seq, step.what); });
    std::set<uint32_t> present[2];  // blocks, segments
    for (const Sweep::Step& step : sweep.steps) {
      ++looks_;
      if (step.what == Sweep::What::kAllocated) present[step.segment].insert(step.thing);
      if (step.what == Sweep::What::kFreed) present[step.segment].erase(step.thing);
      if (step.what != Sweep::What::kCapture) continue;
      Held& held = held_.at({GraphId(step.thing), pool});
      for (const uint32_t block : present[0]) held.blocks.emplace_back(block);
      for (const uint32_t segment : present[1]) held.segments.emplace_back(segment);
      std::ranges::sort(held.segments, {},
                        [&](SegmentId id) { return std::pair(trace[id].allocated, id); });
      looks_ += held.blocks.size() + held.segments.size();
    }
  }
}

HeldMemory PoolHistory::Before(GraphId graph, PoolId pool, const CachingConfig& config) const {
  HeldMemory held;
  const auto known = held_.find({graph, pool});
  if (known == held_.end()) return held;
  std::map<SegmentId, std::vector<BlockId>> living;
  for (const BlockId block : known->second.blocks) living[trace_[block].segment].push_back(block);
  for (const SegmentId id : known->second.segments) {
    held.begins.emplace_back(id, held.end);
    AddHoles(trace_, id, std::move(living[id]), config, &held);
    held.end += RoundUp(trace_[id].size, kSegmentAlignment);
  }
  return held;
}

}  // namespace graphkit
