// Every fact against a slow, obvious way to find it: on 100 000 small random graphs of every kind,
// and on the golden traces. (Order has a test of its own.)
#include "libgraphkit/analysis/facts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "libgraphkit/analysis/asked_memory.h"
#include "libgraphkit/analysis/summary.h"
#include "libgraphkit/io/trace_reader.h"
#include "tests/analysis/random_trace.h"
#include "tests/analysis/slow_facts.h"
#include "tests/analysis/slow_lifetimes.h"
#include "tests/analysis/slow_order.h"

namespace graphkit {
namespace {

constexpr uint64_t kGraphs = 100'000;
constexpr size_t kFewBlocks = 16;  // more, and the slow bound is too slow

// The functions below say what differs between a fact and the slow way to it; "": nothing.

std::string BlockOrderDifference(const Trace& trace, const Facts& facts) {
  for (const MarkerRule rule : {MarkerRule::kAtFree, MarkerRule::kLastUse}) {
    const BlockOrder order = facts.Blocks(rule);
    const SlowBlockOrder slow(trace, rule);
    for (size_t x = 0; x < trace.blocks.size(); ++x) {
      for (size_t y = 0; y < trace.blocks.size(); ++y) {
        const bool before = slow.Before(BlockId(x), BlockId(y));
        if (order.Before(BlockId(x), BlockId(y)) != before) return "the order of blocks";
      }
    }
  }
  return "";
}

std::string MemoryDifference(const Trace& trace, const Facts& facts) {
  const std::vector<Blocks> blocks = SlowBlocks(trace);
  if (facts.blocks != blocks) return "the blocks of graphs";
  const SlowBlockOrder order(trace, MarkerRule::kLastUse);
  const BlockOrder assumes = facts.Blocks(MarkerRule::kLastUse);
  for (size_t graph = 0; graph < blocks.size(); ++graph) {
    if (facts.usage[graph] != SlowUsage(trace, blocks[graph])) return "bytes over time";
    std::vector<Overlap> overlaps = FindOverlaps(trace, blocks[graph]);
    std::ranges::sort(overlaps, {}, [](const Overlap& o) { return std::pair(o.earlier, o.later); });
    if (overlaps != SlowOverlaps(trace, blocks[graph])) return "overlaps";
    if (facts.reuse[graph] != SlowReuse(order, trace, blocks[graph], assumes)) return "reuse";
  }
  const std::vector<std::set<BlockId>> inputs = SlowInputs(trace);
  for (size_t graph = 0; graph < inputs.size(); ++graph) {
    std::set<BlockId> found;
    for (const GraphInput& input : facts.inputs[graph]) found.insert(input.block);
    if (found != inputs[graph]) return "inputs";
  }
  return FindAskedMemory(facts) == SlowAskedMemory(trace) ? "" : "memory asked of the driver";
}

std::string BoundDifference(const SlowBlockOrder& order, const Trace& trace, const Blocks& blocks,
                            const LowerBound& bound) {
  Bytes bytes = 0;
  for (const BlockId a : bound.blocks) {
    bytes += RoundedSize(trace[a]);
    for (const BlockId b : bound.blocks) {
      if (a != b && (order.Before(a, b) || order.Before(b, a))) return "a bound of ordered blocks";
    }
  }
  if (bytes != bound.bytes) return "a bound that isn't its blocks' sum";
  if (bound.online != SlowOnline(order, trace, blocks)) return "the online footprint";
  if (*bound.online < bound.bytes) return "an online footprint below the bound";
  if (blocks.size() > kFewBlocks || !bound.exact) return "";
  return bound.bytes == SlowLowerBound(order, trace, blocks) ? "" : "the lower bound";
}

// Of each graph, and of each of its pools.
std::string BoundsDifference(const Trace& trace, const Facts& facts) {
  const SlowBlockOrder order(trace, MarkerRule::kLastUse);
  const std::vector<Blocks> blocks = SlowBlocks(trace);
  for (size_t graph = 0; graph < blocks.size(); ++graph) {
    const LowerBound& bound = facts.bounds[graph];
    const std::string difference = BoundDifference(order, trace, blocks[graph], bound);
    if (!difference.empty()) return difference;
    if (*bound.online < facts.usage[graph].peak_live) return "an online footprint below the peak";
    size_t in_pools = 0;
    for (const PoolBound& pool : facts.pool_bounds[graph]) {
      Blocks of_pool;
      std::ranges::copy_if(blocks[graph], std::back_inserter(of_pool),
                           [&](BlockId block) { return trace[block].pool == pool.pool; });
      in_pools += of_pool.size();
      const std::string of_one = BoundDifference(order, trace, of_pool, pool.bound);
      if (!of_one.empty()) return of_one + " of a pool";
    }
    if (in_pools != blocks[graph].size()) return "blocks that no pool has";
  }
  return "";
}

std::string OrderDifference(const Trace& trace, const Facts& facts) {
  const SlowOrder slow(trace);
  std::set<BlockId> racing;
  for (const Race& race : facts.races) {
    if (slow.Before(race.earlier, race.later) || slow.Before(race.later, race.earlier)) {
      return "a race that is none";
    }
    racing.insert(race.block);
  }
  for (const BlockId block : SlowRaces(trace, slow)) {
    if (!facts.lives.Touches(block).empty() && !racing.contains(block)) return "a missed race";
  }
  for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
    if (facts.shapes[graph] != SlowShape(trace, GraphId(graph))) return "longest paths and width";
  }
  const bool same =
      RedundantEdges(trace, facts.order, facts.in_edges) == SlowRedundantEdges(trace, slow);
  return same ? "" : "redundant edges";
}

// What is summed up for the report adds up to what it is the sum of.
std::string BillDifference(const Trace& trace, const Facts& facts) {
  for (const GraphSummary& graph : Summarize(facts)) {
    Bytes in_pools = 0;
    for (const PoolShare& share : graph.pools) {
      Blocks blocks;
      std::ranges::copy_if(facts.blocks[graph.graph.index()], std::back_inserter(blocks),
                           [&](BlockId block) { return trace[block].pool == share.pool; });
      const Usage usage = SlowUsage(trace, blocks);
      in_pools += share.total_bytes;
      if (share.total_bytes != usage.total || share.blocks != usage.blocks ||
          share.peak_live_bytes != usage.peak_live) {
        return "a pool's share";
      }
    }
    if (in_pools != graph.total_bytes) return "the sum over the pools";
    Bytes at_peak = 0;
    for (const BlockId block : graph.peak_blocks) at_peak += RoundedSize(trace[block]);
    if (at_peak != graph.peak_live_bytes) return "the blocks of the peak";
  }
  const AskedMemory asked = FindAskedMemory(facts);
  const Bytes parts = asked.segment_used_bytes + asked.segment_free_bytes + asked.graph_node_bytes +
                      asked.input_bytes + asked.other_bytes;
  return parts == asked.asked_bytes ? "" : "the parts of what was asked of the driver";
}

std::string Difference(const Trace& trace) {
  const Facts facts = FindFacts(trace, {.bound_time_limit = std::chrono::minutes(1)});
  for (const auto& find : {BlockOrderDifference, MemoryDifference, BoundsDifference,
                           OrderDifference, BillDifference}) {
    if (const std::string difference = find(trace, facts); !difference.empty()) return difference;
  }
  return "";
}

TEST_CASE("facts agree with slow ones on random graphs of every kind") {
  uint64_t blocks = 0;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const Trace trace = RandomTrace(seed, {.max_steps = 12, .memory = true, .pools = true});
    blocks += trace.blocks.size();
    const std::string difference = Difference(trace);
    if (difference.empty()) continue;
    CAPTURE(seed);
    REQUIRE(difference == "");
  }
  MESSAGE("random graphs: ", kGraphs, ", seeds 1 to ", kGraphs, "; blocks: ", blocks);
}

TEST_CASE("facts agree with slow ones on the golden traces") {
  namespace fs = std::filesystem;
  size_t compared = 0;
  for (const auto& file :
       fs::recursive_directory_iterator(fs::path(GRAPHKIT_TESTDATA) / "traces")) {
    const std::string name = file.path().filename().string();
    if (file.path().extension() != ".json" || name.starts_with("bad-")) continue;
    const Result<Trace> trace = ReadTrace(file.path().string());
    REQUIRE_MESSAGE(trace, name);
    if (trace->nodes.size() > 2000) continue;
    CAPTURE(name);
    CHECK(Difference(*trace) == "");
    ++compared;
  }
  MESSAGE("golden traces: ", compared);
  CHECK(compared >= 11);
}

}  // namespace
}  // namespace graphkit
