#include "libgraphkit/analysis/memory/usage.h"

#include <algorithm>

#include "libgraphkit/analysis/group_by.h"

namespace graphkit {
namespace {

constexpr uint32_t kNoBlock = BlockId::kNone;

// Which block has its event at each place.
template <typename GetSeq>
std::vector<uint32_t> BySeq(const Trace& trace, GetSeq seq_of) {
  std::vector<uint32_t> at(trace.records, kNoBlock);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Seq seq = seq_of(trace.blocks[i]);
    if (seq < at.size()) at[seq] = static_cast<uint32_t>(i);
  }
  return at;
}

struct Running {
  Bytes live = 0;
  Bytes deferred = 0;
};

void SumOverTime(const Trace& trace, const Lifetimes& lives, std::vector<Usage>* usage) {
  const auto allocated = BySeq(trace, [](const Block& b) { return b.allocated; });
  const auto requested = BySeq(trace, [](const Block& b) { return b.free_requested; });
  const auto completed = BySeq(trace, [](const Block& b) { return b.free_completed; });
  std::vector<Running> running(usage->size());
  const auto root_of = [&](uint32_t block) {
    return block == kNoBlock ? GraphId() : lives.blocks[block].root;
  };
  for (Seq seq = 0; seq < allocated.size(); ++seq) {
    if (const GraphId root = root_of(allocated[seq]); root.valid()) {
      Usage& graph = (*usage)[root.index()];
      const Bytes live = running[root.index()].live += RoundedSize(trace.blocks[allocated[seq]]);
      graph.peak_held = std::max(graph.peak_held, live + running[root.index()].deferred);
      if (live > graph.peak_live) {
        graph.peak_live = live;
        graph.peak_at = seq;
      }
    }
    if (const GraphId root = root_of(requested[seq]); root.valid()) {
      const Block& block = trace.blocks[requested[seq]];
      running[root.index()].live -= RoundedSize(block);
      if (!Deferred(block)) continue;
      Usage& graph = (*usage)[root.index()];
      const Bytes deferred = running[root.index()].deferred += RoundedSize(block);
      if (deferred > graph.deferred) {
        graph.deferred = deferred;
        graph.deferred_at = seq;
      }
    }
    if (const GraphId root = root_of(completed[seq]); root.valid()) {
      const Block& block = trace.blocks[completed[seq]];
      if (Deferred(block)) running[root.index()].deferred -= RoundedSize(block);
    }
  }
}

struct Range {
  Address begin;
  Address end;
};

Bytes Covered(std::vector<Range>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
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

template <typename Take>
std::vector<BlockId> Select(const Lifetimes& lives, GraphId root, Take take) {
  std::vector<BlockId> found;
  for (size_t i = 0; i < lives.blocks.size(); ++i) {
    if (lives.blocks[i].root == root && take(BlockId(i))) found.emplace_back(i);
  }
  return found;
}

}  // namespace

Bytes RoundedSize(const Block& block) { return RoundUp(block.size, kBlockGranularity); }

bool Deferred(const Block& block) {
  return block.freed() && block.free_completed != block.free_requested;
}

std::vector<Usage> FindUsage(const Trace& trace, const Lifetimes& lives) {
  std::vector<Usage> usage(trace.graphs.size());
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
  SumOverTime(trace, lives, &usage);
  const Grouped by =
      Group(lives.blocks, usage.size(), [](const BlockLife& life) { return life.root; });
  std::vector<Range> segments(trace.segments.size());
  for (size_t i = 0; i < usage.size(); ++i) {
    usage[i].extent = Extent(trace, by.Of(i), &segments);
  }
  return usage;
}

std::vector<BlockId> LiveAt(const Trace& trace, const Lifetimes& lives, GraphId root, Seq seq) {
  return Select(lives, root, [&](BlockId id) {
    return trace[id].allocated <= seq && seq < trace[id].free_requested;
  });
}

std::vector<BlockId> DeferredAt(const Trace& trace, const Lifetimes& lives, GraphId root, Seq seq) {
  return Select(lives, root, [&](BlockId id) {
    return Deferred(trace[id]) && trace[id].free_requested <= seq && seq < trace[id].free_completed;
  });
}

}  // namespace graphkit
