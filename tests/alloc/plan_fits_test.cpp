// A plan that holds together may still be of another trace, or name what isn't in this one.
#include <doctest/doctest.h>

#include <string>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "tests/read_ran.h"

namespace graphkit {
namespace {

struct Server {
  Ran trace = *ReadRan(std::string(GRAPHKIT_TESTDATA) + "/traces/soft/inference_server.json");
  Facts facts{trace};
  PlannedMemory plan = PlanTrace(facts, MarkerRule::kLastUse);
  PlannedMemory shared = PlanSequence(facts, *RecordedSequence(facts), MarkerRule::kLastUse);

  std::string Misfit(const PlannedMemory& changed) const {
    const Result<void> fits = PlanFits(facts, changed);
    return fits ? "fits" : fits.error().message;
  }
};

TEST_CASE("the plans of a trace fit it") {
  const Server server;
  CHECK(server.Misfit(server.plan) == "fits");
  CHECK(server.Misfit(server.shared) == "fits");
}

TEST_CASE("a sequence that launches what isn't there doesn't fit") {
  Server server;
  server.shared.sequence.push_back(GraphId(99u));
  CHECK(server.Misfit(server.shared) ==
        "the plan's sequence has graph 99, which isn't there to be launched");
}

TEST_CASE("blocks, graphs and pools that aren't there don't fit") {
  const Server server;
  PlannedMemory plan = server.plan;
  plan.placements.push_back({.block = 99'999});
  CHECK(server.Misfit(plan) == "the plan has a place for block 99999, which isn't there");
  plan = server.plan;
  plan.arenas.push_back({.graph = GraphId(99u)});
  CHECK(server.Misfit(plan) ==
        "the plan has memory for graph 99, which isn't there to be launched");
  plan = server.plan;
  plan.arenas.push_back({.graph = GraphId(0u), .pool = PoolId(99u)});
  CHECK(server.Misfit(plan) == "the plan has memory in pool 99, which isn't there");
}

TEST_CASE("each block has one place, in its graph and pool, with its bytes") {
  const Server server;
  const std::string name = "block " + std::to_string(server.plan.placements[0].block);
  PlannedMemory plan = server.plan;
  plan.placements.push_back(plan.placements[0]);
  CHECK(server.Misfit(plan) == "the plan has two places for " + name);
  plan = server.plan;
  plan.placements.erase(plan.placements.begin());
  CHECK(server.Misfit(plan) == "the plan has no place for " + name);
  plan = server.plan;
  plan.placements[0].arena = 1;
  CHECK(server.Misfit(plan) == "the plan has " + name + " in another graph or pool");
  plan = server.plan;
  plan.placements[0].size -= 1;
  CHECK(server.Misfit(plan) == "the plan has too few bytes for " + name);
}

TEST_CASE("a place for what no graph of the plan hands out doesn't fit") {
  Server server;
  server.shared.sequence = {GraphId(0u)};
  CHECK(server.Misfit(server.shared).ends_with("which isn't memory of a graph that it holds"));
}

}  // namespace
}  // namespace graphkit
