// Rebuilt graphs have the edges that they were given, also from drivers that mix up their data.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/graphkit/replay/executor_abi.h"

namespace graphkit {
namespace {

constexpr uint8_t kProgrammatic = 1;  // a port, and a type of edges (CUgraphEdgeData)

struct Outcome {
  std::string error;     // empty: nothing went wrong
  int faulty_edges = 0;  // that got other data than they were added with
  bool operator==(const Outcome&) const = default;
};

// Runs a graph of four kernels with two kinds of edges.
Outcome RunMixed(bool forgets) {
  void* plugin = dlopen(GRAPHKIT_EXECUTOR_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  void* driver = dlopen(GRAPHKIT_FAULTY_DRIVER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(plugin != nullptr);
  REQUIRE(driver != nullptr);
  *static_cast<int*>(dlsym(driver, "faulty_forgets")) = forgets ? 1 : 0;
  int& faulty_edges = *static_cast<int*>(dlsym(driver, "faulty_edges"));
  faulty_edges = 0;
  const auto function =
      reinterpret_cast<graphkit_executor_function>(dlsym(plugin, GRAPHKIT_EXECUTOR_NAME));
  const bool exported = function != nullptr;
  REQUIRE(exported);
  char error[256] = "";
  void* executor = function()->open(GRAPHKIT_FAULTY_DRIVER, 0, error, sizeof error);
  CAPTURE(error);
  REQUIRE(executor != nullptr);
  graphkit_job_node kernel{};
  kernel.kernel = kernel.waits = 1;
  const std::vector<graphkit_job_node> nodes(4, kernel);
  const std::vector<graphkit_job_edge> edges = {
      {.from = 0, .to = 1},
      {.from = 1, .to = 2, .from_port = kProgrammatic, .type = kProgrammatic},
      {.from = 0, .to = 3},
      {.from = 2, .to = 3}};
  graphkit_job job{};
  job.nodes = nodes.data();
  job.node_count = static_cast<uint32_t>(nodes.size());
  job.edges = edges.data();
  job.edge_count = static_cast<uint32_t>(edges.size());
  graphkit_job_outcome outcome{};
  function()->run(executor, &job, &outcome);
  function()->close(executor);
  return {outcome.error, faulty_edges};
}

TEST_CASE("edges of two kinds keep their data where a call gives all of its edges the first's") {
  CHECK(RunMixed(false) == Outcome{});
}

TEST_CASE("a driver that gives edges other data than they were added with is found out") {
  CHECK(RunMixed(true) ==
        Outcome{"the driver gave the graph's edges other data than they were added with", 1});
}

}  // namespace
}  // namespace graphkit
