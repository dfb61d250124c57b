#include "tests/io/trace/random_trace.h"

#include <algorithm>
#include <random>
#include <string>

#include "libgraphkit/model/access_map.h"
#include "libgraphkit/model/names.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed), t_(DeviceKind::kCuda) {}

  Trace Run(int steps) {
    streams_ = {t_.Stream("main", StreamKind::kLegacyDefault), t_.Stream("side \"1\"\n"),
                t_.Stream("\xc3\xa9t\xc3\xa9")};
    t_.Stack({{"main", "main.cu", 12}, {"start", {}, 0}});
    for (int i = 0; i < steps; ++i) Step();
    Trace trace = t_.Record();
    Vary(trace);
    MapAccesses(&trace);
    return trace;
  }

 private:
  static constexpr int kKinds = 25;

  uint32_t Pick(size_t count) { return static_cast<uint32_t>(random_() % count); }
  StreamId Stream() { return streams_[Pick(streams_.size())]; }
  BlockId Block() { return BlockId(Pick(t_.trace().blocks.size())); }

  void Step() {
    const bool capturing = t_.Capturing(streams_[0]);
    if (!capturing && Pick(4) == 0) t_.BeginCapture(streams_[0], Pick(2) ? "step" : "");
    if (capturing && Pick(20) == 0) return EndCapture();
    const StreamId stream = Stream();
    if (t_.Capturing(stream) && Pick(2)) return Node(stream);
    Other(stream, Pick(kKinds));
  }

  void EndCapture() {
    const GraphId graph = t_.trace().captures.back().graph;
    if (Pick(4) == 0) return t_.InvalidateCapture(streams_[0], "cudaMalloc", 900);
    t_.EndCapture(streams_[0]);
    const ExecId exec = t_.Instantiate(graph, Pick(2));
    t_.Launch(exec, Stream());
    if (Pick(2))
      t_.Read({.exec = exec,
               .call = ExecCall::kUpload,
               .disturbed = Pick(2) == 1,
               .before = Pick(9),
               .after = Pick(9)});
    for (uint32_t i = Pick(4); i > 0; --i) Change(Pick(2) ? exec : ExecId());
    if (Pick(2)) t_.Update(exec, graph, static_cast<int32_t>(Pick(3)), Pick(2) == 1);
    if (Pick(2)) t_.Destroy(exec);
    if (Pick(2)) t_.Destroy(graph);
  }

  void Change(ExecId exec) {
    if (t_.trace().nodes.empty()) return;
    const NodeId node(Pick(t_.trace().nodes.size()));
    if (Pick(2)) return t_.Change(node, exec, static_cast<NodeChangeKind>(1 + Pick(3)));
    if (t_.trace().blocks.empty()) return t_.Change(node, exec, NodeChangeKind::kParams);
    t_.Change(node, exec, NodeChangeKind::kParams, {Reads(Block()), Writes(Block(), 8, 8)},
              Pick(2) == 1);
  }

  void Node(StreamId stream) {
    const bool touch = !t_.trace().blocks.empty() && Pick(2);
    const BlockId block = touch ? Block() : BlockId();
    switch (Pick(8)) {
      case 0:
        t_.Memset(stream);
        break;
      case 1:
        t_.ProgrammaticKernel(stream, "_Z1bv");
        break;
      case 2:
        t_.KernelWithEvent(stream, t_.Event(), kPortLaunchCompletion, "_Z1cv");
        break;
      case 3:
        t_.FreeNode(stream, t_.AllocNode(stream, 100 + Pick(10'000)));
        break;
      case 4:
        Nested(stream);
        break;
      default:
        if (touch) t_.Kernel(stream, "_Z1dv", {Reads(block), Writes(block, 16, Pick(100))});
        if (!touch) t_.Kernel(stream, "_Z1a" + std::to_string(Pick(9)));
        if (Pick(4) == 0) Collect();
    }
  }

  void Collect() {
    if (t_.trace().communicators.empty()) return;
    for (uint32_t i = Pick(3); i > 0; --i) {
      t_.Collect(CommunicatorId(Pick(t_.trace().communicators.size())),
                 static_cast<CollectiveKind>(Pick(Names<CollectiveKind>::value.size())), Pick(99),
                 static_cast<ElementType>(Pick(Names<ElementType>::value.size())),
                 static_cast<int32_t>(Pick(3)) - 1);
    }
  }

  void Nested(StreamId stream) {
    const NodeId node = t_.Conditional(stream, static_cast<ConditionalType>(Pick(3)));
    for (uint32_t i = Pick(3); i > 0; --i) t_.Add(t_.Body(node), NodeKind::kEmpty);
    if (!t_.trace().captures.empty()) t_.ChildGraph(stream, t_.trace().captures[0].graph);
  }

  void Other(StreamId stream, uint32_t kind) {
    const size_t blocks = t_.trace().blocks.size();
    switch (kind) {
      case 0:
        return t_.SetThread(t_.Thread("worker"));
      case 1:
        return t_.SetStack(Pick(2) ? StackId() : t_.Stack({{"f", "f.cc", Pick(99)}}));
      case 2:
        return t_.NvtxPush("range", Pick(2) ? "domain" : "");
      case 3:
        return t_.NvtxPop();
      case 4:
        return t_.NvtxPop("domain");
      case 5:
        t_.Fail("cudaMalloc", 2, stream);
        return;
      case 6:
        return t_.Destroy(t_.Event());
      case 7:
        return t_.Synchronize();
      case 8:
        return t_.Synchronize(stream);
      case 9:
        return t_.Destroy(t_.Stream());
      case 10:
        t_.Function("_Z1kv", static_cast<Ternary>(Pick(3)));
        return;
      case 11:
        return t_.FreeSegment(t_.Segment(t_.Pool(PoolKind::kPrivate, "p"), 1 << 20, stream));
      case 12:
        return t_.SetPool(t_.Pool(static_cast<PoolKind>(Pick(7))));
      case 13:
        if (!t_.trace().edges.empty()) t_.Remove(EdgeId(t_.trace().edges.size() - 1));
        return;
      case 14:
        return RewindFrontier(stream);
      case 15:
        if (blocks > 0) t_.RecordStream(Block(), stream);
        return;
      case 16:
        return FreeOne();
      case 17:
        return t_.SetTime(1 + Pick(1'000'000));
      case 18:
        t_.Add(t_.Graph("explicit"), NodeKind::kHost);
        return;
      case 19:
        return t_.Order(Stream(), stream);
      case 20:
        if (blocks > 0) t_.Work(stream, "_Z1wv", {Reads(Block()), Writes(Block(), 8, 8)});
        t_.Work(stream, static_cast<NodeKind>(1 + Pick(3)));
        return Collect();
      case 21: {
        const CommunicatorId made = t_.Communicator(2 + Pick(6), Pick(2), Pick(9));
        if (Pick(3) == 0) t_.Destroy(made);
      }
        return;
      default:
        t_.Alloc(stream, Pick(1 << 20));
    }
  }

  void RewindFrontier(StreamId stream) {
    if (!t_.Capturing(stream) || t_.trace().nodes.empty()) return;
    const GraphId graph = t_.trace().captures.back().graph;
    const NodeId node = t_.last_node();
    if (t_.trace()[node].graph == graph) t_.SetFrontier(stream, {{node, 1, 1}});
  }

  void FreeOne() {
    if (t_.trace().blocks.empty()) return;
    const BlockId block = Block();
    if (t_.trace()[block].freed()) return;
    if (Pick(2)) return t_.Free(block, Stream());
    t_.RequestFree(block);
    if (Pick(2)) t_.CompleteFree(block);
  }

  // Sets the fields that the builder doesn't.
  void Vary(Trace& trace) {
    trace.process.pid = 4242;
    trace.process.program = "/bin/app";
    trace.process.args = {"-n", "3", "tab\there"};
    trace.process.environment = {"NCCL_GRAPH_REGISTER=0"};
    trace.process.unknown_memory = "no sizes";
    trace.process.driver_version = 13000;
    for (size_t i = 0; i < trace.nodes.size(); i += 3) {
      trace.nodes.Change(i, [](graphkit::Node& node) {
        node.duration_ns = 1000;
        node.source = Source::kWalk;
      });
    }
    for (NvtxRange& range : trace.nvtx_ranges) range.colour = Pick(2) ? 0xff00ff00 : 0;
    for (Exec& exec : trace.execs) NameNodes(trace, exec);
    for (Launch& launch : trace.launches) launch.correlation = Pick(3);
    for (Kernel& kernel : trace.kernels) {
      if (Pick(2)) continue;
      kernel.has_layout = true;
      const uint32_t count = Pick(3);
      if (count != 0) kernel.params = {static_cast<uint32_t>(trace.kernel_params.size()), count};
      for (uint32_t i = 0; i < count; ++i) trace.kernel_params.push_back({8 * i, 8});
    }
  }

  void NameNodes(Trace& trace, Exec& exec) {
    const auto made = [&](const auto& node) { return node.seq < exec.created; };
    const auto nodes = static_cast<uint32_t>(std::ranges::count_if(trace.nodes, made));
    if (nodes == 0 || Pick(2)) return;
    const NodeId first(Pick(nodes));
    exec.node_ids = {static_cast<uint32_t>(trace.tool_id_runs.size()), 2};
    trace.tool_id_runs.push_back({first, 1 + Pick(nodes - first.value), uint64_t{7} << 32 | 3});
    trace.tool_id_runs.push_back({NodeId(0u), 1, ~uint64_t{0}});
  }

  std::mt19937_64 random_;
  TraceBuilder t_;
  std::vector<StreamId> streams_;
};

}  // namespace

Trace RandomTrace(uint64_t seed, int steps) { return RandomProgram(seed).Run(steps); }

}  // namespace graphkit
