// Checks of graphs that CUDA makes no exec of, or doesn't bring to the device.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr int32_t kOutOfMemory = 2, kFirstOfCaptures = 900, kLastOfCaptures = 907,
                  kOfEdgeQueries = 402;

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
struct FailedGraphRules {
  BrokenGraphRule Find() {
    const GraphId root = facts.roots()[of.graph.index()];
    for (const auto& [i, node] : Enumerate(trace.nodes)) {
      if (facts.roots()[node.graph.index()] != root || !WasThere(node.seq, node.destroyed))
        continue;
      nodes.push_back(NodeId(i));
    }
    if (failure.error == kOutOfMemory) return {&kMemory};
    constexpr const GraphRule* kByReason[] = {nullptr, nullptr,    &kCycle,
                                              nullptr, &kContexts, &kHandle};
    const bool known = of.reason > 0 && static_cast<size_t>(of.reason) < std::size(kByReason);
    if (known && kByReason[of.reason] != nullptr) return {kByReason[of.reason], of.node};
    if (of.node.valid()) {
      const GraphRule* rule = RuleOf(of.node);
      return {rule != nullptr ? rule : &kNotSupported, of.node};
    }
    if (trace[failure.call].find("Upload") != std::string_view::npos) return {};
    for (const NodeId node : nodes) {
      if (const GraphRule* rule = RuleOf(node)) return {rule, node};
    }
    return OfWhole();
  }

  bool WasThere(Seq made, Seq gone) const { return made < failure.seq && failure.seq < gone; }
  bool ForDevice() const { return (of.flags & kInstantiateDeviceLaunch) != 0; }

  // Broken by the node alone; null: none.
  const GraphRule* RuleOf(NodeId id) const {
    const Node node = trace[id];
    const bool host = !RowsAt(trace.host_ends, node.seq).empty();
    const bool device = IsWork(node.kind) || node.kind == NodeKind::kChildGraph;
    if (facts.nesting().InConditional(node.graph)) {
      const bool body =
          device || node.kind == NodeKind::kEmpty || node.kind == NodeKind::kConditional;
      if (!body || host) return host ? &kBodyCopy : &kBodyNode;
    }
    if (!ForDevice()) return nullptr;
    return !device ? &kDeviceNode : host ? &kDeviceCopy : nullptr;
  }

  BrokenGraphRule OfWhole() const {
    if (ForDevice() && (of.flags & kInstantiateAutoFreeOnLaunch) != 0) return {&kDeviceAutoFree};
    const auto works = [&](NodeId node) { return IsWork(trace[node].kind); };
    if (ForDevice() && std::ranges::none_of(nodes, works)) return {&kDeviceEmpty};
    if (trace[of.graph].parent.valid()) return {&kInside, trace[of.graph].parent};
    for (const Capture& capture : trace.captures) {
      if (capture.graph == of.graph && WasThere(capture.begin, capture.end)) return {&kCapturing};
    }
    if (HasCycle()) return {&kCycle};
    const auto other = [&](uint32_t at) {
      return WasThere(trace.exec_graphs[at].since, trace.exec_graphs[at].until);
    };
    if (std::ranges::none_of(facts.exec_graphs().Of(of.graph.index()), other)) return {};
    const auto single = std::ranges::find_if(nodes, [&](NodeId node) { return IsSingle(node); });
    return single == nodes.end() ? BrokenGraphRule() : BrokenGraphRule{&kOneExec, *single};
  }

  bool HasCycle() const {
    EdgesAt edges(trace);
    InEdges in{.first = {0}};
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      if (std::ranges::binary_search(nodes, NodeId(i)))
        edges.ForEachInto(NodeId(i), failure.seq, [&](InEdge edge) { in.edges.push_back(edge); });
      in.first.push_back(static_cast<uint32_t>(in.edges.size()));
    }
    return SortNodes(in).size() < trace.nodes.size();
  }

  bool IsSingle(NodeId id) const {
    const NodeKind kind = trace[id].kind;
    if (kind == NodeKind::kMemAlloc || kind == NodeKind::kMemFree) return true;
    if (kind == NodeKind::kConditional) return true;
    return std::ranges::any_of(trace.node_changes, [&](const NodeChange& change) {
      return change.node == id && change.what == NodeChangeKind::kUpdatable;
    });
  }

  const Facts& facts;
  const Failure& failure;
  const Ran& trace = facts.trace;
  const FailedGraph& of = failure.of;
  std::vector<NodeId> nodes = {};
};

// The same graph was instantiated after that, taken over by an update, or launched.
bool WentWell(const Facts& facts, const Failure& failure) {
  if (!LaunchesAfter(facts, failure.of.graph, failure.seq).empty()) return true;
  return std::ranges::any_of(facts.exec_graphs().Of(failure.of.graph.index()), [&](uint32_t at) {
    return facts.trace.exec_graphs[at].since > failure.seq;
  });
}

Finding Describe(const Facts& facts, const Failure& failure, const BrokenGraphRule& broken) {
  const Ran& trace = facts.trace;
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
    if (!failure.of.graph.valid() || of_capture || failure.error == kOfEdgeQueries ||
        IsFailedLaunch(facts.trace, failure))
      continue;  // those by the checks of captures
    const BrokenGraphRule broken = FailedGraphRules{facts, failure}.Find();
    Finding finding = Describe(facts, failure, broken);
    auto& [first, count] = found[{facts.trace[failure.call], broken.rule, finding.severity}];
    if (count++ == 0) first = std::move(finding);
  }
  std::vector<Finding> findings;
  for (auto& [key, counted] : found) {
    auto& [finding, count] = counted;
    if (count > 1) finding.message += "; " + Counted(count, "call") + " failed for this reason";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
