// One player of random calls: it makes a call, tells the same to simple_rules.h, and compares.
// The calls on streams, on graphs, and the comparisons are in a file each.
#pragma once

#include <cuda_runtime.h>
#include <atomic>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "simple_rules.h"

#ifdef __clang__  // numbers are int, as -1 is none; g++'s -Wconversion lets them index
#pragma clang diagnostic ignored "-Wsign-conversion"
#endif

namespace random_calls {

using namespace rules;

constexpr int kStreams = 4;
constexpr int kEvents = 5;
constexpr int kCalls = 1000;
constexpr size_t kMostNodes = 40;  // of a graph that grows

struct HostTag {
  std::vector<int>* log;
  int graph;
  int node;
  std::atomic<int> ran{0};
};

inline void Log(void* tag) {
  auto& t = *static_cast<HostTag*>(tag);
  t.log->push_back(t.graph * 1000 + t.node);
  t.ran.fetch_add(1, std::memory_order_release);
}

struct Memory {
  char* begin;
  size_t bytes;
};

class Player {
 public:
  Player(uint64_t seed, std::map<std::string, int>* tally)
      : seed_(seed), random_(seed), tally_(tally) {
    world_.streams.resize(kStreams);
    world_.events.resize(kEvents);
    for (cudaStream_t& s : streams_) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    for (cudaEvent_t& e : events_) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  }

  bool Play();
  void Clean();

 private:
  int Pick(size_t count) { return static_cast<int>(random_() % std::max<size_t>(count, 1)); }
  bool Chance(int percent) { return Pick(100) < percent; }
  int PickGraph();
  int PickExec();
  Nodes PickNodes(const Graph& graph, int most);
  std::vector<cudaGraphNode_t> Handles(int graph, const Nodes& nodes);
  void Say(std::string call) {
    last_.push_back(std::move(call));
    if (last_.size() > 40) last_.pop_front();
  }
  bool Differ(const std::string& what);
  bool Same(const std::string& call, Error want, cudaError_t got);

  void Step();
  void StreamStep(int kind);
  void GraphStep(int kind);
  void Begin(int stream);
  void End(int stream);
  void Host(int stream);
  void Allocate(int stream);
  void Free(int stream);
  void Update(int stream);
  void Unsafe();
  void Recreate(int stream);
  void AddNode(int graph);
  void AddMemory(int graph);
  void Edge(int graph, bool add);
  void Destroy(int graph);
  void Clone(int graph);
  void Child(int graph);
  void Instantiate(int graph);
  void Launch(int exec);

  void TakeNewNode(int stream);
  void OwnGraph(int graph, cudaGraph_t handle);
  void TakeMemory(void* pointer, size_t bytes, int graph);  // kNone: of no graph
  void CheckReuse(int earlier, int graph);
  bool CheckStreams();
  bool CheckGraph(int graph);
  bool CheckOrder(const Exec& exec);

  uint64_t seed_;
  std::mt19937_64 random_;
  std::map<std::string, int>* tally_;  // how often each call gave each result
  World world_;
  std::deque<std::string> last_;
  bool differs_ = false;
  cudaStream_t streams_[kStreams];
  cudaEvent_t events_[kEvents];
  std::vector<cudaGraph_t> graphs_;
  std::vector<std::vector<cudaGraphNode_t>> nodes_;  // of each graph
  std::vector<cudaGraphExec_t> execs_;
  std::vector<Memory> memory_;    // of each allocation of the world
  std::map<char*, int> owner_;    // the latest allocation that has an address; kNone: a pool's
  std::map<char*, int> places_;   // the number of each address
  std::map<char*, size_t> pool_;  // live, outside of graphs
  std::vector<std::unique_ptr<HostTag>> tags_;
  std::vector<int> log_;
};

}  // namespace random_calls
