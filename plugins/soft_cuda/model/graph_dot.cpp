#include "plugins/soft_cuda/model/graph_dot.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <vector>

#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft {
namespace {

__attribute__((format(printf, 1, 2))) std::string Format(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string Pointer(const void* pointer) {
  return Format("0x%016" PRIXPTR, reinterpret_cast<uintptr_t>(pointer));
}
std::string Pointer(CUdeviceptr address) { return Format("0x%016llX", address); }

std::string GraphName(const Graph& graph) { return "graph_" + std::to_string(graph.id); }
std::string NodeName(const Node& node) {
  return GraphName(*node.graph) + "_node_" + std::to_string(node.index);
}

const char* TypeName(CUgraphNodeType type) {
  constexpr const char* kNames[] = {
      "KERNEL",       "MEMCPY",       "MEMSET",           "HOST",           "GRAPH",     "EMPTY",
      "EVENT_WAIT",   "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE",
      "BATCH_MEM_OP", "CONDITIONAL"};
  return type >= 0 && type < 14 ? kNames[type] : "UNKNOWN";
}

// "640", "{16,10,2}" with what a record's label has to escape.
std::string Dimensions(const unsigned (&size)[3]) {
  if (size[1] == 1 && size[2] == 1) return std::to_string(size[0]);
  return size[2] == 1 ? Format("\\{%u,%u\\}", size[0], size[1])
                      : Format("\\{%u,%u,%u\\}", size[0], size[1], size[2]);
}

struct Field {
  std::string name;
  std::string value;
};
using Fields = std::vector<Field>;

// "{{ID | dptr} | {3 | 0x…}}"
std::string Table(const Fields& fields) {
  std::string names;
  std::string values;
  for (const Field& field : fields) {
    const char* between = names.empty() ? "" : " | ";
    names += between + field.name;
    values += between + field.value;
  }
  return "{{" + names + "} | {" + values + "}}";
}

std::string Number(uint64_t number) { return std::to_string(number); }

const char* CopyKind(const CUDA_MEMCPY3D& c) {
  const bool from_host = c.srcMemoryType == CU_MEMORYTYPE_HOST;
  const bool to_host = c.dstMemoryType == CU_MEMORYTYPE_HOST;
  if (c.srcMemoryType == CU_MEMORYTYPE_UNIFIED || c.dstMemoryType == CU_MEMORYTYPE_UNIFIED)
    return "Default (UNIFIED)";
  if (from_host) return to_host ? "HtoH (HOST to HOST)" : "HtoD (HOST to DEVICE)";
  return to_host ? "DtoH (DEVICE to HOST)" : "DtoD (DEVICE to DEVICE)";
}

std::string Position(const char* name, size_t x, size_t y, size_t z) {
  return Format("{%s | {{x | %zu} | {y | %zu} | {z | %zu}}}", name, x, y, z);
}

std::string CopyRows(const CUDA_MEMCPY3D& c) {
  const auto from =
      c.srcMemoryType == CU_MEMORYTYPE_HOST ? Pointer(c.srcHost) : Pointer(c.srcDevice);
  const auto to = c.dstMemoryType == CU_MEMORYTYPE_HOST ? Pointer(c.dstHost) : Pointer(c.dstDevice);
  return Format("| {kind | %s}\n", CopyKind(c)) +
         Format(
             "| {{srcPtr | dstPtr} | {pitch | ptr | xsize | ysize | pitch | ptr | xsize | "
             "ysize} | {%zu | %s | 0 | %zu | %zu | %s | 0 | %zu}}\n",
             c.srcPitch, from.c_str(), c.srcHeight, c.dstPitch, to.c_str(), c.dstHeight) +
         "| {" + Position("srcPos", c.srcXInBytes, c.srcY, c.srcZ) + " | " +
         Position("dstPos", c.dstXInBytes, c.dstY, c.dstZ) +
         Format(" | {Extent | {{Width | %zu} | {Height | %zu} | {Depth | %zu}}}}\n", c.WidthInBytes,
                c.Height, c.Depth);
}

std::string AttributeRows(const std::vector<CUlaunchAttribute>& attributes) {
  CUaccessPolicyWindow window = {};
  int cooperative = 0;
  int priority = 0;
  for (const CUlaunchAttribute& a : attributes) {
    if (a.id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) window = a.value.accessPolicyWindow;
    if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = a.value.cooperative;
    if (a.id == CU_LAUNCH_ATTRIBUTE_PRIORITY) priority = a.value.priority;
  }
  const auto property = [](CUaccessProperty p) {
    return p == CU_ACCESS_PROPERTY_NORMAL ? 'N' : p == CU_ACCESS_PROPERTY_STREAMING ? 'S' : 'P';
  };
  return Format(
      "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | "
      "{%s | %zu | %f | %c | %c}}\n| {cooperative | %d}\n| {priority | %d}\n",
      Pointer(window.base_ptr).c_str(), window.num_bytes, static_cast<double>(window.hitRatio),
      property(window.hitProp), property(window.missProp), cooperative, priority);
}

// Fields that a node's parameters add to its table, by type; kernels and copies have rows instead.
struct ParameterFields {
  template <typename T>
  Fields operator()(const T&) const {
    return {};
  }
  Fields operator()(const std::unique_ptr<MemsetParams>& p) const {
    const CUDA_MEMSET_NODE_PARAMS& s = p->set;
    return {{"dptr", Pointer(s.dst)},   {"pitch", Number(s.pitch)},
            {"value", Number(s.value)}, {"elementSize", Number(s.elementSize)},
            {"width", Number(s.width)}, {"height", Number(s.height)}};
  }
  Fields operator()(const HostParams& p) const {
    return {{"fn", Pointer(reinterpret_cast<const void*>(p.function))},
            {"userData", Pointer(p.user_data)}};
  }
  Fields operator()(const EventParams& p) const {
    return {{"event", Pointer(static_cast<const void*>(p.event))}};
  }
  Fields operator()(const std::unique_ptr<MemAllocParams>& p) const {
    return {{"dptr", Pointer(p->params.dptr)}, {"bytesize", Number(p->params.bytesize)}};
  }
  Fields operator()(const MemFreeParams& p) const { return {{"dptr", Pointer(p.address)}}; }
  Fields operator()(const std::unique_ptr<SignalParams>& p) const {
    return {{"numExtSems", Number(p->semaphores.size())}};
  }
  Fields operator()(const std::unique_ptr<WaitParams>& p) const {
    return {{"numExtSems", Number(p->semaphores.size())}};
  }
  Fields operator()(const std::unique_ptr<BatchParams>& p) const {
    return {{"count", Number(p->operations.size())}};
  }
  Fields operator()(const std::unique_ptr<ConditionalParams>& p) const {
    return {{"handle", Number(p->handle)},
            {"type", Number(static_cast<uint64_t>(p->kind))},
            {"size", Number(p->bodies.size())}};
  }
};

// The flag for the fields of a node.
unsigned FlagOf(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS |
             CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_HOST:
      return CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS;
    default:
      return 0;
  }
}

constexpr unsigned kVerbose = CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE;

bool Asked(unsigned flags, unsigned what) { return (flags & (kVerbose | what)) != 0; }

const KernelParams* KernelOf(const Node& node) {
  const auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&node.params);
  return kernel != nullptr ? kernel->get() : nullptr;
}

std::string InnerNames(const Node& node, const char* before, const char* after) {
  std::string names;
  for (const Graph* graph : InnerGraphs(node)) names += before + GraphName(*graph) + after;
  return names;
}

std::string PlainLabel(const Node& node) {
  const std::string label = std::to_string(node.index) + "\n";
  if (const KernelParams* kernel = KernelOf(node))
    return label + kernel->function->info.name + "\n";
  const bool child = node.type == CU_GRAPH_NODE_TYPE_GRAPH;
  return label + (child ? "" : TypeName(node.type) + std::string("\n")) +
         InnerNames(node, "", "\n");
}

std::string KernelRecord(const Node& node, const KernelParams& k, const std::string& id,
                         unsigned flags) {
  std::string label = Format("{KERNEL\n| {ID | %s | ", id.c_str()) + k.function->info.name +
                      "\\<\\<\\<" + Dimensions(k.shape.grid) + "," + Dimensions(k.shape.block) +
                      Format(",%u\\>\\>\\>}\n", k.shape.shared_bytes);
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) {
    label += "| " +
             Table({{"node handle", Pointer(static_cast<const void*>(&node))},
                    {"func handle", Pointer(k.function)}}) +
             "\n";
  }
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES))
    label += AttributeRows(k.attributes);
  return label + "}";
}

// `topo`: how many nodes of the graph come after this one in a topological order.
std::string RecordLabel(const Node& node, size_t topo, unsigned flags) {
  std::string id = std::to_string(node.index);
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO)) id += Format(" (topoId: %zu)", topo);
  if (const KernelParams* kernel = KernelOf(node)) return KernelRecord(node, *kernel, id, flags);
  Fields fields = {{"ID", id}};
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
    fields.push_back({"node handle", Pointer(static_cast<const void*>(&node))});
  const bool parameters = Asked(flags, FlagOf(node.type));
  if (const auto* copy = std::get_if<std::unique_ptr<MemcpyParams>>(&node.params)) {
    return "{\nMEMCPY\n| " + Table(fields) + "\n" + (parameters ? CopyRows((*copy)->copy) : "") +
           "}";
  }
  if (parameters)
    std::ranges::move(std::visit(ParameterFields{}, node.params), std::back_inserter(fields));
  return Format("{%s\n| ", TypeName(node.type)) + Table(fields) +
         InnerNames(node, "\n| {graph | ", "}") + "}";
}

// Memsets are given their style twice.
void WriteNode(const Node& node, size_t topo, unsigned flags, std::string* out) {
  const bool kernel = node.type == CU_GRAPH_NODE_TYPE_KERNEL;
  const bool record = Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES | FlagOf(node.type));
  const bool twice = record && node.type == CU_GRAPH_NODE_TYPE_MEMSET;
  *out += Format("\"%s\"[style=\"%s\" %sshape=\"%s\" label=\"", NodeName(node).c_str(),
                 kernel ? "bold" : "solid", twice ? "style=\"solid\" " : "",
                 record   ? "record"
                 : kernel ? "octagon"
                          : "rectangle");
  *out += (record ? RecordLabel(node, topo, flags) : PlainLabel(node)) + "\"];\n\n";
}

void WriteEdges(const Node& node, unsigned flags, std::string* out) {
  const bool numbers = Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO);
  for (size_t i = 0; i < node.out.size(); ++i) {
    *out += "\"" + NodeName(node) + "\" -> \"" + NodeName(*node.out[i].node) + "\"";
    if (numbers) *out += Format(" [headlabel=%zu]", i);
    *out += ";\n";
  }
}

void WriteGraph(const Graph& graph, unsigned flags, std::string* out) {
  *out += Format("subgraph cluster_%u {\nlabel=\"%s\" graph[style=\"dashed\"];\n", graph.id,
                 GraphName(graph).c_str());
  std::vector<size_t> after(graph.nodes.size());  // how many nodes come later, by position
  size_t left = graph.live;
  for (const Node* node : ExecutionOrder(graph)) after[node->position] = --left;
  for (const Node* node : graph.nodes) {
    if (node != nullptr) WriteNode(*node, after[node->position], flags, out);
  }
  for (const Node* node : graph.nodes) {
    if (node != nullptr) WriteEdges(*node, flags, out);
  }
  *out += "}\n";
  for (const Node* node : graph.nodes) {
    if (node == nullptr) continue;
    for (const Graph* inner : InnerGraphs(*node)) WriteGraph(*inner, flags, out);
  }
}

}  // namespace

std::string DotText(const Graph& graph, unsigned flags) {
  std::string text = "digraph dot {\n";
  WriteGraph(graph, flags, &text);
  return text + "}\n";
}

}  // namespace graphkit::soft
