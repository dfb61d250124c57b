// Every fact against a slow, obvious way to find it: on 100 000 small random graphs of every kind,
// and on the golden traces. (Order and lifetimes have tests of their own.)
#include "libgraphkit/analysis/facts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libgraphkit/io/trace_reader.h"
#include "tests/analysis/random_trace.h"
#include "tests/analysis/slow_lifetimes.h"
#include "tests/analysis/slow_order.h"

namespace graphkit {
namespace {

constexpr uint64_t kGraphs = 100'000;

// Blocks of a few addresses, so that they lie over each other.
void ShuffleAddresses(Trace* trace, uint64_t seed) {
  for (size_t i = 0; i < trace->blocks.size(); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    trace->blocks[i].address = 512 * (1 + (seed >> 33) % 8);
    trace->blocks[i].size = 1 + (seed >> 40) % 1600;
  }
}

// For each stretch of 512 bytes who had it last.
std::vector<Overlap> SlowOverlaps(const Trace& trace, const std::vector<BlockId>& blocks) {
  std::map<Address, BlockId> last;
  std::set<std::pair<BlockId, BlockId>> pairs;
  for (const BlockId block : blocks) {
    const Address begin = trace[block].address;
    for (Bytes at = 0; at < RoundedSize(trace[block]); at += kBlockGranularity) {
      BlockId& owner = last[begin + at];
      if (owner.valid()) pairs.insert({owner, block});
      owner = block;
    }
  }
  std::vector<Overlap> overlaps;
  for (const auto& [earlier, later] : pairs) overlaps.push_back({earlier, later});
  return overlaps;
}

Bytes SlowPeakLive(const Trace& trace, const std::vector<BlockId>& blocks) {
  Bytes peak = 0;
  for (const BlockId now : blocks) {
    Bytes live = 0;
    for (const BlockId other : blocks) {
      const bool alive = trace[other].allocated <= trace[now].allocated &&
                         trace[now].allocated < trace[other].free_requested;
      if (alive) live += RoundedSize(trace[other]);
    }
    peak = std::max(peak, live);
  }
  return peak;
}

bool Overlapping(const Access& a, const Access& b) {
  const auto ends_before = [](const Access& x, const Access& y) {
    return x.length != kLengthUnknown && x.offset + x.length <= y.offset;
  };
  return !ends_before(a, b) && !ends_before(b, a);
}

bool OfOneRun(const Trace& trace, NodeId a, NodeId b) {
  if (RootOf(trace, trace[a].graph) != RootOf(trace, trace[b].graph)) return false;
  for (GraphId x = trace[a].graph; trace[x].parent.valid(); x = trace[trace[x].parent].graph) {
    for (GraphId y = trace[b].graph; trace[y].parent.valid(); y = trace[trace[y].parent].graph) {
      if (x != y && trace[x].parent == trace[y].parent) return false;
    }
  }
  return true;
}

bool Waits(const Trace& trace, NodeId node) { return WaitsFor(trace, node) == Ternary::kYes; }

// Blocks of which two nodes may touch the same bytes without order.
std::set<BlockId> SlowRaces(const Trace& trace, const SlowOrder& order) {
  const auto ordered = [&](NodeId a, NodeId b) {
    return order.Before(a, b) || (Waits(trace, b) && order.EndsBefore(a, b));
  };
  struct Use {
    NodeId node;
    Access access;
  };
  std::vector<Use> uses;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (!InGraph(trace, node)) continue;
    const bool memory = node.kind == NodeKind::kMemAlloc || node.kind == NodeKind::kMemFree;
    if (memory) uses.push_back({NodeId(i), {.block = node.block, .mode = AccessMode::kWrite}});
    for (uint32_t a = 0; a < node.accesses.count && !memory; ++a) {
      uses.push_back({NodeId(i), trace.accesses[node.accesses.first + a]});
    }
  }
  std::set<BlockId> racing;
  for (const Use& a : uses) {
    for (const Use& b : uses) {
      if (!(a.node < b.node) || a.access.block != b.access.block) continue;
      const bool reads = a.access.mode == AccessMode::kRead && b.access.mode == AccessMode::kRead;
      if (reads || !Overlapping(a.access, b.access) || !OfOneRun(trace, a.node, b.node)) continue;
      if (!ordered(a.node, b.node) && !ordered(b.node, a.node)) racing.insert(a.access.block);
    }
  }
  return racing;
}

uint64_t SlowLongest(const Trace& trace, const InEdges& in, NodeId node) {
  uint64_t inside = 1;
  for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
    if (trace.graphs[graph].parent != node) continue;
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      if (trace.nodes[i].graph != GraphId(graph) || !InGraph(trace, trace.nodes[i])) continue;
      inside = std::max(inside, SlowLongest(trace, in, NodeId(i)));
    }
  }
  uint64_t before = 0;
  for (const InEdge& edge : in.Of(node.index())) {
    before = std::max(before, SlowLongest(trace, in, edge.from));
  }
  return before + inside;
}

// What differs between the facts and the slow way to them; "": nothing.
std::string Difference(const Trace& trace, const Facts& facts) {
  const SlowOrder slow(trace);
  for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
    const std::vector<BlockId>& blocks = facts.blocks[graph];
    std::vector<Overlap> overlaps = FindOverlaps(trace, blocks);
    std::ranges::sort(overlaps, {}, [](const Overlap& o) { return std::pair(o.earlier, o.later); });
    if (overlaps != SlowOverlaps(trace, blocks)) return "overlaps";
    if (facts.usage[graph].peak_live != SlowPeakLive(trace, blocks)) return "peak live";
  }
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
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (!InGraph(trace, trace.nodes[i])) continue;
    const GraphId graph = trace.nodes[i].graph;
    if (SlowLongest(trace, facts.in_edges, NodeId(i)) >
        facts.shapes[graph.index()].critical_path_nodes) {
      return "the longest path";
    }
  }
  return "";
}

// The blocks of a bound conflict pairwise, and are as heavy as it says.
std::string BoundDifference(const Facts& facts) {
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  for (const LowerBound& bound : facts.bounds) {
    Bytes bytes = 0;
    for (const BlockId a : bound.blocks) {
      bytes += RoundedSize(facts.trace[a]);
      for (const BlockId b : bound.blocks) {
        if (a != b && !order.Conflict(a, b)) return "a bound whose blocks don't conflict";
      }
    }
    if (bytes != bound.bytes) return "a bound that isn't its blocks' sum";
  }
  return "";
}

TEST_CASE("facts agree with slow ones on random graphs of every kind") {
  uint64_t blocks = 0;
  uint64_t races = 0;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    Trace trace = RandomTrace(seed, {.max_steps = 12, .memory = true});
    ShuffleAddresses(&trace, seed);
    const Facts facts = FindFacts(trace);
    blocks += trace.blocks.size();
    races += facts.races.size();
    const std::string difference = Difference(trace, facts);
    if (difference.empty()) continue;
    CAPTURE(seed);
    REQUIRE(difference == "");
  }
  MESSAGE("random graphs: ", kGraphs, ", seeds 1 to ", kGraphs, "; blocks: ", blocks,
          ", races: ", races);
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
    const Facts facts = FindFacts(*trace, {.bound_time_limit = std::chrono::seconds(3)});
    CHECK(Difference(*trace, facts) == "");
    CHECK(BoundDifference(facts) == "");
    ++compared;
  }
  MESSAGE("golden traces: ", compared);
  CHECK(compared >= 11);
}

}  // namespace
}  // namespace graphkit
