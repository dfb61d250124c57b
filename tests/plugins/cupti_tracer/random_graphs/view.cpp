#include "view.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace random_graphs {
namespace {

const char* const kKindNames[] = {"kernel",       "memcpy",     "memset",     "host",
                                  "graph",        "empty",      "event_wait", "event_record",
                                  "semaphore",    "semaphore",  "mem_alloc",  "mem_free",
                                  "batch_mem_op", "conditional"};

// Rows with gaps between them, as in docs/format.md; empty: there are none.
std::string Rows(size_t width, size_t height, size_t depth, size_t pitch, size_t layer) {
  const bool layers = depth > 1 && layer != height;
  if ((height <= 1 && depth <= 1) || (width == pitch && !layers)) return "";
  return Text(",%zu,%zu,%zu,%zu", width, pitch, layers ? height : 0, layers ? layer : 0);
}

// The bytes of a copy from the first to the last on one side, and its rows.
std::string Side(const cudaPitchedPtr& place, const cudaPos& at, const cudaExtent& extent,
                 char mode) {
  const size_t slice = place.pitch * place.ysize;
  const char* begin =
      static_cast<const char*>(place.ptr) + at.z * slice + at.y * place.pitch + at.x;
  const size_t length =
      (extent.depth - 1) * slice + (extent.height - 1) * place.pitch + extent.width;
  return Text("[\"%p\",\"%c\",%zu", static_cast<const void*>(begin), mode, length) +
         Rows(extent.width, extent.height, extent.depth, place.pitch, place.ysize) + "]";
}

}  // namespace

std::string Text(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

void Say(const std::string& line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::puts(line.c_str());
}

namespace {

template <typename Params>
std::string DescribeKernel(const Params& params) {
  const char* name = "";
  cudaFuncGetName(&name, params.func);
  std::string access;
  for (const Kernel& kernel : kKernels) {
    if (std::strcmp(name, kernel.name) != 0) continue;
    for (const Address& address : kernel.addresses) {
      const void* value;
      std::memcpy(&value,
                  static_cast<const char*>(params.kernelParams[address.parameter]) + address.offset,
                  sizeof value);
      if (value != nullptr) {
        access += Text("%s[\"%p\",\"%c\"]", access.empty() ? "" : ",", value, address.mode);
      }
    }
  }
  const dim3 grid = params.gridDim, block = params.blockDim;
  return Text(R"("name":"%s","grid":[%u,%u,%u],"block":[%u,%u,%u],"shared":%u,"access":[%s])", name,
              grid.x, grid.y, grid.z, block.x, block.y, block.z, params.sharedMemBytes,
              access.c_str());
}

std::string DescribeCopy(const cudaMemcpy3DParms& params) {
  return R"("access":[)" + Side(params.srcPtr, params.srcPos, params.extent, 'r') + "," +
         Side(params.dstPtr, params.dstPos, params.extent, 'w') + "]";
}

template <typename Params>
std::string DescribeFill(const Params& params) {
  const size_t rows = params.height > 1 ? (params.height - 1) * params.pitch : 0;
  const size_t width = params.width * params.elementSize;
  return Text(R"("access":[["%p","w",%zu)", params.dst, rows + width) +
         Rows(width, params.height, 1, params.pitch, 1) + "]]";
}

std::string DescribeEvent(cudaEvent_t event) {
  return Text(R"("event":"%p")", static_cast<void*>(event));
}

}  // namespace

std::string Describe(const cudaGraphNodeParams& params) {
  switch (params.type) {
    case cudaGraphNodeTypeKernel:
      return DescribeKernel(params.kernel);
    case cudaGraphNodeTypeMemcpy:
      return DescribeCopy(params.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return DescribeFill(params.memset);
    case cudaGraphNodeTypeEventRecord:
      return DescribeEvent(params.eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
      return DescribeEvent(params.eventWait.event);
    case cudaGraphNodeTypeGraph:
      return Text(R"("child":"%p")", static_cast<void*>(params.graph.graph));
    default:
      return "";
  }
}

std::vector<cudaGraphNode_t> NodesOf(cudaGraph_t graph) {
  size_t count = 0;
  if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess) return {};
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) cudaGraphGetNodes(graph, nodes.data(), &count);
  return nodes;
}

cudaGraph_t ChildOf(cudaGraphNode_t node) {
  cudaGraphNodeType type;
  cudaGraph_t child = nullptr;
  if (cudaGraphNodeGetType(node, &type) == cudaSuccess && type == cudaGraphNodeTypeGraph) {
    cudaGraphChildGraphNodeGetGraph(node, &child);
  }
  return child;
}

namespace {

std::string DescribeConditional(const Conditional& conditional) {
  std::string bodies;
  for (cudaGraph_t body : conditional.bodies) {
    bodies += Text("%s\"%p\"", bodies.empty() ? "" : ",", static_cast<void*>(body));
  }
  return Text(R"("conditional":"%s","bodies":[%s])", conditional.type, bodies.c_str());
}

// The node's parameters by the function that tells those of its type.
std::string ParametersOf(cudaGraphNode_t node, cudaGraphNodeType type,
                         const Conditionals& conditionals) {
  cudaKernelNodeParams kernel;
  cudaMemcpy3DParms copy;
  cudaMemsetParams fill;
  cudaMemAllocNodeParams allocation;
  cudaEvent_t event;
  void* address;
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphKernelNodeGetParams(node, &kernel) ? "" : DescribeKernel(kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphMemcpyNodeGetParams(node, &copy) ? "" : DescribeCopy(copy);
    case cudaGraphNodeTypeMemset:
      return cudaGraphMemsetNodeGetParams(node, &fill) ? "" : DescribeFill(fill);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphEventRecordNodeGetEvent(node, &event) ? "" : DescribeEvent(event);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphEventWaitNodeGetEvent(node, &event) ? "" : DescribeEvent(event);
    case cudaGraphNodeTypeMemAlloc:
      if (cudaGraphMemAllocNodeGetParams(node, &allocation)) return "";
      return Text(R"("memory":["%p",%zu])", allocation.dptr, allocation.bytesize);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphMemFreeNodeGetParams(node, &address) ? "" : Text(R"("memory":"%p")", address);
    case cudaGraphNodeTypeGraph:
      return Text(R"("child":"%p")", static_cast<void*>(ChildOf(node)));
    case cudaGraphNodeTypeConditional: {
      const auto known = conditionals.find(node);
      return known == conditionals.end() ? "" : DescribeConditional(known->second);
    }
    default:
      return "";
  }
}

std::string DescribeNode(cudaGraphNode_t node, const Conditionals& conditionals) {
  cudaGraphNodeType type;
  if (cudaGraphNodeGetType(node, &type) != cudaSuccess) return "{}";
  const std::string parameters = ParametersOf(node, type, conditionals);
  return Text(R"({"node":"%p","kind":"%s"%s)", static_cast<void*>(node), kKindNames[type],
              parameters.empty() ? "" : ",") +
         parameters + "}";
}

}  // namespace

void Dump(cudaGraph_t graph, const std::string& label, const Conditionals& conditionals) {
  std::string nodes, edges;
  for (cudaGraphNode_t node : NodesOf(graph)) {
    nodes += (nodes.empty() ? "" : ",") + DescribeNode(node, conditionals);
  }
  size_t count = 0;
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count);
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  if (count != 0) cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count);
  for (size_t i = 0; i < count; ++i) {
    edges += Text("%s[\"%p\",\"%p\",%d,%d,%d]", i == 0 ? "" : ",", static_cast<void*>(from[i]),
                  static_cast<void*>(to[i]), data[i].from_port, data[i].to_port, data[i].type);
  }
  Say(R"({"graph":")" + label + R"(","nodes":[)" + nodes + R"(],"edges":[)" + edges + "]}");
}

}  // namespace random_graphs
