#include "libgraphkit/analysis/memory/unfreed.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "libgraphkit/analysis/memory/host_copies.h"
#include "libgraphkit/analysis/names/call_site.h"

namespace graphkit {
namespace {

using SiteKey = std::tuple<StackId, PoolId, Bytes>;

SiteKey KeyOf(const Block& block) {
  return {block.stack, block.pool, block.stack.valid() ? 0 : block.size};
}

bool IsAllocators(PoolKind kind) {
  return kind == PoolKind::kAllocator || kind == PoolKind::kPrivate;
}

// Of memory that comes straight from the driver: whether a library asked for it. Without a stack:
// where an allocator serves the program, the rest is what libraries ask for themselves.
bool IsLibrarys(const Trace& trace, StackId stack, bool has_allocator) {
  if (!stack.valid()) return has_allocator;
  const CallSite site = CallSiteOf(trace, stack);
  return site.inner.has_value();
}

// Places where an interval ends: launches, and begins and ends of captures.
std::vector<Seq> IntervalsOf(const Trace& trace) {
  std::vector<Seq> intervals;
  for (const Launch& launch : trace.launches) intervals.push_back(launch.seq);
  for (const Capture& capture : trace.captures) {
    intervals.push_back(capture.begin);
    if (capture.end != kNever) intervals.push_back(capture.end);
  }
  std::ranges::sort(intervals);
  return intervals;
}

bool NeverFreed(const Trace& trace, const Block& block) {
  if (block.freed() || block.alloc_node.valid() || block.size == 0) return false;
  if (IsRegistered(trace, block)) return false;  // its owner is not CUDA
  return !block.pool.valid() || trace[block.pool].destroyed == kNever;
}

// A graph's blocks, and those that it touches, are as many as its graphs: not counted.
uint32_t CountIntervals(const MemoryFacts& facts, const std::vector<Seq>& intervals,
                        const UnfreedSite& site) {
  uint32_t count = 0;
  std::ptrdiff_t last = -1;
  for (const BlockId id : site.blocks) {
    const Block& block = facts.trace[id];
    if (block.graph.valid() || !facts.lives().Touches(id).empty()) continue;
    const auto interval = std::ranges::upper_bound(intervals, block.allocated) - intervals.begin();
    if (interval != last) ++count;
    last = interval;
  }
  return count;
}

}  // namespace

std::vector<UnfreedSite> FindUnfreed(const MemoryFacts& facts) {
  const Trace& trace = facts.trace;
  std::vector<UnfreedSite> sites;
  if (!KnowsWhatWasFreed(trace)) return sites;
  const std::vector<bool> backs_segment = BacksSegment(trace);
  const bool has_allocator =
      std::ranges::any_of(trace.pools, [](const Pool& pool) { return IsAllocators(pool.kind); });
  std::map<SiteKey, size_t> by_key;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (backs_segment[i] || !NeverFreed(trace, block)) continue;
    const auto [found, fresh] = by_key.emplace(KeyOf(block), sites.size());
    if (fresh) {
      const bool allocators = block.pool.valid() && IsAllocators(trace[block.pool].kind);
      sites.push_back({.stack = block.stack, .pool = block.pool});
      sites.back().managed = allocators || IsLibrarys(trace, block.stack, has_allocator);
    }
    sites[found->second].blocks.emplace_back(i);
    sites[found->second].bytes += block.size;
  }
  const std::vector<Seq> intervals = IntervalsOf(trace);
  for (UnfreedSite& site : sites) site.intervals = CountIntervals(facts, intervals, site);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const auto found = by_key.find(KeyOf(trace.blocks[i]));
    if (found != by_key.end() && trace.blocks[i].freed()) sites[found->second].intervals = 0;
  }
  return sites;
}

}  // namespace graphkit
