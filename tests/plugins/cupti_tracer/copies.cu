// CUDA's own view of graphs whose nodes were given other parameters, cloned, embedded, and
// captured with partial edges. Prints each graph as the API has it, one line of
// JSON each: {"graph": handle, "nodes": [[kind, …], …], "edges": [[from, to, port, type]]}, a child
// graph node as ["graph", {…}]. Tests hold the trace to it.
//
//     copies clone|body|edges|race|apart
#include <cuda_runtime.h>

#include <string>
#include <thread>
#include <vector>

#include "testdata/workloads/cuda_check.h"

namespace {

cudaStream_t stream, side;
char *one, *two, *three;  // 1 KiB each

__global__ void Touch(char* data) { data[threadIdx.x] += 1; }

void* arguments[] = {nullptr};

cudaKernelNodeParams TouchOf(char*& data, unsigned blocks) {
  arguments[0] = &data;
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(Touch);
  params.gridDim = dim3(blocks);
  params.blockDim = dim3(1);
  params.kernelParams = arguments;
  return params;
}

cudaMemsetParams SetOf(char* data, size_t bytes) {
  cudaMemsetParams params = {};
  params.dst = data;
  params.elementSize = 1;
  params.width = bytes;
  params.height = 1;
  return params;
}

cudaGraphNode_t AddSet(cudaGraph_t graph, char* data, size_t bytes) {
  const cudaMemsetParams params = SetOf(data, bytes);
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  return node;
}

cudaGraphNode_t AddTouch(cudaGraph_t graph, char*& data, unsigned blocks) {
  const cudaKernelNodeParams params = TouchOf(data, blocks);
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  return node;
}

void AddEdge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, cudaGraphEdgeData data) {
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphAddDependencies(graph, &from, &to, &data, 1));
#else
  CHECK(cudaGraphAddDependencies_v2(graph, &from, &to, &data, 1));
#endif
}

constexpr cudaGraphEdgeData kProgrammatic = {1, 0, 1, {}};

std::string Hex(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "\"0x%llx\"", reinterpret_cast<unsigned long long>(pointer));
  return text;
}

std::string Text(cudaGraph_t graph);

std::string NodeText(cudaGraphNode_t node) {
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(node, &type));
  if (type == cudaGraphNodeTypeMemset) {
    cudaMemsetParams p;
    CHECK(cudaGraphMemsetNodeGetParams(node, &p));
    return "[\"memset\"," + Hex(p.dst) + "," + std::to_string(p.width * p.elementSize) + "]";
  }
  if (type == cudaGraphNodeTypeKernel) {
    cudaKernelNodeParams p;
    CHECK(cudaGraphKernelNodeGetParams(node, &p));
    return "[\"kernel\"," + Hex(*static_cast<void**>(p.kernelParams[0])) + "," +
           std::to_string(p.gridDim.x) + "]";
  }
  if (type == cudaGraphNodeTypeGraph) {
    cudaGraph_t child;
    CHECK(cudaGraphChildGraphNodeGetGraph(node, &child));
    return "[\"graph\"," + Text(child) + "]";
  }
  if (type == cudaGraphNodeTypeHost) return "[\"host\"]";
  return "[\"empty\"]";
}

std::string Text(cudaGraph_t graph) {
  size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
  std::string text;
  for (const cudaGraphNode_t node : nodes) text += (text.empty() ? "" : ",") + NodeText(node);
  auto place = [&nodes](cudaGraphNode_t node) {
    size_t at = 0;
    while (nodes[at] != node) ++at;
    return std::to_string(at);
  };
#if CUDART_VERSION >= 13000
  auto* edges_of = cudaGraphGetEdges;
#else
  auto* edges_of = cudaGraphGetEdges_v2;
#endif
  CHECK(edges_of(graph, nullptr, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  CHECK(edges_of(graph, from.data(), to.data(), data.data(), &count));
  std::string edges;
  for (size_t i = 0; i < count; ++i) {
    edges += (i == 0 ? "[" : ",[") + place(from[i]) + "," + place(to[i]) + "," +
             std::to_string(data[i].from_port) + "," + std::to_string(data[i].type) + "]";
  }
  return "{\"graph\":" + Hex(graph) + ",\"nodes\":[" + text + "],\"edges\":[" + edges + "]}";
}

void Show(cudaGraph_t graph) { std::printf("%s\n", Text(graph).c_str()); }

cudaGraphNode_t Embed(cudaGraph_t graph, cudaGraph_t inner) {
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner));
  return node;
}

void Set(cudaGraphNode_t node, char* data, size_t bytes) {
  const cudaMemsetParams params = SetOf(data, bytes);
  CHECK(cudaGraphMemsetNodeSetParams(node, &params));
}

// A fill and two kernels, the second launched programmatically after the first.
struct Pair {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t fill = nullptr, kernel = nullptr;
};
Pair MakePair() {
  Pair pair;
  CHECK(cudaGraphCreate(&pair.graph, 0));
  pair.fill = AddSet(pair.graph, one, 64);
  pair.kernel = AddTouch(pair.graph, one, 2);
  AddEdge(pair.graph, pair.kernel, AddTouch(pair.graph, one, 3), kProgrammatic);
  return pair;
}

// Clones of graphs with graphs inside graphs, of nodes that were given other parameters.
void Clone() {
  const Pair pair = MakePair();
  Set(pair.fill, two, 128);
  cudaGraph_t middle = nullptr, outer = nullptr, clone = nullptr, second = nullptr;
  CHECK(cudaGraphCreate(&middle, 0));
  Embed(middle, pair.graph);
  CHECK(cudaGraphCreate(&outer, 0));
  const cudaGraphNode_t embedded = Embed(outer, middle);
  const cudaGraphNode_t fill = AddSet(outer, one, 32);
  Embed(outer, pair.graph);
  Set(fill, three, 256);
  Set(pair.fill, three, 16);  // the embedded ones stay as they are
  const cudaKernelNodeParams wider = TouchOf(three, 9);
  CHECK(cudaGraphKernelNodeSetParams(pair.kernel, &wider));
  // A node inside the inner graph.
  cudaGraph_t inside = nullptr, innermost = nullptr;
  cudaGraphNode_t first = nullptr, at[3];
  size_t count = 1;
  CHECK(cudaGraphChildGraphNodeGetGraph(embedded, &inside));
  CHECK(cudaGraphGetNodes(inside, &first, &count));
  CHECK(cudaGraphChildGraphNodeGetGraph(first, &innermost));
  CHECK(cudaGraphGetNodes(innermost, at, &(count = 3)));
  Set(at[0], three, 512);
  CHECK(cudaGraphClone(&clone, outer));
  Set(fill, one, 8);
  CHECK(cudaGraphClone(&second, clone));
  for (const cudaGraph_t graph : {pair.graph, middle, outer, clone, second}) Show(graph);
}

// A capture into the body of a conditional node, and one that another thread ends in vain: the
// body is gone then.
void Body() {
  cudaGraph_t graph = nullptr, body = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
#else
  CHECK(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
#endif
  body = params.conditional.phGraph_out[0];
  auto begin = [&] {
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(one, 0, 10, stream));
    Touch<<<2, 1, 0, stream>>>(one);
  };
  begin();
  CHECK(cudaMemsetAsync(two, 0, 30, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  Show(body);
  begin();
  std::thread([&] {
    cudaGraph_t none = nullptr;
    EXPECT(cudaErrorStreamCaptureWrongThread, cudaStreamEndCapture(stream, &none));
  }).join();
  size_t count = 0;
  EXPECT(cudaErrorInvalidValue, cudaGraphGetNodes(body, nullptr, &count));
}

cudaEvent_t Event() {
  cudaEvent_t event = nullptr;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return event;
}

using Attributes = std::vector<cudaLaunchAttribute>;

void Launch(cudaStream_t on, char* data, Attributes attributes = {}) {
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = on;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  CHECK(cudaLaunchKernelEx(&config, Touch, data));
}

void Nothing(void*) {}

// The operation after a wait.
enum class Next { kKernel, kSet, kHost, kSerialized };
void Follow(Next next, cudaStream_t on) {
  cudaLaunchAttribute serialize = {};
  serialize.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  serialize.val.programmaticStreamSerializationAllowed = 1;
  if (next == Next::kKernel) Launch(on, two);
  if (next == Next::kSerialized) Launch(on, two, {serialize});
  if (next == Next::kSet) CHECK(cudaMemsetAsync(two, 0, 10, on));
  if (next == Next::kHost) CHECK(cudaLaunchHostFunc(on, Nothing, nullptr));
}

// Every way that an edge may come about in a capture: by attributes of the kernel that it leaves,
// waited for alone, after or before a wait for the whole of the kernel, by every kind of node.
void Edges() {
  const cudaEvent_t partial = Event(), begun = Event(), whole = Event(), joined = Event();
  cudaLaunchAttribute programmatic = {}, at_start = {}, completion = {};
  programmatic.id = at_start.id = cudaLaunchAttributeProgrammaticEvent;
  programmatic.val.programmaticEvent.event = at_start.val.programmaticEvent.event = partial;
  at_start.val.programmaticEvent.triggerAtBlockStart = 1;
  completion.id = cudaLaunchAttributeLaunchCompletionEvent;
  completion.val.launchCompletionEvent.event = begun;
  const Attributes of[] = {{programmatic, completion}, {at_start, completion}};
  for (const Attributes& attributes : of) {
    for (const Next next : {Next::kKernel, Next::kSet, Next::kHost, Next::kSerialized}) {
      for (const char* waits : {"p", "b", "pw", "wp", "pp", "bw", "wb", "pb", "bp", "bpw"}) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        Launch(stream, one, attributes);
        CHECK(cudaEventRecord(whole, stream));
        for (const char* wait = waits; *wait != 0; ++wait) {
          const cudaEvent_t event = *wait == 'p' ? partial : *wait == 'b' ? begun : whole;
          CHECK(cudaStreamWaitEvent(side, event, 0));
        }
        Follow(next, side);
        CHECK(cudaEventRecord(joined, side));
        CHECK(cudaStreamWaitEvent(stream, joined, 0));
        Follow(Next::kKernel, stream);
        cudaGraph_t graph = nullptr;
        CHECK(cudaStreamEndCapture(stream, &graph));
        Show(graph);
      }
    }
  }
}

// Two fills without an order, of one block or of two: as they are set, not as they were made. What
// runs is a clone.
void Fills(bool together) {
  cudaGraph_t graph = nullptr, clone = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  AddSet(graph, one, 1024);
  Set(AddSet(graph, together ? two : one, 1024), together ? one : two, 1024);
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphDestroy(graph));
  Show(clone);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, clone, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(clone));
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  for (char** data : {&one, &two, &three}) CHECK(cudaMalloc(data, 1024));
  if (Flag(argc, argv, "clone")) Clone();
  if (Flag(argc, argv, "body")) Body();
  if (Flag(argc, argv, "edges")) Edges();
  if (Flag(argc, argv, "race") || Flag(argc, argv, "apart")) Fills(Flag(argc, argv, "race"));
  return 0;
}
