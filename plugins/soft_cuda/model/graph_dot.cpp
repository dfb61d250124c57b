#include "plugins/soft_cuda/model/graph_dot.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

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
  constexpr const char* kNames[] = {"KERNEL",       "MEMCPY",     "MEMSET",     "HOST",
                                    "CHILD GRAPH",  "EMPTY",      "EVENT WAIT", "EVENT RECORD",
                                    "EXT_SIGNAL",   "EXT_WAIT",   "MEM ALLOC",  "MEM FREE",
                                    "BATCH MEM OP", "CONDITIONAL"};
  return type >= 0 && type < 14 ? kNames[type] : "UNKNOWN";
}

// The fields of a node of each type, as rows of a record.
struct Rows {
  std::string operator()(const std::monostate&) const { return ""; }
  std::string operator()(const std::unique_ptr<KernelParams>& p) const {
    const KernelParams& k = *p;
    std::string rows = Format("| {func handle | %s}\n", Pointer(k.function).c_str());
    for (const CUlaunchAttribute& a : k.attributes) {
      if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        rows += Format("| {cooperative | %d}\n", a.value.cooperative);
      if (a.id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        rows += Format("| {priority | %d}\n", a.value.priority);
    }
    return rows;
  }
  std::string operator()(const std::unique_ptr<MemcpyParams>& p) const {
    const CUDA_MEMCPY3D& c = p->copy;
    const auto from =
        c.srcMemoryType == CU_MEMORYTYPE_HOST ? Pointer(c.srcHost) : Pointer(c.srcDevice);
    const auto to =
        c.dstMemoryType == CU_MEMORYTYPE_HOST ? Pointer(c.dstHost) : Pointer(c.dstDevice);
    return Format("| {kind | %s}\n", Kind(c)) +
           Format("| {{srcPtr | dstPtr} | {pitch | ptr | pitch | ptr} | {%zu | %s | %zu | %s}}\n",
                  c.srcPitch, from.c_str(), c.dstPitch, to.c_str()) +
           Format("| {Extent | {{Width | %zu} | {Height | %zu} | {Depth | %zu}}}\n", c.WidthInBytes,
                  c.Height, c.Depth);
  }
  std::string operator()(const std::unique_ptr<MemsetParams>& p) const {
    const CUDA_MEMSET_NODE_PARAMS& s = p->set;
    return Format(
        "| {{dptr | pitch | value | elementSize | width | height} | "
        "{%s | %zu | %u | %u | %zu | %zu}}\n",
        Pointer(s.dst).c_str(), s.pitch, s.value, s.elementSize, s.width, s.height);
  }
  std::string operator()(const HostParams& p) const {
    return Format("| {{fn | userData} | {%s | %s}}\n",
                  Pointer(reinterpret_cast<const void*>(p.function)).c_str(),
                  Pointer(p.user_data).c_str());
  }
  std::string operator()(const ChildParams& p) const {
    return Format("| {graph | %s}\n", GraphName(*p.graph).c_str());
  }
  std::string operator()(const EventParams& p) const {
    return Format("| {event | %s}\n", Pointer(static_cast<const void*>(p.event)).c_str());
  }
  std::string operator()(const std::unique_ptr<MemAllocParams>& p) const {
    return Format("| {{dptr | bytesize} | {%s | %zu}}\n", Pointer(p->params.dptr).c_str(),
                  p->params.bytesize);
  }
  std::string operator()(const MemFreeParams& p) const {
    return Format("| {dptr | %s}\n", Pointer(p.address).c_str());
  }
  std::string operator()(const std::unique_ptr<SignalParams>& p) const {
    return Format("| {numExtSems | %zu}\n", p->semaphores.size());
  }
  std::string operator()(const std::unique_ptr<WaitParams>& p) const {
    return Format("| {numExtSems | %zu}\n", p->semaphores.size());
  }
  std::string operator()(const std::unique_ptr<BatchParams>& p) const {
    return Format("| {count | %zu}\n", p->operations.size());
  }
  std::string operator()(const std::unique_ptr<ConditionalParams>& p) const {
    std::string rows = Format("| {{handle | type | size} | {%" PRIu64 " | %d | %zu}}\n", p->handle,
                              static_cast<int>(p->kind), p->bodies.size());
    for (const Graph* body : p->bodies) rows += Format("| {body | %s}\n", GraphName(*body).c_str());
    return rows;
  }

 private:
  static const char* Kind(const CUDA_MEMCPY3D& c) {
    const bool from_host = c.srcMemoryType == CU_MEMORYTYPE_HOST;
    const bool to_host = c.dstMemoryType == CU_MEMORYTYPE_HOST;
    if (c.srcMemoryType == CU_MEMORYTYPE_UNIFIED || c.dstMemoryType == CU_MEMORYTYPE_UNIFIED)
      return "Default (UNIFIED)";
    if (from_host) return to_host ? "HtoH (HOST to HOST)" : "HtoD (HOST to DEVICE)";
    return to_host ? "DtoH (DEVICE to HOST)" : "DtoD (DEVICE to DEVICE)";
  }
};

// Which flag asks for the fields of a node.
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

std::string PlainLabel(const Node& node) {
  std::string label = std::to_string(node.index) + "\n";
  const auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&node.params);
  if (kernel != nullptr) return label + (*kernel)->function->info.name + "\n";
  const auto inner = InnerGraphs(node);
  for (const Graph* graph : inner) label += GraphName(*graph) + "\n";
  return inner.empty() ? label + TypeName(node.type) + "\n" : label;
}

std::string RecordLabel(const Node& node, unsigned flags) {
  std::string label = Format("{%s\n", TypeName(node.type));
  const auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&node.params);
  if (kernel != nullptr) {
    const LaunchShape& s = (*kernel)->shape;
    label += Format("| {ID | %u | %s\\<\\<\\<%u,%u,%u\\>\\>\\>}\n", node.index,
                    (*kernel)->function->info.name.c_str(), s.grid[0] * s.grid[1] * s.grid[2],
                    s.block[0] * s.block[1] * s.block[2], s.shared_bytes);
  } else {
    label += Format("| {ID | %u}\n", node.index);
  }
  const unsigned verbose = CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE;
  if (flags & (verbose | CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
    label += Format("| {node handle | %s}\n", Pointer(static_cast<const void*>(&node)).c_str());
  if (flags & (verbose | FlagOf(node.type))) label += std::visit(Rows{}, node.params);
  return label + "}";
}

void WriteNode(const Node& node, unsigned flags, std::string* out) {
  const unsigned verbose = CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE;
  const bool record =
      (flags & (verbose | CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES | FlagOf(node.type))) != 0;
  const char* plain = node.type == CU_GRAPH_NODE_TYPE_KERNEL ? "octagon" : "rectangle";
  *out += Format("\"%s\"[style=\"solid\" shape=\"%s\" label=\"", NodeName(node).c_str(),
                 record ? "record" : plain);
  *out += (record ? RecordLabel(node, flags) : PlainLabel(node)) + "\"];\n";
}

void WriteEdges(const Node& node, unsigned flags, std::string* out) {
  const bool numbers =
      (flags & (CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO)) != 0;
  for (size_t i = 0; i < node.out.size(); ++i) {
    *out += "\"" + NodeName(node) + "\" -> \"" + NodeName(*node.out[i].node) + "\"";
    if (numbers) *out += Format(" [headlabel=%zu]", i);
    *out += ";\n";
  }
}

void WriteGraph(const Graph& graph, unsigned flags, std::string* out) {
  *out += Format("subgraph cluster_%u {\nlabel=\"%s\" graph[style=\"dashed\"];\n", graph.id,
                 GraphName(graph).c_str());
  for (const Node* node : graph.nodes) {
    if (node != nullptr) WriteNode(*node, flags, out);
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
