// Every fact against a slow, obvious way to find it: on 100 000 small random graphs of every kind,
// and on the golden traces. (Order has a test of its own.)
#include "libgraphkit/analysis/facts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/checks/checks.h"
#include "tests/analysis/memory/slow_lifetimes.h"
#include "tests/analysis/order/slow_order.h"
#include "tests/analysis/random_trace.h"
#include "tests/analysis/slow_facts.h"
#include "tests/read_ran.h"

namespace graphkit {
namespace {

constexpr uint64_t kGraphs = 100'000;
constexpr size_t kFewBlocks = 16;  // more, and the slow bound is too slow

// The inputs of the slow facts.
struct Slow {
  explicit Slow(const Ran& of)
      : trace(of),
        order(of),
        launch(of, EdgeRule::kAllFull),
        hopeful(of, EdgeRule::kCompletion, Ternary::kYes),
        at_free(of, order, MarkerRule::kAtFree),
        last_use(of, order, MarkerRule::kLastUse),
        blocks(SlowBlocks(of)),
        races(SlowRaces(of, order, launch)) {}

  const Ran& trace;
  SlowOrder order;
  SlowOrder launch;
  SlowOrder hopeful;
  SlowBlockOrder at_free;
  SlowBlockOrder last_use;
  std::vector<Blocks> blocks;
  std::vector<SlowRace> races;
};

// The functions below say what differs between a fact and the slow way to it; "": nothing.

std::string BlockOrderDifference(const Slow& from, const Facts& facts) {
  const Ran& trace = from.trace;
  for (const MarkerRule rule : {MarkerRule::kAtFree, MarkerRule::kLastUse}) {
    const BlockOrder order = facts.Blocks(rule);
    const SlowBlockOrder& slow = rule == MarkerRule::kAtFree ? from.at_free : from.last_use;
    for (size_t x = 0; x < trace.blocks.size(); ++x) {
      for (size_t y = 0; y < trace.blocks.size(); ++y) {
        const bool before = slow.Before(BlockId(x), BlockId(y));
        if (order.Before(BlockId(x), BlockId(y)) != before) return "the order of blocks";
      }
    }
  }
  return "";
}

std::string MemoryDifference(const Slow& slow, const Facts& facts) {
  const Ran& trace = slow.trace;
  const std::vector<Blocks>& blocks = slow.blocks;
  if (facts.blocks() != blocks) return "the blocks of graphs";
  const BlockOrder assumes = facts.Blocks(MarkerRule::kLastUse);
  for (size_t graph = 0; graph < blocks.size(); ++graph) {
    if (facts.usage()[graph] != SlowUsage(trace, blocks[graph])) return "bytes over time";
    std::vector<BlockOverlap> overlaps = facts.overlaps()[graph];
    std::ranges::sort(overlaps, {},
                      [](const BlockOverlap& o) { return std::pair(o.earlier, o.later); });
    if (overlaps != SlowOverlaps(trace, blocks[graph])) return "overlaps";
    if (facts.reuse()[graph] != SlowReuse(slow.last_use, trace, blocks[graph], assumes))
      return "reuse";
  }
  const std::vector<std::set<BlockId>> inputs = SlowInputs(trace);
  for (size_t graph = 0; graph < inputs.size(); ++graph) {
    std::set<BlockId> found;
    for (const GraphInput& input : facts.inputs()[graph]) found.insert(input.block);
    if (found != inputs[graph]) return "inputs";
  }
  return FindAskedMemory(facts.trace, facts.timeline(), facts.lives()) == SlowAskedMemory(trace)
             ? ""
             : "memory asked of the driver";
}

std::string BoundDifference(const SlowBlockOrder& order, const Ran& trace, const Blocks& blocks,
                            const LowerBound& bound) {
  Bytes bytes = 0;
  for (const BlockId a : bound.blocks) {
    bytes += RoundedSize(trace[a]);
    for (const BlockId b : bound.blocks) {
      if (a != b && (order.Before(a, b) || order.Before(b, a))) return "a bound of ordered blocks";
    }
  }
  if (bytes != bound.bytes) return "a bound that isn't its blocks' sum";
  if (blocks.size() > kFewBlocks || !bound.exact) return "";
  return bound.bytes == SlowLowerBound(order, trace, blocks) ? "" : "the lower bound";
}

// Of each graph, and of each of its pools.
std::string BoundsDifference(const Slow& slow, const Facts& facts) {
  const Ran& trace = slow.trace;
  const SlowBlockOrder& order = slow.last_use;
  const std::vector<Blocks>& blocks = slow.blocks;
  for (size_t graph = 0; graph < blocks.size(); ++graph) {
    const LowerBound& bound = facts.bounds()[graph];
    const std::string difference = BoundDifference(order, trace, blocks[graph], bound);
    if (!difference.empty()) return difference;
    size_t in_pools = 0;
    for (const PoolBound& pool : facts.pool_bounds()[graph]) {
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

// Where many nodes touch a block not every pair is looked at.
bool FewTouch(const Facts& facts, BlockId block) {
  constexpr size_t kFew = 60;
  return facts.lives().Touches(block).size() <= kFew;
}

// Then only that there is a race counts.
std::set<RaceSort> Comparable(std::set<RaceSort> races, const Facts& facts) {
  std::set<RaceSort> comparable;
  for (const RaceSort& race : races) {
    comparable.insert(FewTouch(facts, race.block) ? race : RaceSort{.block = race.block});
  }
  return comparable;
}

std::string RacesDifference(const Slow& slow, const Facts& facts) {
  std::set<RaceSort> found;
  for (const Race& race : facts.races()) {
    if (slow.order.Before(race.earlier, race.later) ||
        slow.order.Before(race.later, race.earlier)) {
      return "a race that is none";
    }
    found.insert({race.block, race.kind, race.overlapping, race.ordered_if_full});
  }
  std::set<RaceSort> races;
  for (const SlowRace& race : slow.races) races.insert(race.sort);
  return Comparable(found, facts) == Comparable(races, facts) ? "" : "races";
}

std::vector<Finding> OrderFindings(const Facts& facts) {
  std::vector<Finding> all;
  for (const char* id : {"missing-order", "free-before-use", "programmatic-only-order"}) {
    const Check& check = *FindCheck(id);
    for (Finding& finding : check.find(facts)) {  // of each graph: RunCheck makes one of many notes
      finding.check = id;
      if (!check.grades) finding.severity = check.severity;
      all.push_back(std::move(finding));
    }
  }
  return all;
}

// The blocks and severities of the checks of order: for every pair of uses by its words.
std::string VerdictsDifference(const Slow& slow, const Facts& facts) {
  std::set<Verdict> found;
  for (const Finding& finding : OrderFindings(facts)) {
    for (const BlockId block : finding.blocks) {
      if (FewTouch(facts, block)) found.insert({finding.check, finding.severity, block});
    }
  }
  std::set<Verdict> expected;
  for (const SlowRace& race : slow.races) {
    if (!FewTouch(facts, race.sort.block)) continue;
    const std::optional<Verdict> verdict = SlowVerdict(slow.trace, race, slow.hopeful);
    if (verdict) expected.insert(*verdict);
  }
  for (const Verdict& verdict : found) {
    if (!expected.contains(verdict)) return "nothing says " + verdict.check;
  }
  for (const Verdict& verdict : expected) {
    if (!found.contains(verdict)) return "nobody is told of " + verdict.check;
  }
  return "";
}

// Blocks in whose memory another one lies that isn't after them; what the driver placed, and what
// nodes or streams outside the graph had a hand in, is left out.
std::string UnsafeReuseDifference(const Slow& slow, const Facts& facts) {
  std::set<std::pair<BlockId, BlockId>> found;
  for (const Finding& finding : RunCheck(*FindCheck("unsafe-reuse"), facts)) {
    found.emplace(finding.blocks[0], finding.blocks[1]);
  }
  std::set<std::pair<BlockId, BlockId>> expected;
  for (const Blocks& blocks : slow.blocks) {
    for (const BlockOverlap& overlap : SlowOverlaps(slow.trace, blocks)) {
      const BlockLife& life = facts.lives()[overlap.earlier];
      if (slow.last_use.Before(overlap.earlier, overlap.later) || life.elsewhere ||
          (life.escaped && life.foreign) || slow.trace[overlap.later].alloc_node.valid()) {
        continue;
      }
      expected.emplace(overlap.earlier, overlap.later);
    }
  }
  return found == expected ? "" : "unsafe reuse";
}

std::string OrderDifference(const Slow& slow, const Facts& facts) {
  const Ran& trace = slow.trace;
  for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
    if (facts.shapes()[graph] != SlowShape(trace, GraphId(graph))) return "longest paths and width";
  }
  const bool same = RedundantEdges(trace, facts.order(), facts.in_edges()) ==
                    SlowRedundantEdges(trace, slow.order);
  return same ? "" : "redundant edges";
}

// The sums in the report equal their parts.
std::string BillDifference(const Slow& slow, const Facts& facts) {
  const Ran& trace = slow.trace;
  for (const GraphSummary& graph : Summarize(facts)) {
    Bytes in_pools = 0;
    for (const PoolShare& share : graph.pools) {
      Blocks blocks;
      std::ranges::copy_if(facts.blocks()[graph.graph.index()], std::back_inserter(blocks),
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
  const AskedMemory asked = FindAskedMemory(facts.trace, facts.timeline(), facts.lives());
  const Bytes parts = asked.segment_used_bytes + asked.segment_free_bytes + asked.graph_node_bytes +
                      asked.input_bytes + asked.not_attributed_bytes;
  return parts == asked.asked_bytes ? "" : "the parts of what was asked of the driver";
}

// Counts of the comparisons: none of them may be 0.
struct Tally {
  size_t blocks = 0;
  size_t races = 0;
  size_t overlaps = 0;
  size_t reuse = 0;
  size_t redundant_edges = 0;
  std::map<Verdict, size_t> verdicts;  // by check and severity
};

void Count(const Ran& trace, const Facts& facts, Tally* tally) {
  tally->blocks += trace.blocks.size();
  tally->races += facts.races().size();
  for (const auto& overlaps : facts.overlaps()) tally->overlaps += overlaps.size();
  for (const ReuseFacts& reuse : facts.reuse()) tally->reuse += reuse.pairs.size();
  for (const Finding& finding : OrderFindings(facts)) {
    ++tally->verdicts[{finding.check, finding.severity, {}}];
  }
  tally->redundant_edges += RedundantEdges(trace, facts.order(), facts.in_edges()).size();
}

std::string Difference(const Ran& trace, Tally* tally) {
  const Facts facts(trace, {.bound_time_limit = std::chrono::minutes(1)});
  Count(trace, facts, tally);
  const Slow slow(trace);
  for (const auto& find :
       {BlockOrderDifference, MemoryDifference, BoundsDifference, RacesDifference,
        VerdictsDifference, UnsafeReuseDifference, OrderDifference, BillDifference}) {
    if (const std::string difference = find(slow, facts); !difference.empty()) return difference;
  }
  return "";
}

TEST_CASE("facts agree with slow ones on random graphs of every kind") {
  Tally tally;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const bool many_blocks = seed % 4 == 0;
    Ran trace = RandomTrace(seed, {.max_steps = many_blocks ? 30 : 12,
                                   .memory = true,
                                   .pools = true,
                                   .allocator_steps = many_blocks ? 0.5 : 0});
    trace.completeness.truncated = seed % 8 == 0;
    const std::string difference = Difference(trace, &tally);
    if (difference.empty()) continue;
    CAPTURE(seed);
    REQUIRE(difference == "");
  }
  MESSAGE("random graphs: ", kGraphs, ", seeds 1 to ", kGraphs, "; blocks: ", tally.blocks,
          ", races: ", tally.races, ", overlaps: ", tally.overlaps, ", reuse: ", tally.reuse,
          ", redundant edges: ", tally.redundant_edges);
  for (const size_t compared :
       {tally.blocks, tally.races, tally.overlaps, tally.reuse, tally.redundant_edges}) {
    CHECK(compared > kGraphs / 100);
  }
  for (const auto& [verdict, count] : tally.verdicts) {
    MESSAGE(verdict.check, ", ", std::string(SeverityName(verdict.severity)), ": ", count);
    CHECK(count > kGraphs / 1000);
  }
  CHECK(tally.verdicts.size() == 7);  // notes, warnings and errors, of free-before-use errors only
}

TEST_CASE("facts agree with slow ones on the golden traces") {
  namespace fs = std::filesystem;
  size_t compared = 0;
  Tally tally;
  for (const auto& file :
       fs::recursive_directory_iterator(fs::path(GRAPHKIT_TESTDATA) / "traces")) {
    const std::string name = file.path().filename().string();
    if (file.path().extension() != ".json" || name.starts_with("bad-")) continue;
    Result<Ran> trace = ReadRan(file.path().string());
    REQUIRE_MESSAGE(trace, name);
    if (trace->nodes.size() > 2000) continue;
    // The slow verdicts know waits, not triggers: programmatic_only_order_test looks at these.
    for (Kernel& kernel : trace->kernels) kernel.triggers = Triggers::kUnknown;
    CAPTURE(name);
    CHECK(Difference(*trace, &tally) == "");
    ++compared;
  }
  MESSAGE("golden traces: ", compared);
  CHECK(compared >= 11);
}

}  // namespace
}  // namespace graphkit
