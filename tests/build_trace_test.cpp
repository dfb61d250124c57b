#include "tests/build_trace.h"

#include <doctest/doctest.h>

#include <tuple>

namespace graphkit {
namespace {

using EdgeEnds = std::tuple<NodeId, NodeId, int, EdgeType>;

std::vector<EdgeEnds> Ends(const Trace& trace) {
  std::vector<EdgeEnds> ends;
  for (const Edge& edge : trace.edges)
    ends.push_back({edge.from, edge.to, edge.from_port, edge.type});
  return ends;
}

TEST_CASE("nodes on one stream form a chain") {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a);
  const NodeId first = t.Kernel(a, "first");
  const NodeId second = t.Memset(a);
  t.EndCapture(a);
  CHECK_FALSE(t.Capturing(a));
  const Trace trace = t.Build();
  CHECK(Ends(trace) == std::vector<EdgeEnds>{{first, second, 0, EdgeType::kDefault}});
  CHECK(trace.captures[0].status == CaptureStatus::kCompleted);
  CHECK(trace[first].seq < trace[second].seq);
}

TEST_CASE("a fork and a join make the edges that CUDA makes") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId b = t.Stream();
  const GraphId graph = t.BeginCapture(a);
  const NodeId root = t.Kernel(a, "root");
  t.Order(a, b);
  CHECK(t.Capturing(b));
  const NodeId left = t.Kernel(a, "left");
  const NodeId right = t.Kernel(b, "right");
  t.Order(b, a);
  const NodeId join = t.Kernel(a, "join");
  t.EndCapture(a);
  CHECK_FALSE(t.Capturing(b));
  const Trace trace = t.Build();
  constexpr EdgeType kFull = EdgeType::kDefault;
  CHECK(Ends(trace) == std::vector<EdgeEnds>{{root, left, 0, kFull},
                                             {root, right, 0, kFull},
                                             {left, join, 0, kFull},
                                             {right, join, 0, kFull}});
  CHECK(trace[right].graph == graph);
}

TEST_CASE("a programmatic launch turns only edges from kernels into programmatic ones") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const NodeId set = t.Memset(a);
  const NodeId first = t.ProgrammaticKernel(a, "first");
  const NodeId second = t.ProgrammaticKernel(a, "second");
  const Trace trace = t.Build();
  CHECK(Ends(trace) ==
        std::vector<EdgeEnds>{{set, first, 0, EdgeType::kDefault},
                              {first, second, kPortProgrammatic, EdgeType::kProgrammatic}});
}

TEST_CASE("who waits for a programmatic event waits for the trigger only") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId b = t.Stream();
  const EventId event = t.Event();
  t.BeginCapture(a);
  const NodeId primary = t.KernelWithEvent(a, event, kPortLaunchCompletion, "primary");
  t.Wait(b, event);
  const NodeId secondary = t.Kernel(b, "secondary");
  const Trace trace = t.Build();
  CHECK(Ends(trace) == std::vector<EdgeEnds>{
                           {primary, secondary, kPortLaunchCompletion, EdgeType::kProgrammatic}});
}

TEST_CASE("the frontier can be set back") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  t.BeginCapture(a);
  const NodeId first = t.Kernel(a);
  t.Kernel(a);
  t.SetFrontier(a, {{first}});
  const NodeId third = t.Kernel(a);
  const Trace trace = t.Build();
  CHECK(Ends(trace).back() == EdgeEnds{first, third, 0, EdgeType::kDefault});
}

TEST_CASE("a block knows its life") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const StreamId b = t.Stream();
  const GraphId graph = t.BeginCapture(a);
  const BlockId x = t.Alloc(a, 1000);
  const BlockId y = t.AllocNode(a, 4096);
  t.RecordStream(x, b);
  t.RequestFree(x);
  const NodeId free_node = t.FreeNode(a, y);
  t.EndCapture(a);
  t.CompleteFree(x);
  const Trace trace = t.Build();
  CHECK(trace[x].graph == graph);
  CHECK(trace[x].free_stream == a);
  CHECK(trace[x].free_requested < trace[x].free_completed);
  CHECK(trace[y].free_node == free_node);
  CHECK(trace[y].free_completed == trace[free_node].seq);
  CHECK(trace[trace[y].alloc_node].block == y);
  CHECK(trace[y].address == trace[x].address + 1024);
}

TEST_CASE("a child graph node embeds a clone") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const GraphId original = t.Graph("original");
  const NodeId first = t.Add(original, NodeKind::kKernel);
  t.Add(original, NodeKind::kEmpty, {first});
  t.BeginCapture(a);
  const NodeId child = t.ChildGraph(a, original);
  const GraphId embedded = t.Embedded(child);
  const Trace trace = t.Build();
  CHECK(trace[embedded].original == original);
  CHECK(trace[embedded].parent == child);
  REQUIRE(trace.nodes.size() == 5);
  CHECK(trace.nodes[3].graph == embedded);
  CHECK(Ends(trace).back() == EdgeEnds{NodeId(3u), NodeId(4u), 0, EdgeType::kDefault});
}

}  // namespace
}  // namespace graphkit
