// Two threads, of which one is given what the other is giving back: the driver has let go of a
// handle before the call that takes it away returns.
#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

constexpr uint64_t kEvent = 0x400, kPool = 0xa000, kAddress = 0x7f0000000000;

Call On(CallKind kind, uint64_t Call::*field, uint64_t handle) {
  Call call = Script::Of(kind);
  call.*field = handle;
  return call;
}

// A script with a second thread, in which a call of the first one stays open.
struct TwoThreads : Script {
  ThreadState other;

  TwoThreads() { other.tid = 101; }

  void Create(uint64_t graph) { graphkit::Create(*this, graph); }
  void Instantiate(uint64_t graph, uint64_t exec) {
    Call call = On(CallKind::kInstantiate, &Call::graph, graph);
    call.exec = exec;
    Do(call);
  }
  // `between` happens while the call is in the driver.
  template <typename Function>
  void During(Call call, int32_t result, Function between) {
    call.result = result;
    recorder.Enter(other, call);
    between();
    recorder.Exit(other, call);
  }
};

TEST_CASE("a graph that another thread is given at once isn't the one that goes") {
  TwoThreads s;
  s.Create(kGraph);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kEmpty));
  s.Do(AddTo(kGraph), Script::Node(kGraph, 2, NodeKind::kEmpty, {1}));
  s.During(On(CallKind::kGraphDestroy, &Call::graph, kGraph), 0, [&] {
    s.recorder.OnGraphDestroyed(s.other, kGraph);
    s.Create(kGraph);
    s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kHost));
  });
  s.Do(AddTo(kGraph), Script::Node(kGraph, 2, NodeKind::kHost, {1}));
  CHECK(s.Records("graph").size() == 2);
  CHECK(s.Records("graph_destroyed") == Lines{R"({"type":"graph_destroyed","graph":0})"});
  CHECK(s.Records("node").back() == R"({"type":"node","id":3,"graph":1,"kind":"host","thread":0})");
  CHECK(s.Records("edge").back() == R"({"type":"edge","id":1,"from":2,"to":3})");
}

TEST_CASE(
    "where the driver doesn't say when, a graph goes when its call returns, or its handle is "
    "another's") {
  TwoThreads s;
  s.Create(kGraph);
  s.During(On(CallKind::kGraphDestroy, &Call::graph, kGraph), 0, [&] { s.Create(kGraph); });
  s.Do(On(CallKind::kGraphDestroy, &Call::graph, kGraph));
  CHECK(s.Records("graph_destroyed") ==
        Lines{R"({"type":"graph_destroyed","graph":0,"src":"derived"})",
              R"({"type":"graph_destroyed","graph":1})"});
}

TEST_CASE("the graphs in a graph go with it, and not those that have their handles by then") {
  TwoThreads s;
  s.Create(kInner);
  s.Create(kGraph);
  constexpr uint64_t kEmbedded = 0x2000;
  Call add = AddTo(kGraph);
  add.original = kInner;
  s.Do(add,
       std::vector{Script::Created(kEmbedded)} + Script::Node(kGraph, 1, NodeKind::kChildGraph));
  s.During(On(CallKind::kGraphDestroy, &Call::graph, kGraph), 0, [&] {
    s.recorder.OnGraphDestroyed(s.other, kGraph);
    s.Create(kEmbedded);
    s.Create(kGraph);
  });
  CHECK(s.Records("graph_destroyed") == Lines{R"({"type":"graph_destroyed","graph":1})",
                                              R"({"type":"graph_destroyed","graph":2})"});
  s.DestroyGraph(kEmbedded);
  CHECK(s.Records("graph_destroyed").back() == R"({"type":"graph_destroyed","graph":3})");
}

TEST_CASE("a graph that has moved into another goes with it") {
  TwoThreads s;
  s.Create(kInner);
  s.Create(kGraph);
  Call add = AddTo(kGraph);
  add.original = kInner;
  add.moves_graph = true;
  s.Do(add, Script::Node(kGraph, 1, NodeKind::kChildGraph));
  s.DestroyGraph(kGraph);
  CHECK(s.Records("graph_destroyed") == Lines{R"({"type":"graph_destroyed","graph":1})",
                                              R"({"type":"graph_destroyed","graph":0})"});
}

TEST_CASE("a node that is destroyed alone leaves the one that has its handle by then") {
  TwoThreads s;
  s.Create(kGraph);
  s.Create(kOther);
  s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kEmpty));
  s.During(On(CallKind::kDestroyNode, &Call::node, 1), 0,
           [&] { s.Do(AddTo(kOther), Script::Node(kOther, 1, NodeKind::kHost)); });
  s.Do(AddTo(kOther), Script::Node(kOther, 2, NodeKind::kHost, {1}));
  CHECK(s.Records("node_destroyed") ==
        Lines{R"({"type":"node_destroyed","node":0,"src":"derived"})"});
  CHECK(s.Records("edge") == Lines{R"({"type":"edge","id":0,"from":1,"to":2})"});
}

TEST_CASE("an event, an exec, a pool and a stream that another thread is given at once stay") {
  TwoThreads s;
  s.CreateStream(kStream);
  s.RecordEvent(kEvent, kStream);
  s.WaitEvent(kStream, kEvent);
  s.During(On(CallKind::kEventDestroy, &Call::event, kEvent), 0, [&] {
    s.Do(On(CallKind::kEventCreate, &Call::event, kEvent));
    s.RecordEvent(kEvent, kStream);
  });
  s.Do(On(CallKind::kEventSync, &Call::event, kEvent));
  CHECK(s.Records("event").size() == 2);
  CHECK(s.Records("event_record").back() == R"({"type":"event_record","stream":0,"event":1})");
  CHECK(s.Records("event_destroyed") ==
        Lines{R"({"type":"event_destroyed","event":0,"src":"derived"})"});
  CHECK(s.Records("sync") == Lines{R"({"type":"sync","what":"event","event":1})"});

  s.Create(kGraph);
  s.Instantiate(kGraph, kExec);
  s.During(On(CallKind::kExecDestroy, &Call::exec, kExec), 0,
           [&] { s.Instantiate(kGraph, kExec); });
  s.Do(On(CallKind::kExecDestroy, &Call::exec, kExec));
  CHECK(s.Records("exec_destroyed") ==
        Lines{R"({"type":"exec_destroyed","exec":0,"src":"derived"})",
              R"({"type":"exec_destroyed","exec":1})"});

  s.Do(On(CallKind::kPoolCreate, &Call::pool, kPool));
  s.During(On(CallKind::kPoolDestroy, &Call::pool, kPool), 0,
           [&] { s.Do(On(CallKind::kPoolCreate, &Call::pool, kPool)); });
  s.Do(On(CallKind::kPoolDestroy, &Call::pool, kPool));
  CHECK(s.Records("pool_destroyed") ==
        Lines{R"({"type":"pool_destroyed","pool":0,"src":"derived"})",
              R"({"type":"pool_destroyed","pool":1})"});

  s.During(On(CallKind::kStreamDestroy, &Call::stream, kStream), 0,
           [&] { s.CreateStream(kStream); });
  s.RecordEvent(kEvent, kStream);
  s.WaitEvent(kStream, kEvent);
  CHECK(s.Records("stream_destroyed") ==
        Lines{R"({"type":"stream_destroyed","stream":0,"src":"derived"})"});
  CHECK(s.Records("event_record").back() == R"({"type":"event_record","stream":1,"event":1})");
}

TEST_CASE(
    "memory that another thread is given at once was freed before, on the stream of its free") {
  TwoThreads s;
  s.CreateStream(kStream);
  s.Malloc(kAddress, 4096);
  Call free = On(CallKind::kFree, &Call::address, kAddress);
  free.stream = kStream;
  s.During(free, 0, [&] { s.Malloc(kAddress + 1024, 512); });
  s.Free(kAddress + 1024);
  CHECK(s.Records("free") == Lines{R"({"type":"free","memory":0,"stream":0,"src":"derived"})",
                                   R"({"type":"free","memory":1})"});
}

TEST_CASE("what a call fails to take away is there, before and after the call returns") {
  TwoThreads s;
  s.BeginCapture(kStream, kGraph);
  s.Kernel(kStream, kGraph, 1);
  s.Malloc(kAddress, 4096);
  Call fill = Script::Work(kStream);
  fill.work_kind = NodeKind::kMemset;
  fill.own.Touch(kAddress, 64, true);
  const Call destroy = On(CallKind::kGraphDestroy, &Call::graph, kGraph);
  const Call free = On(CallKind::kFree, &Call::address, kAddress);
  s.During(destroy, 1, [&] {
    s.During(free, 900, [&] { s.Do(fill, Script::Node(kGraph, 2, NodeKind::kMemset, {1})); });
  });
  s.Do(fill, Script::Node(kGraph, 3, NodeKind::kMemset, {2}));
  s.EndCapture(kStream);
  CHECK(s.Records("graph_destroyed").empty());
  CHECK(s.Records("free").empty());
  CHECK(s.Records("graph").size() == 1);
  const std::string access = R"("access":[[0,"w",0,64]],"complete":true})";
  for (size_t i : {size_t{1}, size_t{2}}) CHECK(s.Records("node").at(i).ends_with(access));
  s.Do(destroy);
  s.Do(free);
  CHECK(s.Records("graph_destroyed").size() == 1);
  CHECK(s.Records("free").size() == 1);
}

TEST_CASE("the graph of a capture that fails goes, and not the one that has its handle by then") {
  TwoThreads s;
  s.BeginCapture(kStream, kGraph);
  s.Kernel(kStream, kGraph, 1);
  Call end = On(CallKind::kEndCapture, &Call::stream, kStream);
  end.name = "cuStreamEndCapture";
  s.During(end, 901, [&] {
    s.recorder.OnGraphDestroyed(s.other, kGraph);
    s.Create(kGraph);
    s.Do(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kHost));
  });
  s.Do(AddTo(kGraph), Script::Node(kGraph, 2, NodeKind::kHost, {1}));
  CHECK(s.Records("graph").size() == 2);
  CHECK(s.Records("graph_destroyed") == Lines{R"({"type":"graph_destroyed","graph":0})"});
  CHECK(s.sink.records.back() == R"({"type":"edge","id":0,"from":1,"to":2})");
}

TEST_CASE("a graph that a call makes and destroys is nobody's") {
  TwoThreads s;
  s.thread.events = {Script::Created(kInner)};
  s.recorder.OnGraphDestroyed(s.thread, kInner);
  CHECK(s.thread.events.empty());
  CHECK(s.sink.records.empty());
}

TEST_CASE("a call within a call ends its own") {
  TwoThreads s;
  s.Create(kGraph);
  s.RecordEvent(kEvent, kStream);
  s.WaitEvent(kStream, kEvent);
  const Call destroy = On(CallKind::kGraphDestroy, &Call::graph, kGraph);
  s.recorder.Enter(s.thread, destroy);  // and a destructor of the user's in it
  s.Do(On(CallKind::kEventDestroy, &Call::event, kEvent));
  s.recorder.Exit(s.thread, destroy);
  CHECK(s.Records("event_destroyed").size() == 1);
  CHECK(s.Records("graph_destroyed").size() == 1);
  CHECK(s.thread.going.empty());
}

TEST_CASE("a node of a body whose capture fails is gone once another thread has its handle") {
  TwoThreads s;
  s.Create(kGraph);
  const uint64_t bodies[] = {kInner};
  Call add = AddTo(kGraph);
  add.bodies = bodies;
  add.body_count = 1;
  s.Do(add, std::vector{Script::Created(kInner)} + Script::Node(kGraph, 1, NodeKind::kConditional));
  Call begin = On(CallKind::kBeginCapture, &Call::stream, kStream);
  begin.graph = kInner;
  s.DoOn(s.other, begin);
  s.Kernel(kStream, kInner, 2);
  s.Create(kOther);
  s.During(On(CallKind::kEndCapture, &Call::stream, kStream), 908,
           [&] { s.Do(AddTo(kOther), Script::Node(kOther, 2, NodeKind::kEmpty)); });
  CHECK(s.Records("node_destroyed") ==
        Lines{R"({"type":"node_destroyed","node":1,"src":"derived"})"});
  CHECK(s.Records("graph_destroyed").empty());
}

// One of each: a stream, an event, a capture, memory, a graph with a child graph, an exec, launched
// and updated; and all of them gone.
void LiveAndDie(Script& s, uint64_t round) {
  const uint64_t graph = kGraph + round % 7 * 64, stream = kStream + round % 5 * 8;
  s.CreateStream(stream);
  s.RecordEvent(kEvent, stream);
  s.Malloc(kAddress, 4096);
  s.BeginCapture(stream, graph);
  for (uint64_t node = 1; node <= 20; ++node)
    s.Kernel(stream, graph, node, node > 1 ? std::vector{node - 1} : std::vector<uint64_t>());
  s.EndCapture(stream);
  Create(s, kInner);
  Call add = AddTo(graph);
  add.original = kInner;
  s.Do(add, std::vector{Script::Created(kOther)} + Script::Node(graph, 30, NodeKind::kChildGraph) +
                Script::Node(kOther, 31, NodeKind::kEmpty));
  s.thread.exec_nodes = {{1, 0, 501, 502, graph}, {30, 0, 503, 502, graph}};
  Instantiate(s, graph);
  Call launch = On(CallKind::kGraphLaunch, &Call::exec, kExec);
  launch.stream = stream;
  s.Do(launch);
  s.Do(On(CallKind::kExecDestroy, &Call::exec, kExec));
  s.DestroyGraph(graph);
  s.DestroyGraph(kInner);
  s.Free(kAddress);
  s.Do(On(CallKind::kEventDestroy, &Call::event, kEvent));
  s.Do(On(CallKind::kStreamDestroy, &Call::stream, stream));
}

TEST_CASE("nothing is kept of what has ended, however often that happens") {
  Script s;
  LiveAndDie(s, 0);
  const size_t first = s.recorder.known();
  CHECK(first <= 1);  // the device's pool
  for (uint64_t round = 1; round < 500; ++round) {
    LiveAndDie(s, round);
    REQUIRE(s.recorder.known() == first);
  }
  CHECK(s.Records("launch").size() == 500);
}

TEST_CASE("a graph whose nodes come and go for ever stays as large as it is") {
  Script s;
  Create(s, kGraph);
  for (uint64_t round = 0; round < 500; ++round) {
    for (uint64_t node : {1u, 2u, 3u})
      s.Do(AddTo(kGraph), Script::Node(kGraph, node + round % 4 * 8, NodeKind::kEmpty));
    for (uint64_t node : {3u, 1u, 2u})
      s.Do(On(CallKind::kDestroyNode, &Call::node, node + round % 4 * 8));
  }
  CHECK(s.recorder.known() <= 1 + 32);  // the graph, and what its list of nodes had room for
  CHECK(s.Records("node_destroyed").size() == 1500);
}

}  // namespace
}  // namespace graphkit
