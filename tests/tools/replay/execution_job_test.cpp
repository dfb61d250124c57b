#include "tools/graphkit/replay/execution_job.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "libgraphkit/replay/replay_trace.h"
#include "plugins/cuda_exec/canary.h"
#include "tests/analysis/random_trace.h"
#include "tests/generate/synth.h"
#include "tools/graphkit/replay/device_executor.h"

namespace graphkit {
namespace {

// A device that takes one node after the other.
exec::Report Run(const ExecutionJob& job) {
  std::vector<unsigned char> memory(job.memory + 8);
  exec::Report report{};
  const auto claim = [](exec::Report* r) { return r->claimed++ == 0; };
  for (uint32_t i = 0; i < job.nodes.size(); ++i) {
    const graphkit_job_node& node = job.nodes[i];
    const exec::NodeWork work{job.touches.data(),
                              job.stretches.data(),
                              memory.data(),
                              &report,
                              i,
                              node.first_touch,
                              node.touches,
                              0};
    report.checks += exec::Begin(work, 0, 1, claim);
    report.checks += exec::End(work, 0, 1, claim);
  }
  return report;
}

std::vector<std::vector<PlacedBlock>> Arenas(const GraphReplay& graph) {
  std::vector<std::vector<PlacedBlock>> pools;
  for (const ReplayedPool& pool : graph.pools) pools.push_back(pool.arena);
  return pools;
}

// reaches[i][j]: an edge path leads from node i to node j.
std::vector<std::vector<bool>> Reachable(const ExecutionJob& job) {
  const size_t n = job.nodes.size();
  std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n));
  for (size_t i = n; i-- > 0;) {
    for (const graphkit_job_edge& edge : job.edges) {
      if (edge.from != i || edge.type != 0) continue;
      reaches[i][edge.to] = true;
      for (size_t j = 0; j < n; ++j) reaches[i][j] = reaches[i][j] || reaches[edge.to][j];
    }
  }
  return reaches;
}

TEST_CASE("a job's edges lead forward, and keep every order that the graph proves") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Ran trace = RandomTrace(seed, {.max_steps = 30, .nested = seed % 2 == 0, .memory = true});
    const Facts facts(trace);
    const Slices slices(trace, facts.roots(), facts.blocks());
    CAPTURE(seed);
    for (const GraphReplay& graph : ReplayTrace(facts, PolicyKind::kReuse).graphs) {
      const Program program = MakeProgram(facts, slices.Of(graph.graph),
                                          facts.Blocks(MarkerRule::kLastUse), Arenas(graph));
      const ExecutionJob job = MakeJob(facts, program, {.seed = seed});
      for (const graphkit_job_edge& edge : job.edges) REQUIRE(edge.from < edge.to);
      const auto reaches = Reachable(job);
      // The last node of a step is its end, the first its start.
      std::map<uint32_t, std::pair<size_t, size_t>> span;
      for (size_t i = 0; i < job.steps.size(); ++i) {
        const auto [at, fresh] = span.try_emplace(job.steps[i], i, i);
        if (!fresh) at->second.second = i;
      }
      span.erase(ExecutionJob::kNone);
      for (const auto& [a, a_span] : span) {
        for (const auto& [b, b_span] : span) {
          if (a == b || !facts.order().Before(program.steps[a].node, program.steps[b].node))
            continue;
          REQUIRE(reaches[a_span.second][b_span.first]);
        }
      }
    }
  }
}

TEST_CASE("what was verified runs clean in every order") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Ran trace = RandomTrace(seed, {.max_steps = 50, .nested = seed % 3 == 0, .memory = true});
    const Facts facts(trace);
    const Slices slices(trace, facts.roots(), facts.blocks());
    CAPTURE(seed);
    for (const GraphReplay& graph : ReplayTrace(facts, PolicyKind::kOptimal).graphs) {
      const Program program = MakeProgram(facts, slices.Of(graph.graph),
                                          facts.Blocks(MarkerRule::kLastUse), Arenas(graph));
      for (uint64_t order = 1; order <= 4; ++order) {
        REQUIRE(Run(MakeJob(facts, program, {.seed = order})).claimed == 0);
      }
    }
  }
}

// Moves a block onto another one that it conflicts with; false: there are none.
bool Spoil(const BlockOrder& order, uint64_t seed, std::vector<PlacedBlock>* blocks) {
  const size_t n = blocks->size();
  for (size_t i = 0; i < n * n; ++i) {
    const size_t at = (seed * 7919 + i) % (n * n);
    PlacedBlock& x = (*blocks)[at / n];
    const PlacedBlock& y = (*blocks)[at % n];
    const bool used = !order.lives().Touches(x.block).empty() && order.Dies(y.block) &&
                      order.lives().Touches(y.block).size() > 1;
    if (x.block >= y.block || !used || !order.Conflict(x.block, y.block)) continue;
    x.offset = y.offset;
    return true;
  }
  return false;
}

// True if some order of whole nodes destroys bytes that a node checks: one that may come before it
// writes the same bytes for another block, and no node has to write them again in between.
bool CanShow(const ExecutionJob& job) {
  struct Use {
    uint32_t node;
    const graphkit_touch* touch;
  };
  std::vector<Use> uses;
  for (uint32_t node = 0; node < job.nodes.size(); ++node) {
    for (uint32_t i = 0; i < job.nodes[node].touches; ++i) {
      uses.push_back({node, &job.touches[job.nodes[node].first_touch + i]});
    }
  }
  const auto shares = [](const graphkit_touch& a, const graphkit_touch& b) {
    return a.first_stretch < b.first_stretch + b.stretches &&
           b.first_stretch < a.first_stretch + a.stretches;
  };
  const auto reaches = Reachable(job);
  for (const Use& check : uses) {
    if (!check.touch->checks) continue;
    for (const Use& write : uses) {
      const bool destroys = write.touch->writes && write.touch->block != check.touch->block &&
                            write.node != check.node && shares(*write.touch, *check.touch);
      if (!destroys || reaches[check.node][write.node]) continue;
      const bool mended = std::ranges::any_of(uses, [&](const Use& use) {
        return use.touch->writes && use.touch->block == check.touch->block &&
               reaches[write.node][use.node] && reaches[use.node][check.node];
      });
      if (!mended) return true;
    }
  }
  return false;
}

TEST_CASE("a block moved onto one that it conflicts with is found in nearly every plan") {
  int spoiled = 0;
  int possible = 0;
  int found = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Ran trace = Synthesize({.ops = 300,
                                  .streams = 4,
                                  .join = 0.2,
                                  .alloc = 0.4,
                                  .free = 0.4,
                                  .sizes = *ParseSizeDistribution("log:64KiB-16MiB"),
                                  .seed = seed});
    const Facts facts(trace);
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    const PolicyReplay replay = ReplayTrace(facts, PolicyKind::kReuse);
    auto pools = Arenas(replay.graphs[0]);
    if (!Spoil(order, seed, &pools[0])) continue;
    ++spoiled;
    const Slices slices(trace, facts.roots(), facts.blocks());
    const Program program = MakeProgram(facts, slices.Of(replay.graphs[0].graph), order, pools);
    bool caught = false;
    for (uint64_t at = 1; at <= 100 && !caught; ++at) {
      caught = Run(MakeJob(facts, program, {.seed = at})).claimed != 0;
    }
    const bool can_show = CanShow(MakeJob(facts, program, {.seed = 1}));
    CAPTURE(seed);
    CHECK((can_show || !caught));  // by whole nodes a write that nobody checks can't be seen
    possible += can_show ? 1 : 0;
    found += caught ? 1 : 0;
  }
  CHECK(spoiled == 100);
  CHECK(possible == 98);
  CHECK(found * 100 >= possible * 99);
}

TEST_CASE("a device without a driver is refused, and says that there is none") {
  const Result<Executor> none =
      OpenDevice({.plugin = "/nowhere/plugin.so", .driver = "libcuda.so.1"});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message.find("can't be loaded") != std::string::npos);
}

}  // namespace
}  // namespace graphkit
