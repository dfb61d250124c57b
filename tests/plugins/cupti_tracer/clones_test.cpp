// Graphs made of others: clones, child graphs, graphs launched into captures, bodies.
#include <doctest/doctest.h>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

// kGraph, whose node 2 holds kInner, is instantiated, and the exec's node is given kInner again.
void SetChildOfExec(Script& s) {
  Create(s, kInner);
  Create(s, kGraph);
  Call add = AddTo(kGraph);
  add.original = kInner;
  s.Do(add, std::vector{Script::Created(kOther)} + Script::Node(kGraph, 2, NodeKind::kChildGraph));
  Instantiate(s, kGraph);
  Call set = Script::Of(CallKind::kNodeSet);
  set.exec = kExec;
  set.node = 2;
  set.original = kInner;
  s.Do(set);
}

TEST_CASE("a clone says of its nodes what the original said") {
  Script s;
  Create(s, kGraph);
  Call kernel = AddTo(kGraph);
  kernel.kernel.grid[0] = 8;
  s.Do(kernel, Script::Node(kGraph, 1, NodeKind::kKernel));
  s.Do(AddTo(kGraph), Script::Node(kGraph, 2, NodeKind::kEmpty, {1}));
  Call clone = Script::Of(CallKind::kGraphClone);
  clone.original = kGraph;
  s.Do(clone, std::vector{Script::Created(kOther)} + Script::Node(kOther, 11, NodeKind::kKernel) +
                  std::vector{Cloned(kOther, 11, 1)} + Script::Node(kOther, 12, NodeKind::kEmpty) +
                  std::vector{Cloned(kOther, 12, 2)} +
                  std::vector{Script::Dependency(kOther, 11, 12)});
  CHECK(s.Records("graph").back() ==
        R"({"type":"graph","id":1,"origin":"clone","original":0,"handle":"0x2000"})");
  CHECK(s.Records("node").at(2) ==
        R"({"type":"node","id":2,"graph":1,"kind":"kernel","thread":0,"grid":[8,1,1]})");
  CHECK(s.Records("edge").back() == R"({"type":"edge","id":1,"from":2,"to":3})");
}

TEST_CASE("the edges of a clone have the data of the original's") {
  Script s;
  Create(s, kGraph);
  for (uint64_t node : {1u, 2u, 3u})
    s.Do(AddTo(kGraph), Script::Node(kGraph, node, NodeKind::kKernel));
  Call edges = Script::Of(CallKind::kAddDependencies);
  edges.graph = kGraph;
  edges.dependencies = {{1, 2, 1, 0, 1}};
  s.Do(edges, {Script::Dependency(kGraph, 1, 2), Script::Dependency(kGraph, 2, 3)});
  Call clone = Script::Of(CallKind::kGraphClone);
  clone.graph = kOther;
  clone.original = kGraph;
  auto copy = [](uint64_t node) {
    GraphEvent event = Cloned(kOther, 10 + node, node);
    event.original_graph = kGraph;
    return Script::Node(kOther, 10 + node, NodeKind::kKernel) + std::vector{event};
  };
  s.Do(clone,
       std::vector{Script::Created(kOther)} + copy(1) + copy(2) + copy(3) +
           std::vector{Script::Dependency(kOther, 11, 12), Script::Dependency(kOther, 12, 13)});
  CHECK(s.Records("edge") ==
        Lines{R"({"type":"edge","id":0,"from":0,"to":1,"from_port":1,"edge_type":1})",
              R"({"type":"edge","id":1,"from":1,"to":2})",
              R"({"type":"edge","id":2,"from":3,"to":4,"from_port":1,"edge_type":1})",
              R"({"type":"edge","id":3,"from":4,"to":5})"});
}

TEST_CASE("a child graph follows the node that embeds it, before its own nodes") {
  Script s;
  Create(s, kInner);
  s.Do(AddTo(kInner), Script::Node(kInner, 1, NodeKind::kEmpty));
  Create(s, kGraph);
  Call add = AddTo(kGraph);
  add.original = kInner;
  // The embedded clone is told before the node that holds it.
  s.Do(add, std::vector{Script::Created(kOther)} + Script::Node(kOther, 11, NodeKind::kEmpty) +
                std::vector{Cloned(kOther, 11, 1)} +
                Script::Node(kGraph, 2, NodeKind::kChildGraph));
  Lines tail(s.sink.records.end() - 3, s.sink.records.end());
  CHECK(tail ==
        Lines{
            R"({"type":"node","id":1,"graph":1,"kind":"graph","thread":0,"child":2})",
            R"({"type":"graph","id":2,"origin":"child","original":0,"parent":1,"handle":"0x2000"})",
            R"({"type":"node","id":2,"graph":2,"kind":"empty","thread":0})",
        });
}

TEST_CASE("a graph that moves into a node stays what it is") {
  Script s;
  Create(s, kInner);
  Create(s, kGraph);
  Call add = AddTo(kGraph);
  add.original = kInner;
  add.moves_graph = true;
  s.Do(add, Script::Node(kGraph, 1, NodeKind::kChildGraph));
  CHECK(s.Records("graph").size() == 2);
  CHECK(s.Records("node") ==
        Lines{R"({"type":"node","id":0,"graph":1,"kind":"graph","thread":0,"child":0})"});
}

TEST_CASE("an empty child graph of an exec has nothing to take from another one") {
  Script s;
  s.thread.exec_nodes = {{.original = 2, .node = 12, .graph = kExec, .original_graph = kGraph}};
  SetChildOfExec(s);
  s.BeginCapture(kStream, 0x7000);
  Call launch = Script::Of(CallKind::kGraphLaunch);
  launch.exec = kExec;
  launch.stream = kStream;
  s.Do(launch, Script::Node(0x7000, 20, NodeKind::kChildGraph));
  CHECK(s.Records("note").empty());
}

TEST_CASE("a child graph of an exec takes the parameters of another graph") {
  Script s;
  SetChildOfExec(s);
  CHECK(s.Records("node_set") ==
        Lines{R"({"type":"node_set","node":0,"exec":0,"what":"params","child":0})"});
}

TEST_CASE("a clone's child graphs are its own nodes', in any order of callbacks") {
  constexpr uint64_t kEmbedded = 0x4000, kClone = 0x5000, kCloned = 0x6000;
  auto cloned = [](uint64_t graph, uint64_t node, uint64_t from, uint64_t original) {
    GraphEvent event = Cloned(graph, node, original);
    event.original_graph = from;
    return std::vector{event};
  };
  const auto node = [&](uint64_t graph, uint64_t id, NodeKind kind, uint64_t from, uint64_t of) {
    return Script::Node(graph, id, kind) + cloned(graph, id, from, of);
  };
  const auto outer =
      std::vector{Script::Created(kClone)} + node(kClone, 21, NodeKind::kChildGraph, kOther, 11);
  const auto inner = std::vector{Script::Created(kCloned)} +
                     node(kCloned, 31, NodeKind::kEmpty, kEmbedded, 2) +
                     node(kCloned, 32, NodeKind::kEmpty, kEmbedded, 3) +
                     std::vector{Script::Dependency(kCloned, 31, 32)};
  for (const bool inner_first : {false, true}) {
    Script s;
    Create(s, kInner);
    s.Do(AddTo(kInner), Script::Node(kInner, 1, NodeKind::kEmpty));
    Create(s, kOther);
    Call add = AddTo(kOther);
    add.original = kInner;
    s.Do(add, std::vector{Script::Created(kEmbedded)} +
                  node(kEmbedded, 2, NodeKind::kEmpty, kInner, 1) +
                  Script::Node(kOther, 11, NodeKind::kChildGraph));
    s.Do(AddTo(kEmbedded), Script::Node(kEmbedded, 3, NodeKind::kEmpty, {2}));
    Call clone = Script::Of(CallKind::kGraphClone);
    clone.original = kOther;
    clone.graph = kClone;
    s.Do(clone, inner_first ? inner + outer : outer + inner);
    const Lines tail(s.sink.records.end() - 6, s.sink.records.end());
    CHECK(
        tail ==
        Lines{
            R"({"type":"graph","id":3,"origin":"clone","original":1,"handle":"0x5000"})",
            R"({"type":"node","id":4,"graph":3,"kind":"graph","thread":0,"child":4})",
            R"({"type":"graph","id":4,"origin":"child","original":2,"parent":4,"handle":"0x6000"})",
            R"({"type":"node","id":5,"graph":4,"kind":"empty","thread":0})",
            R"({"type":"node","id":6,"graph":4,"kind":"empty","thread":0})",
            R"({"type":"edge","id":1,"from":5,"to":6})",
        });
    CHECK(s.Records("graph_destroyed").empty());
  }
}

TEST_CASE("a clone has the parameters that its original's nodes were given last") {
  Script s;
  Create(s, kGraph);
  Call kernel = AddTo(kGraph);
  kernel.kernel.grid[0] = 8;
  s.Do(kernel, Script::Node(kGraph, 1, NodeKind::kKernel));
  for (const uint32_t blocks : {3u, 5u}) {
    Call set = Script::Of(CallKind::kNodeSet);
    set.node = 1;
    set.kernel.grid[0] = blocks;
    s.Do(set);
  }
  Call clone = Script::Of(CallKind::kGraphClone);
  clone.original = kGraph;
  s.Do(clone, std::vector{Script::Created(kOther)} + Script::Node(kOther, 11, NodeKind::kKernel) +
                  std::vector{Cloned(kOther, 11, 1)});
  CHECK(s.Records("node").back() ==
        R"({"type":"node","id":1,"graph":1,"kind":"kernel","thread":0,"grid":[5,1,1]})");
}

TEST_CASE("a graph launched into a capture is what its exec is: set, switched, updated") {
  constexpr uint64_t kOfExec = 0x9000, kOfOther = 0x4000;
  Script s;
  Create(s, kInner);
  Call kernel = AddTo(kInner);
  for (const uint64_t node : {1u, 2u}) {
    kernel.kernel.grid[0] = static_cast<uint32_t>(node);
    s.Do(kernel, Script::Node(kInner, node, NodeKind::kKernel));
  }
  Call edges = Script::Of(CallKind::kAddDependencies);
  edges.graph = kInner;
  edges.dependencies = {{1, 2, 1, 0, 1}};
  s.Do(edges, {Script::Dependency(kInner, 1, 2)});
  s.thread.exec_nodes = {{1, 0, 101, kOfExec, kInner}, {2, 0, 102, kOfExec, kInner}};
  Instantiate(s, kInner);
  Call set = Script::Of(CallKind::kNodeSet);
  set.node = 1;
  set.kernel.grid[0] = 50;
  s.Do(set);  // of the graph: not of its exec
  Create(s, kOfOther);
  kernel.graph = kOfOther;
  for (const uint64_t node : {5u, 6u}) {
    kernel.kernel.grid[0] = static_cast<uint32_t>(node);
    s.Do(kernel, Script::Node(kOfOther, node, NodeKind::kKernel));
  }
  auto launch = [&] {
    s.BeginCapture(kStream, kGraph);
    Call call = Script::Of(CallKind::kGraphLaunch);
    call.exec = kExec;
    call.stream = kStream;
    auto of = [](uint64_t node, uint64_t original) {
      GraphEvent event = Cloned(kOther, node, original);
      event.original_graph = kOfExec;
      return Script::Node(kOther, node, NodeKind::kKernel) + std::vector{event};
    };
    s.Do(call, std::vector{Script::Created(kOther)} + of(31, 101) + of(32, 102) +
                   std::vector{Script::Dependency(kOther, 31, 32)} +
                   Script::Node(kGraph, 30, NodeKind::kChildGraph));
    s.EndCapture(kStream);
    const Lines nodes = s.Records("node");
    return Lines{s.Records("graph").back(), nodes.at(nodes.size() - 2), nodes.back(),
                 s.Records("edge").back()};
  };
  CHECK(launch() ==
        Lines{
            R"({"type":"graph","id":3,"origin":"child","original":0,"parent":4,"handle":"0x2000"})",
            R"({"type":"node","id":5,"graph":3,"kind":"kernel","thread":0})",
            R"({"type":"node","id":6,"graph":3,"kind":"kernel","thread":0,"grid":[2,1,1]})",
            R"({"type":"edge","id":1,"from":5,"to":6,"from_port":1,"edge_type":1})",
        });
  s.thread.exec_nodes.clear();
  Call update = Script::Of(CallKind::kExecUpdate);
  update.exec = kExec;
  update.graph = kOfOther;
  s.Do(update);
  set.exec = kExec;
  set.node = 2;  // by the graph that it was instantiated from
  set.kernel.grid[0] = 70;
  s.Do(set);
  Call off = Script::Of(CallKind::kNodeEnabled);
  off.exec = kExec;
  off.node = 1;
  s.Do(off);
  s.DestroyGraph(kInner);
  CHECK(launch() ==
        Lines{
            R"({"type":"graph","id":5,"origin":"child","original":1,"parent":7,"handle":"0x2000"})",
            R"({"type":"node","id":8,"graph":5,"kind":"kernel","thread":0,"grid":[5,1,1]})",
            R"({"type":"node","id":9,"graph":5,"kind":"kernel","thread":0,"grid":[70,1,1]})",
            R"({"type":"edge","id":2,"from":8,"to":9,"from_port":1,"edge_type":1})",
        });
  CHECK(s.Records("node_set").back() == R"({"type":"node_set","node":8,"what":"disabled"})");
  CHECK(s.Records("note").empty());
  s.Do(AddTo(kOfOther), Script::Node(kOfOther, 7, NodeKind::kEmpty));
  s.Do(update);  // by a graph of another shape: that can't be paired
  CHECK(launch().at(1) == R"({"type":"node","id":12,"graph":7,"kind":"kernel","thread":0})");
  CHECK(s.Records("note").size() == 1);
}

TEST_CASE("the body of a conditional node outlives a capture into it that fails") {
  Script s;
  Create(s, kGraph);
  const uint64_t bodies[] = {kInner};
  Call add = AddTo(kGraph);
  add.bodies = bodies;
  add.body_count = 1;
  s.Do(add, std::vector{Script::Created(kInner)} + Script::Node(kGraph, 1, NodeKind::kConditional));
  Call begin = Script::Of(CallKind::kBeginCapture);
  begin.stream = kStream;
  begin.graph = kInner;
  s.Do(begin);
  s.Kernel(kStream, kInner, 2);
  Call end = Script::Of(CallKind::kEndCapture);
  end.stream = kStream;
  s.Do(end, {}, 908);
  s.Do(AddTo(kInner), Script::Node(kInner, 3, NodeKind::kEmpty));
  CHECK(s.Records("graph").size() == 2);
  CHECK(s.Records("graph_destroyed").empty());
  CHECK(s.Records("node_destroyed") == Lines{R"({"type":"node_destroyed","node":1})"});
  CHECK(s.Records("node").back() ==
        R"({"type":"node","id":2,"graph":1,"kind":"empty","thread":0})");
}

TEST_CASE("a launch into a capturing stream is a child graph node of the capture") {
  Script s;
  Create(s, kInner);
  Instantiate(s, kInner);
  s.BeginCapture(kStream, kGraph);
  Call launch = Script::Of(CallKind::kGraphLaunch);
  launch.exec = kExec;
  launch.stream = kStream;
  s.Do(launch,
       std::vector{Script::Created(kOther)} + Script::Node(kGraph, 1, NodeKind::kChildGraph));
  s.Kernel(kStream, kGraph, 2, {1});
  CHECK(s.Records("launch").empty());
  CHECK(s.Records("node").at(0) ==
        R"({"type":"node","id":0,"graph":1,"kind":"graph","stream":0,"thread":0,"child":2})");
  CHECK(s.Records("edge") == Lines{R"({"type":"edge","id":0,"from":0,"to":1})"});
}

}  // namespace
}  // namespace graphkit
