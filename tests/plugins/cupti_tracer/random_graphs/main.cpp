// Random programs of CUDA graphs that say what the API itself tells of each graph:
//
//     random_graphs [--seed N] [--count M]     programs N to N+M-1, in one process
//
// random_graphs.py compares that with the trace of the same run. Calls are drawn from the seed by a
// generator of its own; every third program has several threads. Runs on the software device and on
// a GPU.
#include <algorithm>
#include <thread>

#include "actor.h"
#include "testdata/workloads/cuda_check.h"

namespace random_graphs {

Actor::Actor(std::string label, uint64_t seed, const Buffers& buffers)
    : label_(std::move(label)), random_(seed), buffers_(buffers), streams_(4), events_(5) {
  for (size_t i = 0; i + 1 < streams_.size(); ++i) {
    const unsigned flags = i % 2 == 0 ? cudaStreamNonBlocking : cudaStreamDefault;
    CHECK(cudaStreamCreateWithFlags(&streams_[i], flags));
  }
  streams_.back() = cudaStreamPerThread;
  for (cudaEvent_t& event : events_) {
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
}

void Actor::Run(int steps) {
  for (int i = 0; i < steps; ++i) {
    const int kind = random_.Pick(100);
    elsewhere_ = kind < 3;
    if (elsewhere_) {
      std::thread([this] { StreamStep(); }).join();
    } else if (kind < 58) {
      StreamStep();
    } else if (kind < 82) {
      GraphStep();
    } else {
      ExecStep();
    }
    static_cast<void>(cudaGetLastError());
  }
}

void Actor::Finish() {
  elsewhere_ = false;
  const auto open = captures_;
  for (const auto& [stream, capture] : open) {
    JoinAll(stream);
    End(stream, false);
  }
  for (const Exec& exec : execs_) SayEnabled(exec);
  for (const Graph& graph : graphs_) Dump(graph.handle, graph.label, conditionals_);
}

// Some things stay: a program may end without destroying what it made.
void Actor::Destroy() {
  for (cudaStream_t stream : streams_) {
    if (stream != cudaStreamPerThread) cudaStreamDestroy(stream);
  }
  for (const Exec& exec : execs_) {
    if (random_.Chance(70)) cudaGraphExecDestroy(exec.handle);
  }
  while (!graphs_.empty()) {
    const cudaGraph_t graph = graphs_.front().family;
    const bool goes = random_.Chance(70) && cudaGraphDestroy(graph) == cudaSuccess;
    Gone(graph, goes);
  }
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
  static_cast<void>(cudaGetLastError());
}

// Tells of a new graph, and of those inside it.
void Actor::Made(cudaGraph_t graph, const char* origin, const std::string& original) {
  MadeInside(graph, origin, graph, original);
}

void Actor::MadeInside(cudaGraph_t graph, const char* origin, cudaGraph_t family,
                       const std::string& original) {
  graphs_.push_back({graph, Label(), origin, family});
  Say(Text(R"({"made":"%s","handle":"%p","origin":"%s","original":"%s"})",
           graphs_.back().label.c_str(), static_cast<void*>(graph), origin, original.c_str()));
  for (cudaGraph_t inside : InsideOf(graph)) MadeInside(inside, "child", family);
}

// The graphs that the graph's nodes hold.
std::vector<cudaGraph_t> Actor::InsideOf(cudaGraph_t graph) {
  std::vector<cudaGraph_t> inside;
  for (cudaGraphNode_t node : NodesOf(graph)) {
    if (cudaGraph_t child = ChildOf(node)) inside.push_back(child);
    if (TypeOf(node) != cudaGraphNodeTypeConditional) continue;
    for (cudaGraph_t body : conditionals_[node].bodies) inside.push_back(body);
  }
  return inside;
}

// The graph and all inside it are no more.
void Actor::Gone(cudaGraph_t graph, bool tell) {
  if (tell) Say(R"({"gone":")" + Known(graph).label + "\"}");
  for (Exec& exec : execs_) {
    if (exec.graph == graph) exec.graph = nullptr;
  }
  std::erase_if(graphs_, [&](const Graph& known) { return known.family == graph; });
}

// Forgets what the outermost graph no longer holds.
void Actor::Forget(cudaGraph_t family) {
  std::vector<cudaGraph_t> held = {family};
  for (size_t i = 0; i < held.size(); ++i) {
    for (cudaGraph_t inside : InsideOf(held[i])) held.push_back(inside);
  }
  std::erase_if(graphs_, [&](const Graph& known) {
    return known.family == family &&
           std::find(held.begin(), held.end(), known.handle) == held.end();
  });
}

void Actor::SayGone(cudaGraphNode_t node, const std::string& graph) {
  Say(Text(R"({"node_gone":"%p","of":"%s"})", static_cast<void*>(node), graph.c_str()));
}

void Actor::FillArguments(Arguments& arguments, int kernel) {
  arguments.pointers[0] = DeviceAt(64);
  arguments.pointers[1] = random_.Chance(80) ? DeviceAt(64) : PinnedAt(64);
  arguments.pack = {kernel, static_cast<unsigned*>(DeviceAt(64)),
                    random_.Chance(50) ? static_cast<unsigned*>(DeviceAt(64)) : nullptr};
  const bool packed = kernel == 3;
  arguments.values[0] = packed ? static_cast<void*>(&arguments.pack) : &arguments.pointers[0];
  arguments.values[1] = packed ? static_cast<void*>(&arguments.scalar) : &arguments.pointers[1];
}

namespace {

void RunProgram(uint64_t seed, cudaMemPool_t pool) {
  Buffers buffers = {nullptr, nullptr, pool};
  CHECK(cudaMalloc(&buffers.device, Buffers::kBytes));
  CHECK(cudaMallocHost(&buffers.pinned, Buffers::kBytes));
  Random random(seed);
  const int threads = seed % 3 == 0 ? 2 + random.Pick(3) : 1;
  std::deque<Actor> actors;
  for (int i = 0; i < threads; ++i) {
    actors.emplace_back(Text("%llu.%d.", static_cast<unsigned long long>(seed), i),
                        seed * 16 + static_cast<uint64_t>(i), buffers);
  }
  auto run = [](Actor& actor) {
    actor.Run(150);
    actor.Finish();
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run, std::ref(actors[i]));
  run(actors[0]);
  for (std::thread& other : others) other.join();
  for (Actor& actor : actors) actor.Destroy();
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(buffers.device));
  CHECK(cudaFreeHost(buffers.pinned));
}

}  // namespace
}  // namespace random_graphs

int main(int argc, char** argv) {
  const long first = Number(argc, argv, "--seed", 1), count = Number(argc, argv, "--count", 1);
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &props));
  for (long seed = first; seed < first + count; ++seed) {
    random_graphs::RunProgram(static_cast<uint64_t>(seed), pool);
  }
  std::puts("{\"end\":true}");
  return 0;
}
