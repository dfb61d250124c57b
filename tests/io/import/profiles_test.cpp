// Profiles of Kineto and of Nsight Systems.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "libgraphkit/io/import/node_times.h"
#include "libgraphkit/io/import/trace_maker.h"
#include "tests/io/import/read_format.h"

namespace graphkit {
namespace {

TEST_CASE("a profile says how long nodes ran, from Kineto and from Nsight Systems alike") {
  const std::vector<NodeTime> times = {{uint64_t{5} << 32, "_Z6squarePfi", 2, 11'000},
                                       {uint64_t{5} << 32 | 1, "", 2, 4'000},
                                       {uint64_t{5} << 32 | 2, "_Z3addPfS_i", 2, 6'500}};
  for (const char* file : {"import/profile.json", "import/profile.sqlite"}) {
    CAPTURE(file);
    if (std::string(file).ends_with("sqlite") && !GRAPHKIT_SQLITE) continue;
    const Imported imported = ReadSample(file);
    CHECK(imported.times == times);
    CHECK(imported.trace.nodes[0].duration_ns == 5'500);
    CHECK(imported.trace.graphs[0].tool_id == 5);
    CHECK_FALSE(IsComplete(imported.trace));
  }
}

TEST_CASE("an export of Nsight Systems 2026 says when graphs were made and instantiated") {
  if (!GRAPHKIT_SQLITE) return;
  const Trace trace = ReadSample("import/graph_events.sqlite").trace;
  REQUIRE(trace.graphs.size() == 3);  // 7; 8, which is never launched; 9, which nobody made
  CHECK(trace.graphs[1].tool_id == 8);
  REQUIRE(trace.execs.size() == 3);
  CHECK(trace.execs[0].graph == GraphId(size_t{0}));
  CHECK(trace.execs[0].tool_id == 70);
  CHECK(trace.execs[1].tool_id == 80);
  REQUIRE(trace.launches.size() == 3);
  CHECK(trace.launches[0].exec == ExecId(size_t{0}));
  CHECK(trace.launches[2].exec == ExecId(size_t{2}));
  CHECK(trace.execs[1].created < trace.launches[0].seq);
}

TEST_CASE("a profile without the ids of nodes says what there is instead") {
  if (!GRAPHKIT_SQLITE) return;
  const Imported imported = ReadSample("import/no_nodes.sqlite");
  REQUIRE(imported.trace.completeness.notes.size() == 1);
  CHECK(imported.trace.completeness.notes[0].starts_with(
      "the profile names no graph nodes: which of its 6 kernels, copies and sets ran in its 2 "
      "graph launches isn't known; "));
  CHECK(SummaryOf(imported)[0].starts_with(
      "6 kernels, copies and sets, none of them named as a run of a graph node; 2 graph launches"));
  CHECK(imported.times.empty());
}

TEST_CASE("work is in the launch whose correlation id it carries, where it has no node's id") {
  const Imported imported = ReadSample("import/no_nodes.json");
  CHECK(SummaryOf(imported) ==
        Lines{"9 events, 6 kernels, copies and sets, 6 of them in 2 graph launches"});
  REQUIRE(imported.trace.completeness.notes.size() == 1);
  CHECK(imported.trace.completeness.notes[0].starts_with("the profile names no graph nodes, and "));
  CHECK(Drawn(imported.trace) ==
        Lines{"0 kernel _Z6squarePfi", "1 memcpy", "2 kernel _Z3addPfS_i"});
  CHECK(imported.trace.nodes[0].duration_ns == 5'500);
  CHECK(imported.trace.launches.size() == 2);
  CHECK(imported.trace.launches[1].exec == ExecId(size_t{0}));
  CHECK(imported.times.empty());
  CHECK(imported.tool_ids.empty());
}

TEST_CASE("a replay of SGLang on ROCm has its launch's 544 kernels, of 558 pieces of work") {
  const Trace trace = ReadSample("kineto/sglang_decode_replay.json.gz").trace;
  CHECK(trace.graphs.size() == 1);
  CHECK(trace.nodes.size() == 544);
  CHECK(trace.launches.size() == 1);
}

TEST_CASE("launches of other work, or of the same in another order, are other graphs'") {
  const Imported imported = Read("kineto", R"([
      {"ph":"X","cat":"kernel","name":"a","ts":30,"dur":2,"args":{"correlation":3}},
      {"ph":"X","cat":"kernel","name":"a","ts":10,"dur":1,"args":{"correlation":1}},
      {"ph":"X","cat":"kernel","name":"b","ts":11,"dur":1,"args":{"correlation":1}},
      {"ph":"X","cat":"kernel","name":"b","ts":20,"dur":1,"args":{"correlation":2}},
      {"ph":"X","cat":"kernel","name":"a","ts":21,"dur":1,"args":{"correlation":2}},
      {"ph":"X","cat":"kernel","name":"b","ts":31,"dur":2,"args":{"correlation":3}},
      {"ph":"X","cat":"kernel","name":"eager","ts":40,"dur":2,"args":{"correlation":9}},
      {"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","ts":9,"args":{"correlation":1}},
      {"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","ts":19,"args":{"correlation":2}},
      {"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","ts":29,"args":{"correlation":3}}])");
  CHECK(Drawn(imported.trace) == Lines{"0 kernel a", "1 kernel b", "2 kernel b", "3 kernel a"});
  REQUIRE(imported.trace.launches.size() == 3);
  CHECK(imported.trace.launches[0].exec == imported.trace.launches[2].exec);
  CHECK(imported.trace.launches[0].exec != imported.trace.launches[1].exec);
  CHECK(imported.trace.nodes[0].duration_ns == 1500);
}

TEST_CASE("a profile of a capture has its captures and the kernels launched in them") {
  const Imported imported = Read("kineto", R"([
      {"ph":"X","cat":"kernel","name":"k","ts":5,"dur":1,"args":{"correlation":1}},
      {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","tid":7,"ts":4},
      {"ph":"X","cat":"cuda_runtime","name":"hipStreamBeginCapture","tid":7,"ts":10},
      {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","tid":7,"ts":11},
      {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","tid":8,"ts":12},
      {"ph":"X","cat":"cuda_runtime","name":"hipExtModuleLaunchKernel","tid":7,"ts":13},
      {"ph":"X","cat":"cuda_runtime","name":"hipStreamEndCapture","tid":7,"ts":20}])");
  CHECK(SummaryOf(imported) == Lines{"7 events, 1 kernel, copy or set, no graph launch, 1 capture "
                                     "with 2 kernel launches"});
  CHECK(imported.trace.completeness.notes ==
        Lines{"the profile is of 1 capture with 2 kernel launches, and launches no graph: profile "
              "a launch to see what a graph runs"});
}

TEST_CASE("launches of graphs are counted by whatever name the API has, and once") {
  const auto launches = [](std::initializer_list<const char*> names) {
    GraphLaunchCalls calls;
    for (const char* name : names) calls.Take(name);
    return calls.count();
  };
  CHECK(launches({"hipGraphLaunch", "hipGraphLaunch", "hipLaunchKernel"}) == 2);
  CHECK(launches({"cudaGraphLaunch_v10000", "cudaGraphLaunch_ptsz_v10000", "cuGraphLaunch"}) == 2);
  CHECK(launches({"cuGraphLaunch", "cuGraphLaunch_ptsz"}) == 2);
  CHECK(launches({"cudaGraphLaunchSomethingElse", "torch.cudaGraphLaunch"}) == 0);
  const Imported imported = Read("kineto", R"([{"ph":"X","cat":"kernel","name":"k","dur":1},
      {"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch"}])");
  CHECK(SummaryOf(imported)[0].ends_with("; 1 graph launch"));
  CHECK(Read("kineto", R"([{"ph":"X","cat":"kernel","name":"k"}])").trace.completeness.notes ==
        Lines{"the profile launches no graph, only 1 kernel, copy or set"});
  const Imported idle = Read("kineto", R"([{"ph":"X","cat":"cpu_op","name":"aten::add"}])");
  CHECK(SummaryOf(idle) == Lines{"1 event, no work on a GPU"});
  CHECK(idle.trace.completeness.notes == Lines{"the profile holds no work on a GPU"});
}

TEST_CASE("runs without a duration that can be don't count for a node's, and long ones are kept") {
  const Imported imported = Read("kineto", R"([
      {"ph":"X","cat":"kernel","name":"k","dur":5000000,"args":{"graph node id":12884901895}},
      {"ph":"X","cat":"kernel","name":"k","dur":-7,"args":{"graph node id":12884901895}},
      {"ph":"X","cat":"kernel","name":"k","dur":NaN,"args":{"graph node id":12884901895}}])");
  CHECK(imported.times == std::vector<NodeTime>{{uint64_t{3} << 32 | 7, "k", 1, 5'000'000'000}});
  CHECK(imported.trace.nodes[0].duration_ns == 5'000'000'000);
}

TEST_CASE("a node id inside its graph is joined with the graph's id") {
  const Imported imported = Read("kineto", R"([{"ph":"X","cat":"kernel","name":"k","dur":1.5,
      "args":{"graph id":3,"graph node id":7}},
      {"ph":"X","cat":"kernel","name":"eager","dur":1,"args":{"graph id":0,"graph node id":0}}])");
  CHECK(imported.times == std::vector<NodeTime>{{uint64_t{3} << 32 | 7, "k", 1, 1500}});
}

TEST_CASE("profiles recorded on GPUs are read, compressed") {
  for (const char* file :
       {"critical_path__cuda_event_sync__event_sync_trace.json.gz",
        "critical_path__cuda_event_sync_multi_stream__event_sync_trace.json.gz"}) {
    CHECK(ReadSample(std::string("kineto/") + file).times.empty());
  }
}

TEST_CASE("a profile that isn't JSON is an error, one that is cut off is incomplete") {
  CHECK(ErrorOf("kineto", "{\"traceEvents\": 3}").starts_with("not a profile of PyTorch: "));
  CHECK(ErrorOf("kineto", "[{\"ph\":\"X\"").starts_with("not a profile of PyTorch: "));
}

TEST_CASE("numbers of a profile aren't cut: device 2^32 isn't device 0") {
  TraceMaker make;
  CHECK(make.Stream(7, 1) != make.Stream(0, 1));
  CHECK(make.trace.streams[make.Stream(7, 1).index()].device == 7);
  CHECK(make.trace.streams[make.Stream(0xffffffffu, 1).index()].device == -1);
}

}  // namespace
}  // namespace graphkit
