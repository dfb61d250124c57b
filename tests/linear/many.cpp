#include "tests/linear/many.h"

#include <array>
#include <vector>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

// A graph of two kernels that write and read a block, with its exec.
struct Small {
  GraphId graph;
  ExecId exec;
};

GraphId CaptureSmall(TraceBuilder* t, StreamId stream, BlockId block) {
  const GraphId graph = t->BeginCapture(stream);
  t->Kernel(stream, "fill", {Writes(block)});
  t->Kernel(stream, "use", {ReadsWrites(block)});
  t->EndCapture(stream);
  return graph;
}

// Small graphs that write one buffer, launched on `streams` in turn.
Ran OneBuffer(uint32_t count, size_t streams) {
  TraceBuilder t;
  std::vector<StreamId> on;
  while (on.size() < streams) on.push_back(t.Stream());
  const BlockId buffer = t.Alloc({}, 4096);
  std::vector<ExecId> execs;
  for (uint32_t i = 0; i < count; ++i) {
    execs.push_back(t.Instantiate(CaptureSmall(&t, on[0], buffer)));
  }
  for (uint32_t i = 0; i < count; ++i) t.Launch(execs[i], on[i % streams]);
  t.Synchronize();
  return t.Build();
}
Ran Ordered(uint32_t count) { return OneBuffer(count, 1); }
Ran Unordered(uint32_t count) { return OneBuffer(count, 2); }

// Graphs of one private pool, each of which takes the memory that the one before it gave back.
Ran OnePool(uint32_t count) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  const SegmentId segment = t.Segment(pool, Bytes{2} << 20, stream);
  const Address address = t.trace()[segment].address;
  const BlockId kept = t.Alloc({}, 4096);
  std::vector<ExecId> execs;
  t.SetPool(pool);
  for (uint32_t i = 0; i < count; ++i) {
    const GraphId graph = t.BeginCapture(stream);
    const BlockId x = t.AllocAt(stream, 4096, address, segment);
    const BlockId y = t.AllocAt(stream, 8192, address + 4096, segment);
    t.Kernel(stream, "fill", {Writes(x), Writes(y)});
    t.Kernel(stream, "use", {Reads(x), Reads(y), ReadsWrites(kept)});
    t.Free(x);
    t.Free(y);
    t.EndCapture(stream);
    execs.push_back(t.Instantiate(graph));
  }
  for (const ExecId exec : execs) t.Launch(exec, stream);
  t.Synchronize();
  return t.Build();
}

Ran OneStream(uint32_t count) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const GraphId graph = t.BeginCapture(stream);
  for (uint32_t i = 0; i < count; ++i) {
    const BlockId block = t.Alloc(stream, 4096);
    t.Kernel(stream, "fill", {Writes(block)});
    t.Kernel(stream, "use", {Reads(block)});
    t.Free(block);
  }
  t.EndCapture(stream);
  t.Launch(t.Instantiate(graph), stream);
  return t.Build();
}

// An exec that is updated to each recapture before it is launched again, as llama.cpp does.
Ran OneExec(uint32_t count) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const BlockId buffer = t.Alloc({}, 4096);
  const ExecId exec = t.Instantiate(CaptureSmall(&t, stream, buffer));
  for (uint32_t i = 0; i < count; ++i) {
    const GraphId graph = CaptureSmall(&t, stream, buffer);
    t.Update(exec, graph);
    t.Destroy(graph);
    t.Launch(exec, stream);
  }
  t.Synchronize();
  return t.Build();
}

// Blocks and execs that one line of the program makes and never frees.
Ran OneLine(uint32_t count) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.SetStack(t.Stack({{"Step", "step.cu", 12}, {"main", "step.cu", 40}}));
  for (uint32_t i = 0; i < count; ++i) {
    const BlockId block = t.Alloc({}, 4096);
    t.Launch(t.Instantiate(CaptureSmall(&t, stream, block)), stream);
  }
  t.Synchronize();
  return t.Build();
}

// One event for all that two streams wait for, inside of a capture and outside.
Ran OneEvent(uint32_t count) {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  const EventId event = t.Event();
  const BlockId buffer = t.Alloc({}, 4096);
  const GraphId graph = t.BeginCapture(a);
  for (uint32_t i = 0; i < count; ++i) {
    t.Kernel(a, "fill", {Writes(buffer)});
    t.Record(event, a);
    t.Wait(b, event);
    t.Kernel(b, "use", {Reads(buffer)});
    t.Record(event, b);
    t.Wait(a, event);
  }
  t.EndCapture(a);
  const ExecId exec = t.Instantiate(graph);
  for (uint32_t i = 0; i < count; ++i) {
    t.Launch(exec, i % 2 == 0 ? a : b);
    t.Record(event, i % 2 == 0 ? a : b);
    t.Wait(i % 2 == 0 ? b : a, event);
  }
  t.Synchronize();
  return t.Build();
}

// A capture that forks to new streams, each with a block of its own, and joins them.
Ran Forks(uint32_t count) {
  TraceBuilder t;
  const StreamId origin = t.Stream();
  std::vector<StreamId> branches;
  while (branches.size() < count) branches.push_back(t.Stream());
  const BlockId input = t.Alloc({}, 4096);
  const GraphId graph = t.BeginCapture(origin);
  t.Kernel(origin, "fill", {Writes(input)});
  for (const StreamId branch : branches) {
    t.Order(origin, branch);
    const BlockId block = t.Alloc(branch, 4096);
    t.Kernel(branch, "work", {Reads(input), Writes(block)});
    t.Free(block, branch);
  }
  for (const StreamId branch : branches) t.Order(branch, origin);
  t.Kernel(origin, "use", {Reads(input)});
  t.EndCapture(origin);
  t.Launch(t.Instantiate(graph), origin);
  t.Synchronize();
  return t.Build();
}

// Threads that each capture on a stream of their own, and launch.
Ran Threads(uint32_t count) {
  TraceBuilder t;
  t.SetThread(t.Thread("main"));
  const BlockId input = t.Alloc({}, 4096);
  for (uint32_t i = 0; i < count; ++i) {
    t.SetThread(t.Thread());
    const StreamId stream = t.Stream();
    const GraphId graph = t.BeginCapture(stream, {}, CaptureMode::kThreadLocal);
    const BlockId block = t.Alloc(stream, 4096);
    t.Kernel(stream, "fill", {Reads(input), Writes(block)});
    t.Kernel(stream, "use", {Reads(block)});
    t.Free(block);
    t.EndCapture(stream);
    const ExecId exec = t.Instantiate(graph);
    t.Launch(exec, stream);
    t.Synchronize(stream);
    t.Launch(exec, stream);
  }
  t.Synchronize();
  return t.Build();
}

// Graphs in graphs: bodies, which are captured in their place, so that the trace grows by one level
// with each of them. (A child graph is cloned with all that it holds.)
Ran Bodies(uint32_t count, ConditionalType type) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const BlockId buffer = t.Alloc({}, 4096);
  const GraphId outermost = t.BeginCapture(stream);
  for (uint32_t i = 0; i < count; ++i) {
    t.Kernel(stream, "fill", {Writes(buffer)});
    const NodeId holder = t.Conditional(stream, type);
    t.Kernel(stream, "use", {ReadsWrites(buffer)});
    t.EndCapture(stream);
    t.BeginCaptureToGraph(stream, t.Body(holder));
  }
  t.Kernel(stream, "use", {ReadsWrites(buffer)});
  t.EndCapture(stream);
  t.Launch(t.Instantiate(outermost), stream);
  t.Synchronize();
  return t.Build();
}
Ran Conditions(uint32_t count) { return Bodies(count, ConditionalType::kIf); }
Ran Loops(uint32_t count) { return Bodies(count, ConditionalType::kWhile); }

// Child graphs in child graphs that are moved to their place (CUDA 12.9) and not cloned, each with
// memory that the next one inside uses.
Ran Children(uint32_t count) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const GraphId outermost = t.Graph();
  GraphId graph = outermost;
  for (uint32_t i = 0; i < count; ++i) {
    const BlockId block = t.Alloc({}, 4096);
    const NodeId fill = t.Add(graph, NodeKind::kMemset, {}, {Writes(block)});
    graph = t.AddChild(graph, {fill});
    t.Add(graph, NodeKind::kMemcpy, {}, {Reads(block)});
  }
  t.Launch(t.Instantiate(outermost), stream);
  t.Synchronize();
  return t.Build();
}

// Launches of one graph, and work of another stream on its input that only some of them wait for.
Ran Border(uint32_t count) {
  TraceBuilder t;
  const StreamId stream = t.Stream(), other = t.Stream();
  const BlockId input = t.Alloc({}, 4096), output = t.Alloc({}, 4096);
  const GraphId graph = t.BeginCapture(stream);
  t.Memcpy(stream, {Writes(output, 0, 4096), Reads(input, 0, 4096)});
  t.EndCapture(stream);
  const ExecId exec = t.Instantiate(graph);
  for (uint32_t i = 0; i < count; ++i) {
    t.Work(other, NodeKind::kMemset, {Writes(input, 0, 4096)});
    if (i % 2 == 0) t.Order(other, stream);
    t.Launch(exec, stream);
    t.Work(other, NodeKind::kMemcpy, {Reads(output, 0, 4096)});
  }
  t.Synchronize();
  return t.Build();
}

constexpr std::array kKinds = {
    ManyKind{"buffer", "graphs that write one buffer, launched on one stream", Ordered},
    ManyKind{"unordered", "graphs that write one buffer, launched on two streams", Unordered},
    ManyKind{"pool", "graphs of one pool", OnePool},
    ManyKind{"stream", "nodes and blocks of one stream", OneStream},
    ManyKind{"exec", "updates of one exec", OneExec},
    ManyKind{"line", "graphs and blocks that one line makes", OneLine},
    ManyKind{"event", "records of one event", OneEvent},
    ManyKind{"forks", "streams that a capture forks to", Forks},
    ManyKind{"threads", "threads that capture", Threads},
    ManyKind{"nesting", "conditionals in conditionals", Conditions},
    ManyKind{"loops", "loops in loops", Loops},
    ManyKind{"children", "child graphs in child graphs", Children},
    ManyKind{"border", "launches, and work beside them", Border},
};

}  // namespace

std::span<const ManyKind> ManyKinds() { return kKinds; }

}  // namespace graphkit
