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

// The same in four letters, with arrays: "HtoA".
std::string CopyLabel(const CUDA_MEMCPY3D& c) {
  const auto letter = [](CUmemorytype type) {
    return type == CU_MEMORYTYPE_HOST ? 'H' : type == CU_MEMORYTYPE_ARRAY ? 'A' : 'D';
  };
  if (c.srcMemoryType == CU_MEMORYTYPE_UNIFIED || c.dstMemoryType == CU_MEMORYTYPE_UNIFIED)
    return "Defa";
  return {letter(c.srcMemoryType), 't', 'o', letter(c.dstMemoryType)};
}

// The rows of a copy in the runtime's types.
std::string RuntimeCopyRows(const CUDA_MEMCPY3D& c) {
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

const char* MemoryName(CUmemorytype type) {
  constexpr const char* kNames[] = {"HOST", "DEVICE", "ARRAY", "UNIFIED"};
  return type >= CU_MEMORYTYPE_HOST && type <= CU_MEMORYTYPE_UNIFIED ? kNames[type - 1] : "UNKNOWN";
}

std::string CopyEnd(CUmemorytype type, CUarray array, const void* host, CUdeviceptr device,
                    std::initializer_list<size_t> numbers) {
  const char* name = MemoryName(type);
  std::string text = Format("%s (%s) | ", name, name) + Pointer(array) + " | " + Pointer(host) +
                     " | " + Pointer(device);
  for (const size_t number : numbers) text += " | " + Number(number);
  return text;
}

std::string CopyRows(const CUDA_MEMCPY3D& c, unsigned flags) {
  if ((flags & CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES) != 0) return RuntimeCopyRows(c);
  const std::string names =
      "MemoryType | Array | Host | Device | XInBytes | Y | Z | Pitch | Height | LOD";
  return "| {{src | dst} | { " + names + " | " + names + "} | {" +
         CopyEnd(c.srcMemoryType, c.srcArray, c.srcHost, c.srcDevice,
                 {c.srcXInBytes, c.srcY, c.srcZ, c.srcPitch, c.srcHeight, c.srcLOD}) +
         " | " +
         CopyEnd(c.dstMemoryType, c.dstArray, c.dstHost, c.dstDevice,
                 {c.dstXInBytes, c.dstY, c.dstZ, c.dstPitch, c.dstHeight, c.dstLOD}) +
         Format("}}\n| {Extent | {WidthInBytes | Height | Depth} | {%zu | %zu | %zu}}\n",
                c.WidthInBytes, c.Height, c.Depth);
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

// Rows that a node's parameters add to its record, by type.
struct ParameterRows {
  unsigned flags;

  template <typename T>
  std::string operator()(const T&) const {
    return "";
  }
  std::string operator()(const std::unique_ptr<MemcpyParams>& p) const {
    return CopyRows(p->copy, flags);
  }
  std::string operator()(const std::unique_ptr<MemAllocParams>& p) const {
    const CUmemPoolProps& pool = p->params.poolProps;
    return Format(
               "| {{{poolProps | {allocType | handleTypes | {location | {type | id}}} | {%s | %s | "
               "%s | %d}}}}\n",
               pool.allocType == CU_MEM_ALLOCATION_TYPE_PINNED ? "PINNED" : "MANAGED",
               pool.handleTypes == CU_MEM_HANDLE_TYPE_NONE ? "NONE" : "POSIX_FILE_DESCRIPTOR",
               pool.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? "DEVICE" : "HOST",
               pool.location.id) +
           "| " +
           Table({{"bytesize", Number(p->params.bytesize)}, {"dptr", Pointer(p->params.dptr)}}) +
           "\n";
  }
  std::string operator()(const MemFreeParams& p) const {
    return "| " + Table({{"dptr", Pointer(p.address)}}) + "\n";
  }
  std::string operator()(const std::unique_ptr<SignalParams>& p) const {
    return Semaphores(*p, [](const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS& s) {
      return Format("{value | fence | key | flags} | {%llu | %s | %llu | %u}", s.params.fence.value,
                    Pointer(s.params.nvSciSync.fence).c_str(), s.params.keyedMutex.key, s.flags);
    });
  }
  std::string operator()(const std::unique_ptr<WaitParams>& p) const {
    return Semaphores(*p, [](const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS& s) {
      return Format("{value | fence | key | timeoutMs | flags} | {%llu | %s | %llu | %u | %u}",
                    s.params.fence.value, Pointer(s.params.nvSciSync.fence).c_str(),
                    s.params.keyedMutex.key, s.params.keyedMutex.timeoutMs, s.flags);
    });
  }
  std::string operator()(const std::unique_ptr<BatchParams>& p) const {
    std::string rows;
    for (size_t i = 0; i < p->operations.size(); ++i) {
      const CUstreamBatchMemOpParams& op = p->operations[i];
      const auto& value = op.writeValue;  // a wait's members lie in the same places
      rows += Format("| {{{paramArray[%zu] | {op | addr | val | flags }}}\n| {%s | ", i,
                     OperationName(op.operation)) +
              Pointer(value.address) + Format(" | 0x%08X | ", value.value) +
              (value.flags == 0 ? "DEFAULT" : Format("0x%X", value.flags)) + "}}\n";
    }
    return rows;
  }

 private:
  template <typename Params, typename Text>
  static std::string Semaphores(const Params& p, Text text) {
    std::string rows;
    for (size_t i = 0; i < p.semaphores.size(); ++i) {
      rows += Format("| {{extSemArray[%zu]} | {", i) + Pointer(p.semaphores[i]) + "}}\n" +
              Format("| {{paramsArray[%zu]} | ", i) + text(p.values[i]) + "}\n";
    }
    return rows;
  }
  static const char* OperationName(CUstreamBatchMemOpType type) {
    switch (type) {
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return "WRITE_VALUE_32";
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return "WRITE_VALUE_64";
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return "WAIT_VALUE_32";
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return "WAIT_VALUE_64";
      default:
        return "UNKNOWN";
    }
  }
};

constexpr unsigned kVerbose = CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE;

bool Asked(unsigned flags, unsigned what) { return (flags & (kVerbose | what)) != 0; }

// The flag that makes a record of a node; 0: none does.
unsigned RecordFlag(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS;
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
    default:
      return 0;
  }
}

bool IsRecord(const Node& node, unsigned flags) {
  const unsigned flag = RecordFlag(node.type);
  return flag != 0 && Asked(flags, flag);
}

const KernelParams* KernelOf(const Node& node) {
  const auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&node.params);
  return kernel != nullptr ? kernel->get() : nullptr;
}

// "<<<{16,10,2},{32,4},0>>>", where it is asked for.
std::string ShapeText(const KernelParams& k, unsigned flags) {
  if (!Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) return "";
  return "\\<\\<\\<" + Dimensions(k.shape.grid) + "," + Dimensions(k.shape.block) +
         Format(",%u\\>\\>\\>", k.shape.shared_bytes);
}

// A line with a name and a value.
std::string Line(const char* name, const std::string& value) {
  return std::string(name) + ": " + value + "\n";
}

// The parts of a plain label after the number, the name and the handle.
struct PlainEnd {
  unsigned flags;

  template <typename T>
  std::string operator()(const T&) const {
    return "";
  }
  std::string operator()(const std::unique_ptr<MemsetParams>& p) const {
    const CUDA_MEMSET_NODE_PARAMS& s = p->set;
    return Format("(%u,%zu)\n", s.value, s.width * s.elementSize * s.height);
  }
  std::string operator()(const std::unique_ptr<MemcpyParams>& p) const {
    const CUDA_MEMCPY3D& c = p->copy;
    return Format("(%s,%zu)\n", CopyLabel(c).c_str(), c.WidthInBytes * c.Height * c.Depth);
  }
  std::string operator()(const HostParams& p) const {
    if (!Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS)) return "";
    return Line("fn", Pointer(reinterpret_cast<const void*>(p.function))) +
           Line("userData", Pointer(p.user_data));
  }
  std::string operator()(const EventParams& p) const {
    if (!Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS)) return "";
    return Line("event", Pointer(static_cast<const void*>(p.event)));
  }
  std::string operator()(const std::unique_ptr<KernelParams>& p) const {
    const bool handles = Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
    return handles ? Line("func handle", Pointer(p->function)) : "";
  }
};

std::string Handle(const Node& node) { return Pointer(static_cast<const void*>(&node)); }

std::string PlainLabel(const Node& node, const std::string& id, unsigned flags) {
  std::string label = id + "\n";
  if (const KernelParams* kernel = KernelOf(node)) {
    label += kernel->function->info.name + "\n" + ShapeText(*kernel, flags);
  } else if (node.type == CU_GRAPH_NODE_TYPE_GRAPH) {
    label += GraphName(*InnerGraphs(node).front()) + "\n";
  } else {
    label += TypeName(node.type) + std::string("\n");
  }
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) label += Line("node handle", Handle(node));
  return label + std::visit(PlainEnd{flags}, node.params);
}

std::string KernelRecord(const Node& node, const KernelParams& k, const std::string& id,
                         unsigned flags) {
  std::string label = Format("{KERNEL\n| {ID | %s | ", id.c_str()) + k.function->info.name +
                      ShapeText(k, flags) + "}\n";
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) {
    label +=
        "| " + Table({{"node handle", Handle(node)}, {"func handle", Pointer(k.function)}}) + "\n";
  }
  return label + AttributeRows(k.attributes) + "}";
}

// A conditional node has one form at all flags.
std::string ConditionalRecord(const Node& node, const ConditionalParams& p, const std::string& id,
                              unsigned flags) {
  constexpr const char* kKinds[] = {"IF", "WHILE", "SWITCH"};
  std::string label = "{\nCONDITIONAL\n| {ID | " + id + "}\n";
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
    label += "| {node handle| " + Handle(node) + "}\n";
  if ((flags & kVerbose) != 0) label += "| {Conditional Handle|" + Number(p.handle) + "}\n";
  label += Format("| {Conditional Type| %s}\n", kKinds[p.kind]);
  for (size_t i = 0; i < p.bodies.size(); ++i)
    label += Format("| {%zu|  ", i) + GraphName(*p.bodies[i]) + "}\n";
  return label + "}\n";
}

std::string RecordLabel(const Node& node, const std::string& id, unsigned flags) {
  if (const KernelParams* kernel = KernelOf(node)) return KernelRecord(node, *kernel, id, flags);
  Fields fields = {{"ID", id}};
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
    fields.push_back({"node handle", Handle(node)});
  if (const auto* p = std::get_if<std::unique_ptr<MemsetParams>>(&node.params)) {
    const CUDA_MEMSET_NODE_PARAMS& s = (*p)->set;
    std::ranges::move(Fields{{"dptr", Pointer(s.dst)},
                             {"pitch", Number(s.pitch)},
                             {"value", Number(s.value)},
                             {"elementSize", Number(s.elementSize)},
                             {"width", Number(s.width)},
                             {"height", Number(s.height)}},
                      std::back_inserter(fields));
    return "{MEMSET\n| " + Table(fields) + "}";
  }
  if (const auto* p = std::get_if<std::unique_ptr<SignalParams>>(&node.params))
    fields.push_back({"numExtSems", Number((*p)->semaphores.size())});
  if (const auto* p = std::get_if<std::unique_ptr<WaitParams>>(&node.params))
    fields.push_back({"numExtSems", Number((*p)->semaphores.size())});
  if (const auto* p = std::get_if<std::unique_ptr<BatchParams>>(&node.params)) {
    fields.push_back({"count", Number((*p)->operations.size())});
    fields.push_back({"flags ", Format("0x%08X ", (*p)->flags)});
  }
  return Format("{\n%s\n| ", TypeName(node.type)) + Table(fields) + "\n" +
         std::visit(ParameterRows{flags}, node.params) + "}";
}

const char* PlainShape(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "shape=\"octagon\" ";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "shape=\"invtrapezium\"";  // with nothing between it and the label
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "shape=\"trapezium\"";
    default:
      return "shape=\"rectangle\" ";
  }
}

// Memsets are given their style twice.
void WriteNode(const Node& node, size_t topo, unsigned flags, std::string* out) {
  std::string id = std::to_string(node.index);
  if (Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO)) id += Format(" (topoId: %zu)", topo);
  const auto* conditional = std::get_if<std::unique_ptr<ConditionalParams>>(&node.params);
  const bool bold = conditional != nullptr || node.type == CU_GRAPH_NODE_TYPE_KERNEL;
  const bool record = conditional != nullptr || IsRecord(node, flags);
  *out += "\"" + NodeName(node) + "\"[style=\"" + (bold ? "bold" : "solid") + "\" ";
  if (record && node.type == CU_GRAPH_NODE_TYPE_MEMSET) *out += "style=\"solid\" ";
  *out += std::string(record ? "shape=\"record\" " : PlainShape(node.type)) + "label=\"";
  *out += conditional != nullptr ? ConditionalRecord(node, **conditional, id, flags)
          : record               ? RecordLabel(node, id, flags)
                                 : PlainLabel(node, id, flags);
  *out += "\"];\n\n";
}

// An edge's number is its place among those that enter the same node.
void WriteEdges(const Node& node, unsigned flags, std::string* out) {
  const bool numbers = Asked(flags, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO);
  for (const Edge& edge : node.out) {
    *out += "\"" + NodeName(node) + "\" -> \"" + NodeName(*edge.node) + "\"";
    const auto& in = edge.node->in;
    const auto is_this = [&](const Edge& e) { return e.node == &node; };
    if (numbers) *out += Format(" [headlabel=%td]", std::ranges::find_if(in, is_this) - in.begin());
    *out += ";\n";
  }
}

// Numbers from the graph's ends back to its begins, breadth first, by the nodes' positions.
std::vector<size_t> TopoIds(const Graph& graph) {
  std::vector<size_t> ids(graph.nodes.size(), SIZE_MAX);
  std::vector<const Node*> order;
  const auto visit = [&](const Node* node) {
    if (ids[node->position] != SIZE_MAX) return;
    ids[node->position] = order.size();
    order.push_back(node);
  };
  for (const Node* node : graph.nodes) {
    if (node != nullptr && node->out.empty()) visit(node);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Edge& edge : order[i]->in) visit(edge.node);
  }
  return ids;  // SIZE_MAX on a cycle
}

void WriteGraph(const Graph& graph, unsigned flags, std::string* out) {
  *out += Format("subgraph cluster_%u {\nlabel=\"%s\" graph[style=\"dashed\"];\n", graph.id,
                 GraphName(graph).c_str());
  const std::vector<size_t> topo = TopoIds(graph);
  for (const Node* node : graph.nodes) {
    if (node != nullptr) WriteNode(*node, topo[node->position], flags, out);
  }
  for (const Node* node : graph.nodes) {
    if (node != nullptr) WriteEdges(*node, flags, out);
  }
  *out += "}\n";
}

}  // namespace

std::string DotText(const Graph& graph, unsigned flags) {
  std::string text = "digraph dot {\n";
  std::vector<const Graph*> graphs = {&graph};  // breadth first
  for (size_t i = 0; i < graphs.size(); ++i) {
    WriteGraph(*graphs[i], flags, &text);
    for (const Node* node : graphs[i]->nodes) {
      if (node == nullptr) continue;
      const auto inner = InnerGraphs(*node);
      graphs.insert(graphs.end(), inner.begin(), inner.end());
    }
  }
  return text + "}\n";
}

}  // namespace graphkit::soft
