// Graphs made by hand, instantiated, edited and destroyed.
#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

TEST_CASE("an explicit graph has nodes without streams, and edges with the data given") {
  Script s;
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kKernel));
  Call add = AddTo(kGraph);
  add.dependencies = {{1, 0, 1, 0, 1}};
  s.Do(add, Script::Node(kGraph, 2, NodeKind::kKernel, {1}));
  s.Do(AddTo(kGraph), Script::Node(kGraph, 3, NodeKind::kHost));
  Call edges = Script::Of(CallKind::kAddDependencies);
  edges.graph = kGraph;
  edges.dependencies = {{2, 3, 2, 0, 0}};
  s.Do(edges, {Script::Dependency(kGraph, 2, 3)});
  CHECK(s.sink.records ==
        Lines{
            R"({"type":"graph","id":0,"origin":"explicit","handle":"0x1000"})",
            R"({"type":"thread","id":0,"tid":100})",
            R"({"type":"node","id":0,"graph":0,"kind":"kernel","thread":0})",
            R"({"type":"node","id":1,"graph":0,"kind":"kernel","thread":0})",
            R"({"type":"edge","id":0,"from":0,"to":1,"from_port":1,"edge_type":1})",
            R"({"type":"node","id":2,"graph":0,"kind":"host","thread":0})",
            R"({"type":"edge","id":1,"from":1,"to":2,"from_port":2})",
        });
}

TEST_CASE("an edge that is taken away is named by its id") {
  Script s;
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kEmpty));
  s.Do(AddTo(kGraph), Script::Node(kGraph, 2, NodeKind::kEmpty, {1}));
  s.Do(AddTo(kGraph), Script::Node(kGraph, 3, NodeKind::kEmpty, {1}));
  GraphEvent gone = Script::Dependency(kGraph, 1, 2);
  gone.kind = GraphEventKind::kDependencyDestroyed;
  s.Do(Script::Of(CallKind::kRemoveDependencies), {gone});
  s.Do(Script::Of(CallKind::kRemoveDependencies), {gone});
  CHECK(s.Records("edge_removed") == Lines{R"({"type":"edge_removed","edge":0})"});
}

TEST_CASE("a launch that is recorded the short way is recorded as any other") {
  Script s;
  s.CreateStream(kStream);
  Create(s, kGraph);
  Instantiate(s, kGraph);
  const GraphLaunch again{.exec = kExec, .stream = kStream, .time = 7, .correlation = 5};
  CHECK_FALSE(s.recorder.Relaunch(s.thread, again));  // the first
  Call launch = Script::Of(CallKind::kGraphLaunch);
  launch.exec = kExec;
  launch.stream = kStream;
  launch.correlation = 5;
  s.Do(launch);
  s.recorder.threads().OnRangePushed(s.thread, "", "step");
  CHECK(s.recorder.Relaunch(s.thread, again));
  const std::string line = R"({"type":"launch","exec":0,"stream":0,"correlation":5})";
  CHECK(s.Records("launch") == Lines{line, line});
  CHECK(s.Records("nvtx_push").size() == 1);
  CHECK(s.sink.records.back() == line);
  CHECK(s.recorder.counts().launches == 2);
  CHECK_FALSE(s.recorder.Relaunch(s.thread, {.exec = kExec, .stream = kSide}));  // a new stream
  CHECK_FALSE(s.recorder.Relaunch(s.thread, {.exec = kExec + 1, .stream = kStream}));
}

TEST_CASE("what is set, or updated, to what it was says so") {
  Script s;
  Create(s, kGraph);
  Call fill = AddTo(kGraph);
  fill.own.Touch(0x10000, 64, true);
  fill.details = 7;
  s.Do(fill, Script::Node(kGraph, 1, NodeKind::kMemset));
  s.thread.exec_nodes = {{1, 0, 101, 0x51, kGraph}};
  Instantiate(s, kGraph);
  const auto set = [&](uint64_t exec, uint64_t details, uint64_t address) {
    Call call = Script::Of(CallKind::kNodeSet);
    call.node = 1;
    call.exec = exec;
    call.own.Touch(address, 64, true);
    call.details = details;
    s.Do(call);
    return s.sink.records.back().find(R"("same":true)") != std::string::npos;
  };
  const auto back = [&] { return s.sink.records.back().ends_with(R"("back":true})"); };
  const auto update = [&](uint64_t graph) {
    Call call = Script::Of(CallKind::kExecUpdate);
    call.exec = kExec;
    call.graph = graph;
    s.Do(call);
    return s.sink.records.back().ends_with(R"("same":true})");
  };
  CHECK(set(kExec, 7, 0x10000));
  CHECK_FALSE(set(kExec, 8, 0x10000));
  CHECK_FALSE(set(kExec, 8, 0x20000));
  CHECK(set(kExec, 8, 0x20000));
  CHECK_FALSE(set(kExec, Fingerprint::kUnknown, 0x20000));
  CHECK_FALSE(set(kExec, Fingerprint::kUnknown, 0x20000));
  CHECK_FALSE(update(kGraph));
  CHECK(update(kGraph));
  CHECK(set(0, 7, 0x10000));  // of the graph
  CHECK(back());              // its exec was updated to it
  CHECK_FALSE(set(0, 9, 0x10000));
  CHECK_FALSE(back());
  CHECK_FALSE(update(kGraph));
  CHECK(set(kExec, 9, 0x10000));
  Create(s, kInner);
  CHECK_FALSE(update(kInner));  // of another shape: that can't be paired
  CHECK_FALSE(set(kExec, 9, 0x10000));
  CHECK_FALSE(update(kGraph));
  CHECK(update(kGraph));
}

TEST_CASE("a node that is destroyed alone is told, one that goes with its graph isn't") {
  Script s;
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kEmpty));
  s.Do(AddTo(kGraph), Script::Node(kGraph, 2, NodeKind::kEmpty));
  Call destroy = Script::Of(CallKind::kDestroyNode);
  destroy.node = 1;
  s.Do(destroy);
  s.DestroyGraph(kGraph);
  CHECK(s.Records("node_destroyed") == Lines{R"({"type":"node_destroyed","node":0})"});
  CHECK(s.Records("graph_destroyed") == Lines{R"({"type":"graph_destroyed","graph":0})"});
}

TEST_CASE("what instantiation makes inside is not shown") {
  Script s;
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kKernel));
  Call instantiate = Script::Of(CallKind::kInstantiate);
  instantiate.graph = kGraph;
  instantiate.exec = kExec;
  instantiate.flags = 1;
  s.Do(instantiate, std::vector{Script::Created(kInner)} +
                        Script::Node(kInner, 21, NodeKind::kKernel) +
                        std::vector{Cloned(kInner, 21, 1)});
  Call launch = Script::Of(CallKind::kGraphLaunch);
  launch.exec = kExec;
  launch.stream = kStream;
  s.Do(launch);
  Call destroy = Script::Of(CallKind::kExecDestroy);
  destroy.exec = kExec;
  s.Do(destroy);
  CHECK(s.Records("graph").size() == 1);
  CHECK(s.Records("node").size() == 1);
  CHECK(s.Records("exec") ==
        Lines{R"({"type":"exec","id":0,"graph":0,"handle":"0x9000","flags":1})"});
  CHECK(s.Records("launch") == Lines{R"({"type":"launch","exec":0,"stream":0})"});
  CHECK(s.Records("exec_destroyed") == Lines{R"({"type":"exec_destroyed","exec":0})"});
  CHECK(s.Records("graph_destroyed").empty());
}

TEST_CASE("an exec's record says what CUPTI calls the copies of the graph's nodes") {
  Script s;
  Create(s, kGraph);
  for (uint64_t node : {1u, 2u, 3u})
    s.Do(AddTo(kGraph), Script::Node(kGraph, node, NodeKind::kEmpty));
  Call instantiate = Script::Of(CallKind::kInstantiate);
  instantiate.graph = kGraph;
  instantiate.exec = kExec;
  instantiate.tool_id = 5;
  constexpr uint64_t kOfExec = uint64_t{5} << 32;
  constexpr uint64_t kUnseen = 99;  // a node that was made before the tracer looked
  s.thread.exec_nodes = {{1, kOfExec}, {2, kOfExec + 1}, {kUnseen, kOfExec + 2}, {3, kOfExec + 3}};
  s.Do(instantiate);
  s.Do(instantiate);  // another one; nobody said how its nodes are called
  Call launch = Script::Of(CallKind::kGraphLaunch);
  launch.exec = kExec;
  launch.stream = kStream;
  launch.correlation = 77;
  s.Do(launch);
  CHECK(
      s.Records("exec") ==
      Lines{
          R"({"type":"exec","id":0,"graph":0,"handle":"0x9000","tool_id":5,"node_ids":[[0,2,5,0],[2,1,5,3]]})",
          R"({"type":"exec","id":1,"graph":0,"handle":"0x9000","tool_id":5})"});
  CHECK(s.Records("launch") == Lines{R"({"type":"launch","exec":1,"stream":0,"correlation":77})"});
}

TEST_CASE("a conditional node of a type that isn't known is of none") {
  Script s;
  Create(s, kGraph);
  const uint64_t bodies[] = {kInner};
  Call add = AddTo(kGraph);
  add.conditional = ConditionalType::kUnknown;
  add.bodies = bodies;
  add.body_count = 1;
  s.Do(add, std::vector{Script::Created(kInner)} + Script::Node(kGraph, 1, NodeKind::kConditional));
  CHECK(s.Records("node") ==
        Lines{R"({"type":"node","id":0,"graph":0,"kind":"conditional","thread":0,"bodies":[1]})"});
}

TEST_CASE("a conditional node names its bodies") {
  Script s;
  Create(s, kGraph);
  const uint64_t bodies[] = {kInner, kOther};
  Call add = AddTo(kGraph);
  add.conditional = ConditionalType::kIf;
  add.bodies = bodies;
  add.body_count = 2;
  s.Do(add, std::vector{Script::Created(kInner), Script::Created(kOther)} +
                Script::Node(kGraph, 1, NodeKind::kConditional));
  Lines tail(s.sink.records.end() - 3, s.sink.records.end());
  CHECK(
      tail ==
      Lines{
          R"({"type":"node","id":0,"graph":0,"kind":"conditional","thread":0,"conditional":"if","bodies":[1,2]})",
          R"({"type":"graph","id":1,"origin":"body","parent":0,"handle":"0x3000"})",
          R"({"type":"graph","id":2,"origin":"body","parent":0,"body":1,"handle":"0x2000"})",
      });
}

TEST_CASE("what was measured of an exec is a record: of its instantiation, upload, first launch") {
  Script s;
  Create(s, kGraph);
  const FreeMemory quiet = {.before = 9000, .after = 5000, .disturbed = false};
  const FreeMemory disturbed = {.before = 5000, .after = 6000, .disturbed = true};
  Call call = Script::Of(CallKind::kInstantiate);
  call.graph = kGraph;
  call.exec = kExec;
  call.measured = &quiet;
  s.Do(call);
  call = Script::Of(CallKind::kGraphUpload);
  call.exec = kExec;
  s.Do(call);  // not measured
  CHECK(s.recorder.IsUnlaunched(kExec));
  call = Script::Of(CallKind::kGraphLaunch);
  call.exec = kExec;
  call.measured = &disturbed;
  s.Do(call);
  CHECK(!s.recorder.IsUnlaunched(kExec));
  CHECK(
      s.Records("exec_memory") ==
      Lines{
          R"({"type":"exec_memory","exec":0,"call":"instantiate","before":9000,"after":5000})",
          R"({"type":"exec_memory","exec":0,"call":"launch","before":5000,"after":6000,"disturbed":true})"});
}

TEST_CASE("an update that failed changes nothing, and says so where the driver gave no result") {
  Script s;
  Create(s, kGraph);
  Instantiate(s, kGraph);
  Call update = Script::Of(CallKind::kExecUpdate);
  update.exec = kExec;
  update.graph = kGraph;
  s.Do(update, {}, 910);
  CHECK(s.Records("exec_updated") ==
        Lines{R"({"type":"exec_updated","exec":0,"graph":0,"result":1})"});
}

TEST_CASE("an update that fails is told with its result and the nodes that CUDA names") {
  Script s;
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 7, NodeKind::kEmpty));
  s.Do(AddTo(kGraph), Script::Node(kGraph, 8, NodeKind::kEmpty, {7}));
  Instantiate(s, kGraph);
  Call update = Script::Of(CallKind::kExecUpdate, "cuGraphExecUpdate_v2");
  update.exec = kExec;
  update.graph = kGraph;
  update.flags = 2;
  update.node = 8;
  update.from_node = 7;
  s.Do(update, {}, 910);
  CHECK(s.Records("exec_updated") ==
        Lines{R"({"type":"exec_updated","exec":0,"graph":0,"result":2,"node":1,"from":0})"});
  CHECK(s.Records("failure") ==
        Lines{R"({"type":"failure","call":"cuGraphExecUpdate","error":910,"thread":0})"});
}

TEST_CASE("an instantiation that fails is told with its graph, and CUDA's node and reason") {
  Script s;
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 7, NodeKind::kEmpty));
  Call instantiate = Script::Of(CallKind::kInstantiate, "cuGraphInstantiateWithParams");
  instantiate.graph = kGraph;
  instantiate.node = 7;
  instantiate.reason = 3;
  instantiate.flags = 4;
  s.Do(instantiate, {}, 1);
  CHECK(
      s.Records("failure") ==
      Lines{
          R"({"type":"failure","call":"cuGraphInstantiateWithParams","error":1,"thread":0,"of":0,"node":0,"reason":3,"flags":4})"});
}

TEST_CASE("an upload that fails is told with the graph of its exec") {
  Script s;
  Create(s, kGraph);
  Instantiate(s, kGraph);
  Call upload = Script::Of(CallKind::kGraphUpload, "cuGraphUpload");
  upload.exec = kExec;
  s.Do(upload, {}, 2);
  CHECK(s.Records("failure") ==
        Lines{R"({"type":"failure","call":"cuGraphUpload","error":2,"thread":0,"of":0})"});
}

// A change of a node, in an exec or (0) in its graph.
Call Change(CallKind kind, uint64_t exec, uint64_t node) {
  Call call = Script::Of(kind);
  call.exec = exec;
  call.node = node;
  return call;
}

TEST_CASE("a kernel node is given another grid, in an exec and in its graph") {
  Script s;
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kKernel));
  Instantiate(s, kGraph);
  Call change = Change(CallKind::kNodeSet, kExec, 1);
  change.kernel.grid[0] = 4;
  change.kernel.shared_bytes = 128;
  s.Do(change);
  change.exec = 0;
  s.Do(change);
  CHECK(s.Records("node_set") ==
        Lines{
            R"({"type":"node_set","node":0,"exec":0,"what":"params","grid":[4,1,1],"shared":128})",
            R"({"type":"node_set","node":0,"what":"params","grid":[4,1,1],"shared":128})",
        });
}

TEST_CASE("nodes of a call that nobody knows are recorded, graphs of CUDA's own are not") {
  constexpr uint64_t kUnknown = 0x7000;
  Script s;
  Create(s, kGraph);
  s.thread.events = Script::Node(kGraph, 1, NodeKind::kMemcpy);
  s.thread.events.push_back(Script::Created(kUnknown));
  s.thread.events.push_back(Script::OfNode(GraphEventKind::kNodeStarting, kUnknown, 2));
  s.recorder.LooseEvents(s.thread, 0);
  CHECK(s.thread.events.empty());
  CHECK(s.Records("graph").size() == 1);
  CHECK(s.Records("node") ==
        Lines{R"({"type":"node","id":0,"graph":0,"kind":"memcpy","thread":0})"});
}

TEST_CASE("a memset node is given other memory, an event node another event") {
  constexpr uint64_t kAddress = 0x7f0000000000, kEvent = 0x400, kOtherEvent = 0x401;
  Script s;
  s.Malloc(kAddress, 1024);
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kMemset));
  Call record = AddTo(kGraph);
  record.event = kEvent;
  s.Do(record, Script::Node(kGraph, 2, NodeKind::kEventRecord));
  Instantiate(s, kGraph);
  Call fill = Change(CallKind::kNodeSet, kExec, 1);
  fill.own.Touch(kAddress + 16, 64, true);
  s.Do(fill);
  Call event = Change(CallKind::kNodeSet, kExec, 2);
  event.event = kOtherEvent;
  s.Do(event);
  CHECK(
      s.Records("node_set") ==
      Lines{
          R"({"type":"node_set","node":0,"exec":0,"what":"params","access":[[0,"w",16,64]],"complete":true})",
          R"({"type":"node_set","node":1,"exec":0,"what":"params","event":1})",
      });
}

TEST_CASE("a node is switched off and on; what failed or isn't known says nothing") {
  Script s;
  Create(s, kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kMemset));
  Instantiate(s, kGraph);
  Call change = Change(CallKind::kNodeEnabled, kExec, 1);
  s.Do(change);
  change.flags = 1;
  s.Do(change);
  s.Do(change, {}, 1);
  s.Do(Change(CallKind::kNodeEnabled, 0x777, 1));
  s.Do(Change(CallKind::kNodeSet, 0, 99));
  CHECK(s.Records("node_set") == Lines{
                                     R"({"type":"node_set","node":0,"exec":0,"what":"disabled"})",
                                     R"({"type":"node_set","node":0,"exec":0,"what":"enabled"})",
                                 });
}

TEST_CASE("a kernel node that kernels may update says so, as captured or from later on") {
  Script s;
  Create(s, kGraph);
  Call add = AddTo(kGraph);
  add.kernel.updatable = true;
  s.Do(add, Script::Node(kGraph, 1, NodeKind::kKernel));
  s.Do(AddTo(kGraph), Script::Node(kGraph, 2, NodeKind::kKernel));
  Call attribute = Change(CallKind::kNodeUpdatable, 0, 2);
  s.Do(attribute);  // another attribute
  attribute.flags = 1;
  s.Do(attribute);
  CHECK(s.Records("node_set") == Lines{R"({"type":"node_set","node":0,"what":"updatable"})",
                                       R"({"type":"node_set","node":1,"what":"updatable"})"});
}

TEST_CASE("a handle that comes again is another graph") {
  Script s;
  Create(s, kGraph);
  Create(s, kGraph);
  CHECK(s.Records("graph").size() == 2);
  CHECK(s.Records("graph_destroyed").size() == 1);
}

}  // namespace
}  // namespace graphkit
