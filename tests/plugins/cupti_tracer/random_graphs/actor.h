// One thread of a random program: streams, events, graphs and execs of its own, and one random call
// after the other on them. A call may fail: what is there afterwards is asked of the API.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "view.h"

namespace random_graphs {

class Random {  // splitmix64
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  int Pick(size_t count) { return static_cast<int>(Next() % count); }
  bool Chance(int percent) { return Pick(100) < percent; }

 private:
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

struct Buffers {  // shared by all threads; outlive them
  static constexpr size_t kBytes = 1 << 16;
  char* device;
  char* pinned;
  cudaMemPool_t pool;
};

struct Dependencies {
  std::vector<cudaGraphNode_t> nodes;
  std::vector<cudaGraphEdgeData> data;
};

// Parameters as the functions for one type of node take them.
struct OldParams {
  explicit OldParams(const cudaGraphNodeParams& p)
      : kernel{p.kernel.func,           p.kernel.gridDim,      p.kernel.blockDim,
               p.kernel.sharedMemBytes, p.kernel.kernelParams, p.kernel.extra},
        memset{p.memset.dst,         p.memset.pitch, p.memset.value,
               p.memset.elementSize, p.memset.width, p.memset.height},
        host{p.host.fn, p.host.userData} {}
  cudaKernelNodeParams kernel;
  cudaMemsetParams memset;
  cudaHostNodeParams host;
};

cudaGraphNodeType TypeOf(cudaGraphNode_t node);

class Actor {
 public:
  Actor(std::string label, uint64_t seed, const Buffers& buffers);
  void Run(int steps);
  void Finish();   // on the thread that ran
  void Destroy();  // when all threads have finished

 private:
  struct Graph {
    cudaGraph_t handle;
    std::string label;
    std::string origin;  // as in a trace
    cudaGraph_t family;  // the outermost graph that it is embedded in; or itself
  };
  enum class Use { kChange, kCaptureInto, kWhole };
  struct Exec {
    cudaGraphExec_t handle;
    std::string label;
    cudaGraph_t graph;          // null: gone
    std::string parameters_of;  // the graph that it was made of, or updated by
  };
  struct Capture {
    std::string label;
    int mode;
    cudaGraph_t graph;
    bool embedded;
  };
  struct Info {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr;
    std::vector<cudaGraphNode_t> nodes;
  };
  struct Arguments {  // of a kernel
    void* pointers[2] = {};
    Pack pack = {};
    unsigned long long scalar = 7;
    void* values[2];
  };

  // captures.cpp
  void StreamStep();
  void Begin(cudaStream_t stream);
  void BeginInto(cudaStream_t stream, const Graph& graph);
  void End(cudaStream_t stream, bool elsewhere);
  void Failed(const Capture& capture, const std::vector<cudaGraphNode_t>& nodes);
  void JoinAll(cudaStream_t stream);
  void Fork(cudaStream_t from, cudaStream_t to);
  void Work(cudaStream_t stream, cudaGraphNodeType type);
  cudaLaunchAttribute PickAttribute();
  cudaError_t Copy(cudaStream_t stream, cudaMemcpy3DParms& copy);
  cudaError_t Fill(cudaStream_t stream, cudaMemsetParamsV2& fill);
  void Allocate(cudaStream_t stream);
  void Free(cudaStream_t stream);
  void External(cudaStream_t stream);
  void MoveFrontier(cudaStream_t stream);
  void AddIntoCapture(cudaStream_t stream);
  void LaunchGraph(cudaStream_t stream);
  void Disturb();
  void Recreate();
  Info InfoOf(cudaStream_t stream);
  cudaStream_t PickStream() { return streams_[random_.Pick(streams_.size() - elsewhere_)]; }
  cudaEvent_t PickEvent() { return events_[random_.Pick(events_.size())]; }

  // explicit.cpp
  void GraphStep();
  cudaGraphNode_t AddAny(cudaGraph_t graph, const Dependencies& after);
  cudaGraphNode_t AddConditional(cudaGraph_t graph, const Dependencies& after);
  void AddMemory(cudaGraph_t graph);
  void ChangeEdge(cudaGraph_t graph);
  void SetParams(cudaGraph_t graph);
  void DestroyNode(cudaGraph_t graph);
  void Clone(const Graph& graph);
  void DestroyGraph(cudaGraph_t graph);
  cudaGraphNodeParams Params(cudaGraphNodeType type);
  Conditional FillConditional(cudaConditionalNodeParams& params);
  void Moved(cudaGraph_t graph, cudaGraph_t into);
  Dependencies PickDependencies(cudaGraph_t graph, int most);
  cudaGraphEdgeData PickEdge();
  const Graph* Find(cudaGraph_t graph) const;  // null: it is left alone
  const Graph& Known(cudaGraph_t graph) const { return *Find(graph); }
  bool IsBusy(cudaGraph_t graph) const;
  const Graph* PickGraph(Use use);

  // execs.cpp
  void ExecStep();
  void Instantiate();
  void SetExec(const Exec& exec);
  void Update(Exec& exec);
  void SayEnabled(const Exec& exec);
  void DestroyExec(size_t at);

  // main.cpp
  void Made(cudaGraph_t graph, const char* origin, const std::string& original = {});
  void MadeInside(cudaGraph_t graph, const char* origin, cudaGraph_t family,
                  const std::string& original = {});
  std::vector<cudaGraph_t> InsideOf(cudaGraph_t graph);
  void Gone(cudaGraph_t graph, bool tell = true);
  void Forget(cudaGraph_t family);
  void SayGone(cudaGraphNode_t node, const std::string& graph);
  void* DeviceAt(size_t bytes) { return At(buffers_.device, bytes); }
  void* PinnedAt(size_t bytes) { return At(buffers_.pinned, bytes); }
  void* At(char* begin, size_t bytes) {
    return begin + 16 * random_.Pick((Buffers::kBytes - bytes) / 16);
  }
  void FillArguments(Arguments& arguments, int kernel);
  std::string Label() { return label_ + std::to_string(next_label_++); }

  // Calls that may break captures of other threads wait while one begins or takes a graph in, so
  // that the new graph is seen.
  static inline std::mutex disturbing_;

  std::string label_;
  Random random_;
  Buffers buffers_;
  bool elsewhere_ = false;  // the call at hand is made by another thread
  int next_label_ = 0;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<Graph> graphs_;  // also those inside others
  std::vector<Exec> execs_;
  std::map<cudaStream_t, Capture> captures_;  // by the stream that they began on
  std::map<cudaStream_t, std::vector<void*>> allocations_;
  Conditionals conditionals_;
  Arguments arguments_;  // of the call at hand
};

}  // namespace random_graphs
