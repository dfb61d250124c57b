// Checks of graphs that CUDA makes no exec of, or doesn't bring to the device.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {
namespace {

constexpr int32_t kOutOfMemory = 2, kFirstOfCaptures = 900, kLastOfCaptures = 907;

// CUDA's rules of what an exec can be made of.
struct GraphRule {
  const char* broken;  // after the node, if one breaks it
  const char* advice;
  const char* source;
};

constexpr const char* kBodies =
    "CUDA Programming Guide, conditional node body graph requirements; cuda.h, "
    "CUDA_CONDITIONAL_NODE_PARAMS";
constexpr const char* kOnDevice =
    "CUDA Driver API, cuGraphInstantiateWithParams: graphs instantiated for launch on the device";
constexpr const char* kResults = "CUDA Driver API, CUgraphInstantiateResult";

// clang-format off
constexpr GraphRule kBodyNode{
    "the body of a conditional node can contain only kernels, copies, memsets, empty nodes, child graphs and conditional nodes",
    "move that node before or after the conditional node; allocate the body's memory before it", kBodies};
constexpr GraphRule kBodyCopy{
    "copies in the body of a conditional node can use only device memory and page-locked memory",
    "copy from or to memory of cudaMallocHost", kBodies};
constexpr GraphRule kDeviceNode{
    "a graph for launch on the device can contain only kernels, copies, memsets and child graphs",
    "instantiate without cudaGraphInstantiateFlagDeviceLaunch, or leave that node out", kOnDevice};
constexpr GraphRule kDeviceCopy{
    "copies in a graph for launch on the device can use only device memory and page-locked memory",
    "copy from or to memory of cudaMallocHost", kOnDevice};
constexpr GraphRule kDeviceEmpty{
    "a graph for launch on the device needs at least one kernel, copy or memset",
    "don't instantiate an empty graph for the device", kOnDevice};
constexpr GraphRule kDeviceAutoFree{
    "a graph for launch on the device can't free its memory on launch",
    "use one of cudaGraphInstantiateFlagDeviceLaunch and …AutoFreeOnLaunch", kOnDevice};
constexpr GraphRule kOneExec{
    "a graph with memory nodes, conditional nodes or kernels that devices update can have only one exec at a time",
    "destroy the other exec first, or update it (cudaGraphExecUpdate); capture the work again for a second exec",
    "CUDA Driver API, cuGraphInstantiateWithParams; cuda.h, CU_GRAPH_NODE_TYPE_CONDITIONAL"};
constexpr GraphRule kCapturing{
    "the graph was still being captured", "end its capture first",
    "CUDA Driver API, cuStreamBeginCaptureToGraph"};
constexpr GraphRule kInside{
    "the graph belongs to a node of another graph", "instantiate the graph that contains that node",
    "CUDA Driver API, cuGraphChildGraphNodeGetGraph"};
constexpr GraphRule kMemory{
    "the device is out of memory", "destroy execs that are no longer needed (graphkit analyze finds them), or keep memory free for them (graphkit estimate)",
    "CUDA Driver API, CUDA_ERROR_OUT_OF_MEMORY"};
constexpr GraphRule kCycle{
    "the edges of the graph form a cycle", "remove an edge of the cycle", kResults};
constexpr GraphRule kNotSupported{
    "it does something that isn't supported there",
    "a kernel must not launch kernels there, and a copy must not use CUDA arrays", kResults};
constexpr GraphRule kContexts{
    "its context isn't that of the graph's other nodes", "make all nodes in one context", kResults};
constexpr GraphRule kHandle{
    "a conditional handle of the graph has no conditional node",
    "create a handle only where its node follows", kResults};
constexpr GraphRule kUnknownRule{
    "CUDA gives no reason, and the recorded graph breaks no rule that graphkit knows",
    "call cudaGraphInstantiateWithParams: its result_out and errNode_out give more",
    kResults};
// clang-format on

struct BrokenGraphRule {
  const GraphRule* rule = &kUnknownRule;
  NodeId node = {};
};

bool IsWork(NodeKind kind) {
  return kind == NodeKind::kKernel || kind == NodeKind::kMemcpy || kind == NodeKind::kMemset;
}

// The graph of a failed call, as it was then.
class FailedGraphRules {
 public:
  FailedGraphRules(const Facts& facts, const Failure& failure)
      : trace_(facts.trace), failure_(failure), of_(failure.of) {
    const GraphId root = facts.roots()[of_.graph.index()];
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      const Node node = trace_.nodes[i];
      if (facts.roots()[node.graph.index()] != root || !WasThere(node.seq, node.destroyed))
        continue;
      nodes_.push_back(NodeId(i));
    }
  }

  BrokenGraphRule Find() const {
    if (failure_.error == kOutOfMemory) return {&kMemory};
    constexpr const GraphRule* kByReason[] = {nullptr, nullptr,    &kCycle,
                                              nullptr, &kContexts, &kHandle};
    const bool known = of_.reason > 0 && static_cast<size_t>(of_.reason) < std::size(kByReason);
    if (known && kByReason[of_.reason] != nullptr) return {kByReason[of_.reason], of_.node};
    if (of_.node.valid()) {
      const GraphRule* rule = RuleOf(of_.node);
      return {rule != nullptr ? rule : &kNotSupported, of_.node};
    }
    if (trace_[failure_.call].find("Upload") != std::string_view::npos) return {};
    for (const NodeId node : nodes_) {
      if (const GraphRule* rule = RuleOf(node)) return {rule, node};
    }
    return OfWhole();
  }

 private:
  bool WasThere(Seq made, Seq gone) const { return made < failure_.seq && failure_.seq < gone; }
  bool ForDevice() const { return (of_.flags & kInstantiateDeviceLaunch) != 0; }

  // Broken by the node alone; null: none.
  const GraphRule* RuleOf(NodeId id) const {
    const Node node = trace_[id];
    const bool host = !RowsAt(trace_.host_ends, node.seq).empty();
    const bool device = IsWork(node.kind) || node.kind == NodeKind::kChildGraph;
    if (InConditional(trace_, id)) {
      const bool body =
          device || node.kind == NodeKind::kEmpty || node.kind == NodeKind::kConditional;
      if (!body || host) return host ? &kBodyCopy : &kBodyNode;
    }
    if (!ForDevice()) return nullptr;
    return !device ? &kDeviceNode : host ? &kDeviceCopy : nullptr;
  }

  BrokenGraphRule OfWhole() const {
    if (ForDevice() && (of_.flags & kInstantiateAutoFreeOnLaunch) != 0) return {&kDeviceAutoFree};
    const auto works = [&](NodeId node) { return IsWork(trace_[node].kind); };
    if (ForDevice() && std::ranges::none_of(nodes_, works)) return {&kDeviceEmpty};
    if (trace_[of_.graph].parent.valid()) return {&kInside, trace_[of_.graph].parent};
    for (const Capture& capture : trace_.captures) {
      if (capture.graph == of_.graph && WasThere(capture.begin, capture.end)) return {&kCapturing};
    }
    if (HasCycle()) return {&kCycle};
    const auto other = [&](const Exec& exec) {
      return exec.graph == of_.graph && WasThere(exec.created, exec.destroyed);
    };
    if (std::ranges::none_of(trace_.execs, other)) return {};
    const auto single = std::ranges::find_if(nodes_, [&](NodeId node) { return IsSingle(node); });
    return single == nodes_.end() ? BrokenGraphRule() : BrokenGraphRule{&kOneExec, *single};
  }

  bool HasCycle() const {
    EdgesAt edges(trace_);
    InEdges in{.first = {0}};
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      if (std::ranges::binary_search(nodes_, NodeId(i)))
        std::ranges::copy(edges.Into(NodeId(i), failure_.seq), std::back_inserter(in.edges));
      in.first.push_back(static_cast<uint32_t>(in.edges.size()));
    }
    return SortNodes(in).size() < trace_.nodes.size();
  }

  bool IsSingle(NodeId id) const {
    const NodeKind kind = trace_[id].kind;
    if (kind == NodeKind::kMemAlloc || kind == NodeKind::kMemFree) return true;
    if (kind == NodeKind::kConditional) return true;
    return std::ranges::any_of(trace_.node_changes, [&](const NodeChange& change) {
      return change.node == id && change.what == NodeChangeKind::kUpdatable;
    });
  }

  const Trace& trace_;
  const Failure& failure_;
  const FailedGraph& of_;
  std::vector<NodeId> nodes_;
};

// The same graph was instantiated after that, or launched.
bool WentWell(const Facts& facts, const Failure& failure) {
  const Trace& trace = facts.trace;
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    if (trace.execs[i].graph != failure.of.graph) continue;
    if (trace.execs[i].created > failure.seq) return true;
    const auto later = [&](uint32_t launch) { return trace.launches[launch].seq > failure.seq; };
    if (std::ranges::any_of(facts.exec_launches().Of(i), later)) return true;
  }
  return false;
}

Finding Describe(const Facts& facts, const Failure& failure, const BrokenGraphRule& broken) {
  const Trace& trace = facts.trace;
  const bool upload = trace[failure.call].find("Upload") != std::string_view::npos;
  Finding finding{.severity = WentWell(facts, failure) ? Severity::kNote : Severity::kError,
                  .graph = failure.of.graph};
  finding.message =
      Say(trace, "{} of {} failed ({})", trace[failure.call], finding.graph, failure.error);
  finding.message += broken.node.valid() ? Say(trace, " at {}: ", broken.node) : ": ";
  finding.message += broken.rule->broken;
  finding.advice = broken.rule->advice;
  if (broken.node.valid()) {
    finding.nodes = {broken.node};
    AddEvidence(&finding,
                NameOf(trace, broken.node) +
                    (failure.of.node == broken.node ? " is the one that CUDA names" : ""),
                trace[broken.node].stack, {broken.node});
  }
  AddEvidence(&finding,
              Say(trace, "the {} failed {}", upload ? "upload" : "instantiation",
                  facts.places().Of(failure.seq)),
              failure.stack);
  AddEvidence(&finding, std::string("the rule: ") + broken.rule->source);
  return finding;
}

}  // namespace

// instantiate-failed: graphs that CUDA made no exec of, or didn't upload, and the rule they break.
std::vector<Finding> FindFailedInstantiations(const Facts& facts) {
  std::map<std::tuple<std::string_view, const GraphRule*, Severity>, std::pair<Finding, size_t>>
      found;
  for (const Failure& failure : facts.trace.failures) {
    const bool of_capture = failure.error >= kFirstOfCaptures && failure.error <= kLastOfCaptures;
    if (!failure.of.graph.valid() || of_capture) continue;  // those by the checks of captures
    const BrokenGraphRule broken = FailedGraphRules(facts, failure).Find();
    Finding finding = Describe(facts, failure, broken);
    auto& [first, count] = found[{facts.trace[failure.call], broken.rule, finding.severity}];
    if (count++ == 0) first = std::move(finding);
  }
  std::vector<Finding> findings;
  for (auto& [key, counted] : found) {
    auto& [finding, count] = counted;
    if (count > 1) finding.message += "; " + Count(count, "call") + " failed for this reason";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
