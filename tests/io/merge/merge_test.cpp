
#include "libgraphkit/io/merge/merge.h"
#include <doctest/doctest.h>
#include <algorithm>
#include <string>
#include <vector>
#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/merge/joins.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "libgraphkit/ran/resolve.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

// Files of testdata/import, made by make.py there.
std::vector<MergeInput> ReadSamples(const std::vector<std::string>& names) {
  std::vector<MergeInput> inputs;
  for (const std::string& name : names) {
    Result<Imported> imported = ImportFile(std::string(GRAPHKIT_TESTDATA) + "/import/" + name);
    REQUIRE_MESSAGE(imported.has_value(), Describe(imported.error()));
    inputs.push_back({name, std::move(*imported)});
  }
  return inputs;
}

Merged MergeSamples(const std::vector<std::string>& names) {
  std::vector<MergeInput> inputs = ReadSamples(names);
  Result<Merged> merged = Merge(std::move(inputs));
  REQUIRE_MESSAGE(merged.has_value(), Describe(merged.error()));
  const Result<std::string> written = FormatTrace(merged->trace);
  REQUIRE_MESSAGE(written.has_value(), Describe(written.error()));
  const Result<Trace> again = ParseTrace(*written, "test");
  REQUIRE_MESSAGE(again.has_value(), Describe(again.error()));
  // The texts of labels are known last here, and with their nodes there.
  if (merged->trace.node_labels.empty()) CHECK(*again == merged->trace);
  CHECK(FormatTrace(*again).value() == *written);
  return std::move(*merged);
}

std::vector<uint64_t> Durations(const Trace& trace) {
  std::vector<uint64_t> durations;
  for (const Node& node : trace.nodes) durations.push_back(node.duration_ns);
  return durations;
}

const NotJoined kFreeAddress = {
    "addresses of nodes in a segment where no block lay", 1, {"node 3"}};

// The trace's clock is 700 µs ahead: only the segment that both saw puts the records in order.
//
//     trace     cudaMalloc           k0 copy              k2 memset     end of capture
//     snapshot  segment     alloc A          free A  alloc B    free A completed
TEST_CASE("a trace, a snapshot and a profile of one process become one trace") {
  const Merged merged = MergeSamples({"profile.json", "snapshot.pickle", "trace.json"});
  const Trace& trace = merged.trace;
  CHECK(trace.process.device == DeviceKind::kSoft);
  CHECK(IsComplete(trace));
  REQUIRE(trace.blocks.size() == 3);  // the segment's memory once
  CHECK(trace.segments[0].block == BlockId(0u));
  const Block& a = trace.blocks[1];
  const Block& b = trace.blocks[2];
  CHECK(a.graph == GraphId(0u));
  CHECK(b.graph == GraphId(0u));
  CHECK(trace[trace.stack_frames[trace.stacks[a.stack.index()].frames.first].function] ==
        "forward");
  CHECK(a.stream == trace.nodes[0].stream);
  CHECK(a.allocated < trace.nodes[0].seq);
  CHECK(trace.nodes[1].seq < a.free_requested);
  CHECK(b.allocated < trace.nodes[2].seq);
  CHECK(trace.nodes[3].seq < a.free_completed);
  CHECK(a.free_completed < trace.captures[0].end);
  CHECK(trace.accesses[0] == Access{BlockId(1u), AccessMode::kUnknown, 0, kLengthUnknown});
  CHECK(trace.accesses[1] == Access{BlockId(1u), AccessMode::kUnknown, 4096, kLengthUnknown});
  CHECK(trace.accesses[2] == Access{BlockId(2u), AccessMode::kUnknown, 0, kLengthUnknown});
  CHECK(trace.accesses[3].block == BlockId(0u));
  CHECK(Durations(trace) == std::vector<uint64_t>{5500, 2000, 3250, 0});
  CHECK(merged.not_joined == std::vector<NotJoined>{kFreeAddress});
}

// The clocks agree, and PyTorch wrote the segment down 20 ms after the driver gave its memory.
TEST_CASE("a thread that had to wait is no difference of the clocks") {
  constexpr Nanoseconds kMillisecond = 1'000'000;
  std::vector<MergeInput> inputs = ReadSamples({"snapshot.pickle", "trace.json"});
  Trace& trace = inputs[1].imported.trace;
  trace.clocks[0].wall -= static_cast<int64_t>(30 * kMillisecond) + 700'000;
  for (size_t seq = 0; seq < trace.times.size(); ++seq) {
    if (trace.times[seq] == 0) continue;
    trace.times[seq] += (seq <= trace.blocks[0].allocated ? 10 : 30) * kMillisecond;
  }
  const Result<Merged> merged = Merge(std::move(inputs));
  REQUIRE(merged.has_value());
  const Trace& joined = merged->trace;
  REQUIRE(joined.blocks.size() == 3);
  CHECK(joined.accesses[0].block == BlockId(1u));
  CHECK(joined.accesses[1].block == BlockId(1u));
  CHECK(joined.accesses[2].block == BlockId(2u));
  CHECK(joined.nodes[1].seq < joined.blocks[1].free_requested);
}

TEST_CASE("PyTorch's graph data and drawings are topology, too") {
  for (const char* topology : {"graph_data.pickle", "step.dot"}) {
    const Merged merged = MergeSamples({topology, "profile.json"});
    CHECK(Durations(merged.trace) == std::vector<uint64_t>{5500, 2000, 3250, 0});
    CHECK(merged.not_joined.empty());
  }
}

TEST_CASE("beside nodes whose memory isn't known a snapshot's pools keep their graphs") {
  const Trace trace = MergeSamples({"graph_data.pickle", "snapshot.pickle"}).trace;
  REQUIRE(trace.graphs.size() == 2);
  CHECK(trace[trace.graphs[1].name] == "private pool (1, 0)");
  CHECK(trace.nodes[0].graph == GraphId(0u));
  CHECK(
      std::ranges::none_of(trace.blocks, [](const Block& of) { return of.graph == GraphId(0u); }));
  CHECK(std::ranges::any_of(trace.blocks, [](const Block& of) { return of.graph == GraphId(1u); }));
  const UnknownMemory unknown = FindUnknownMemory(Resolve(trace), FindRoots(trace));
  CHECK(unknown.graphs ==
        std::vector<std::string>{"which memory its nodes use isn't recorded", ""});
  CHECK(unknown.any.empty());
}

TEST_CASE("launch stacks and annotations go to the nodes of their ids") {
  const Merged merged =
      MergeSamples({"node_annotations.json", "graph_data.pickle", "node_stacks.json"});
  const Trace& trace = merged.trace;
  REQUIRE(trace.nodes.size() == 4);
  CHECK(trace.nodes[0].stack.valid());
  CHECK(trace.nodes[2].stack == trace.nodes[0].stack);
  CHECK_FALSE(trace.nodes[1].stack.valid());
  const StackFrame& frame =
      trace.stack_frames[trace.stacks[trace.nodes[0].stack.index()].frames.first];
  CHECK(trace[frame.file] == "/app/model.py");
  REQUIRE(RowsAt(trace.node_labels, trace.nodes[0].seq).size() == 1);
  CHECK(trace[RowsAt(trace.node_labels, trace.nodes[0].seq)[0].text] == "attention");
  CHECK(RowsAt(trace.node_labels, trace.nodes[2].seq).empty());
  CHECK(
      merged.not_joined ==
      std::vector<NotJoined>{
          {"nodes with a launch stack or an annotation that no graph has", 1, {"graph 7 node 0"}}});
}

TEST_CASE("several graphs are put one after the other") {
  const Merged merged = MergeSamples({"graph_data.pickle", "step.dot", "trace.json"});
  CHECK(merged.trace.graphs.size() == 3);
  CHECK(merged.trace.nodes.size() == 12);
  CHECK(merged.trace.process.program == "python");  // the tracer's process
}

TEST_CASE("durations go to nodes of that id and that kernel only") {
  Trace trace;
  trace.kernels.resize(1);
  trace.kernels[0].name = trace.strings.Intern("_Z6squarePfi");
  trace.nodes = {{.kernel = KernelId(0u)}, {}};
  NotJoinedList not_joined;
  const std::vector<NodeTime> times = {
      {1, "void square<4>(float*, int)", 2, 10}, {2, "other", 1, 3}, {9, "square", 1, 3}};
  CHECK(JoinTimes(times, {{1, NodeId(0u)}, {2, NodeId(1u)}}, &trace, &not_joined) == 1);
  CHECK(Durations(trace) == std::vector<uint64_t>{5, 0});
  CHECK(not_joined.Take() ==
        std::vector<NotJoined>{
            {"nodes of the profile that are other kernels in the graph",
             1,
             {"graph 0 node 2 (other)"}},
            {"nodes of the profile that no graph has", 1, {"graph 0 node 9 (square)"}}});
}

// The launches run the copies that the execs hold, by the ids that the tracer recorded of them:
// here of the second node first, in two execs.
TEST_CASE("durations go to the nodes whose copies ran") {
  constexpr uint64_t kExec = uint64_t{5} << 32;
  constexpr uint64_t kOther = uint64_t{9} << 32;
  Trace trace;
  trace.graphs.resize(1);
  trace.graphs[0].tool_id = 4;
  trace.nodes = {{.graph = GraphId(0u)}, {.graph = GraphId(0u)}};
  trace.execs = {{.graph = GraphId(0u), .tool_id = 5, .node_ids = {0, 2}, .created = 9},
                 {.graph = GraphId(0u), .tool_id = 9, .created = 9}};
  trace.tool_id_runs = {{NodeId(1u), 1, kExec}, {NodeId(0u), 1, kExec + 7}};
  std::map<uint64_t, NodeId> by_tool_id;
  AddTracedToolIds(trace, &by_tool_id);
  CHECK(by_tool_id == std::map<uint64_t, NodeId>{{uint64_t{4} << 32, NodeId(0u)},
                                                 {(uint64_t{4} << 32) + 1, NodeId(1u)},
                                                 {kExec, NodeId(1u)},
                                                 {kExec + 7, NodeId(0u)},
                                                 {kOther, NodeId(0u)},
                                                 {kOther + 1, NodeId(1u)}});
  NotJoinedList not_joined;
  const std::vector<NodeTime> times = {
      {kExec, "", 1, 10}, {kExec + 7, "", 1, 100}, {kOther + 1, "", 3, 90}};
  CHECK(JoinTimes(times, by_tool_id, &trace, &not_joined) == 3);
  CHECK(Durations(trace) == std::vector<uint64_t>{100, 25});  // of 4 launches
  CHECK(not_joined.Take().empty());
}

// Memory of 2 MiB that an allocator hands a block out of, and a copy outside of graphs that the
// trace knows by that memory alone.
TEST_CASE("work outside of graphs touches the blocks of the snapshot") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const BlockId memory = t.AllocAt(s, 2 << 20, 0x200000);
  const SegmentId segment = t.Segment(t.Pool(PoolKind::kAllocator), 2 << 20, s);
  const BlockId block = t.AllocAt(s, 4096, 0x201000);
  t.Work(s, NodeKind::kMemcpy, {Reads(memory, 0x1200, 1024), Reads(memory, 0x8000, 64)});
  Trace trace = t.trace();
  trace.segments[segment.index()].block = memory;
  trace.blocks.Change(block.index(), [&](Block& b) { b.segment = segment; });
  NotJoinedList not_joined;
  CHECK(JoinAccesses(std::vector{block}, &trace, &not_joined) == 1);
  CHECK(trace.accesses[0] == Reads(block, 0x200, 1024));
  CHECK(trace.accesses[1].block == memory);
  CHECK(not_joined.Take() ==
        std::vector<NotJoined>{{"addresses of nodes in a segment where no block "
                                "lay",
                                1,
                                {"work outside of graphs"}}});
}

// PyTorch 2.8's history has no pools: only the snapshot's end would name that of a graph that is
// gone.
TEST_CASE("a block in memory that the driver gave a capture is that graph's") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const GraphId graph = t.BeginCapture(s, "step");
  const BlockId memory = t.AllocAt(s, 2 << 20, 0x200000);
  const SegmentId segment = t.Segment(t.Pool(PoolKind::kAllocator), 2 << 20, s);
  const BlockId block = t.AllocAt(s, 512, 0x200000);
  t.Kernel(s, "k");
  t.EndCapture(s);
  Trace trace = t.trace();
  trace.segments[segment.index()].block = memory;
  trace.blocks.Change(memory.index(), [&](Block& b) { b.graph = graph; });
  trace.blocks.Change(block.index(), [&](Block& b) {
    b.segment = segment;
    b.pool = trace.segments[segment.index()].pool;
    b.graph = {};
  });
  NotJoinedList not_joined;
  CHECK(JoinCaptures(std::vector{block}, &trace, &not_joined) == 1);
  CHECK(trace[block].graph == graph);
}

TEST_CASE("a block that its segment was got for has the stack that tells a workspace") {
  TraceBuilder t;
  const StackId workspace = t.Stack({{"at::cuda::getCurrentCUDABlasHandle()", "libtorch_cuda.so"}});
  const StackId line = t.Stack({{"forward", "attention.py", 533}});
  const StreamId s = t.Stream();
  const BlockId memory = t.AllocAt(s, 20 << 20, 0x2000000);
  const SegmentId segment = t.Segment(t.Pool(PoolKind::kAllocator), 20 << 20, s);
  const BlockId first = t.AllocAt(s, 8 << 20, 0x2000000);
  const BlockId second = t.AllocAt(s, 1 << 20, 0x2800000);
  t.Free(first);
  const BlockId later = t.AllocAt(s, 8 << 20, 0x2000000);
  Trace trace = t.trace();
  trace.segments[segment.index()].block = memory;
  trace.segments[segment.index()].address = 0x2000000;
  trace.blocks.Change(memory.index(), [&](Block& b) { b.stack = workspace; });
  for (const BlockId block : {first, second, later}) {
    trace.blocks.Change(block.index(), [&](Block& b) {
      b.segment = segment;
      b.stack = line;
    });
  }
  JoinWorkspaces(std::vector{first, second, later}, &trace);
  CHECK(trace[first].stack == workspace);
  CHECK(trace[second].stack == line);
  CHECK(trace[later].stack == line);
}

TEST_CASE("a kernel's name without what compilers add to it") {
  CHECK(BaseName("_Z6squarePfi") == "square");
  CHECK(BaseName("void at::native::(anonymous namespace)::k<4, float>(int)") == "at::native::k");
  CHECK(BaseName("ampere_sgemm_128x64_nn") == "ampere_sgemm_128x64_nn");
}

TEST_CASE("of several snapshots the longest is taken, and the others are named") {
  const Merged merged = MergeSamples({"snapshot.pickle", "snapshot.pickle", "trace.json"});
  CHECK(std::ranges::count(merged.not_joined,
                           NotJoined{"snapshots beside the longest one", 1, {"snapshot.pickle"}}) ==
        1);
}

TEST_CASE("a snapshot alone stays as it is imported") {
  const Merged merged = MergeSamples({"snapshot.pickle"});
  CHECK(merged.trace.graphs.size() == 1);
  CHECK(merged.trace.blocks.size() == 3);
}

TEST_CASE("recordings of two programs are refused") {
  std::vector<MergeInput> inputs;
  for (const char* name : {"fork_join.json", "leaky.json"}) {
    Result<Imported> imported = ImportFile(std::string(GRAPHKIT_TESTDATA) + "/traces/soft/" + name);
    REQUIRE(imported.has_value());
    inputs.push_back({name, std::move(*imported)});
  }
  const Result<Merged> merged = Merge(std::move(inputs));
  REQUIRE_FALSE(merged.has_value());
  CHECK(merged.error().file == "leaky.json");
  CHECK(merged.error().message.find("it is of leaky (process") == 0);
}

// On the software device processes are given the same addresses.
TEST_CASE("a snapshot of another program is refused") {
  const std::string folder = std::string(GRAPHKIT_TESTDATA) + "/torch-scenarios/";
  const auto merge = [&](const char* name, MergeOf of = MergeOf::kFiles) {
    std::vector<MergeInput> inputs;
    for (const char* file : {"bf16_states.json.zst", name}) {
      Result<Imported> imported = ImportFile(folder + file);
      REQUIRE(imported.has_value());
      inputs.push_back({file, std::move(*imported)});
    }
    return Merge(std::move(inputs), of);
  };
  const Result<Merged> merged = merge("bf16_states.pickle.zst");
  REQUIRE(merged.has_value());
  CHECK(merged->warnings.empty());
  const Result<Merged> refused = merge("bf16_states.fixed.pickle.zst");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message ==
        "it is of another process than bf16_states.json.zst: its history began 8 s after "
        "bf16_states.json.zst had ended");
  CHECK(merge("bf16_states.fixed.pickle.zst", MergeOf::kOneProcess).has_value());
}

}  // namespace
}  // namespace graphkit
