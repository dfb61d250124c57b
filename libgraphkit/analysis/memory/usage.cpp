#include "libgraphkit/analysis/memory/usage.h"

#include <algorithm>

#include "libgraphkit/group_by.h"
#include "libgraphkit/interval.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

Bytes Covered(std::vector<Range>* ranges) {
  std::ranges::sort(*ranges, {}, &Range::begin);
  Bytes covered = 0;
  Address reached = 0;
  for (const Range& range : *ranges) {
    const Address begin = std::max(range.begin, reached);
    if (range.end <= begin) continue;
    covered += range.end - begin;
    reached = range.end;
  }
  return covered;
}

Bytes Extent(const Trace& trace, std::span<const uint32_t> blocks, std::vector<Range>* segments) {
  std::vector<Range> outside;
  std::vector<uint32_t> used;
  for (const uint32_t id : blocks) {
    const Block& block = trace.blocks[id];
    const Range range{block.address, block.address + RoundedSize(block)};
    if (block.segment.index() >= segments->size()) {
      outside.push_back(range);
      continue;
    }
    Range& segment = (*segments)[block.segment.index()];
    if (segment.end == 0) {
      segment = range;
      used.push_back(block.segment.value);
    }
    segment = {std::min(segment.begin, range.begin), std::max(segment.end, range.end)};
  }
  Bytes extent = Covered(&outside);
  for (const uint32_t segment : used) {
    extent += (*segments)[segment].end - (*segments)[segment].begin;
    (*segments)[segment] = {};
  }
  return extent;
}

}  // namespace

Bytes RoundedSize(const Block& block) { return RoundUp(block.size, kBlockGranularity); }

Bytes AllocatedSize(const Block& block) { return RoundedSize(block) + block.slack; }

bool Deferred(const Block& block) {
  return block.freed() && block.free_completed != block.free_requested;
}

void AddTotals(const Trace& trace, const Lifetimes& lives, std::vector<Usage>* by_graph) {
  std::vector<Usage>& usage = *by_graph;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const GraphId root = lives.blocks[i].root;
    if (!root.valid()) continue;
    Usage& graph = usage[root.index()];
    const Bytes size = RoundedSize(trace.blocks[i]);
    ++graph.blocks;
    graph.total += size;
    if (trace.blocks[i].freed()) continue;
    ++graph.never_freed_blocks;
    graph.never_freed += size;
  }
  const Grouped by =
      Group(lives.blocks, usage.size(), [](const BlockLife& life) { return life.root; });
  std::vector<Range> segments(trace.segments.size());
  for (size_t i = 0; i < usage.size(); ++i) {
    usage[i].extent = Extent(trace, by.Of(i), &segments);
  }
}

void LiveBytes::Add(const Block& block, Seq end) {
  const auto bytes = static_cast<int64_t>(RoundedSize(block));
  changes_.emplace_back(block.allocated, bytes);
  if (end != kNever) changes_.emplace_back(end, -bytes);
}

Bytes LiveBytes::Peak() {
  std::ranges::sort(changes_);
  int64_t live = 0, peak = 0;
  for (const auto& [seq, bytes] : changes_) peak = std::max(peak, live += bytes);
  return static_cast<Bytes>(peak);
}

}  // namespace graphkit
