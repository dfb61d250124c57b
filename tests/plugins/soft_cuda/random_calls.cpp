// Random sequences of capture, graph and memory calls, compared call by call with simple_rules.h:
// the error of each call, the state of every stream after it, and every finished graph whole.
//
//     random_calls [rounds] [seed] [tally]     a round is 1000 calls in a fresh world
//
// A disagreement prints the seed, the last calls and what differs, and exits 1.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "random_player.h"
#include "tests/random.h"

namespace random_calls {

int Player::PickGraph() {
  std::vector<int> live;
  for (size_t i = 0; i < world_.graphs.size(); ++i) {
    if (!world_.graphs[i].gone && i < graphs_.size() && graphs_[i] != nullptr)
      live.push_back(static_cast<int>(i));
  }
  return live.empty() ? kNone : live[Pick(live.size())];
}

int Player::PickExec() {
  std::vector<int> live;
  for (size_t i = 0; i < world_.execs.size(); ++i) {
    if (!world_.execs[i].gone) live.push_back(static_cast<int>(i));
  }
  return live.empty() ? kNone : live[Pick(live.size())];
}

Nodes Player::PickNodes(const Graph& graph, int most) {
  Nodes picked;
  for (int i = Pick(most + 1); i > 0 && !graph.nodes.empty(); --i) {
    const int node = Pick(graph.nodes.size());
    if (!graph.nodes[node].gone) picked.insert(node);
  }
  return picked;
}

std::vector<cudaGraphNode_t> Player::Handles(int graph, const Nodes& nodes) {
  std::vector<cudaGraphNode_t> handles;
  for (int node : nodes) handles.push_back(nodes_[graph][node]);
  return handles;
}

void Player::OwnGraph(int graph, cudaGraph_t handle) {
  graphs_.resize(world_.graphs.size());
  nodes_.resize(world_.graphs.size());
  graphs_[graph] = handle;
}

void Player::Step() {
  if (Chance(70)) {
    StreamStep(Pick(100));
  } else {
    GraphStep(Pick(100));
  }
  CheckStreams();
}

bool Player::Play() {
  for (int i = 0; i < kCalls && !differs_; ++i) Step();
  for (size_t i = 0; i < world_.graphs.size() && !differs_; ++i) {
    if (!world_.graphs[i].gone) CheckGraph(static_cast<int>(i));
  }
  Clean();
  return !differs_;
}

// Ends everything; no graph memory stays in use.
void Player::Clean() {
  auto mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  for (int i = 0; i < kStreams; ++i) {
    world_.LeaveStream(i);
    cudaStreamDestroy(streams_[i]);
  }
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
  for (size_t i = 0; i < world_.graphs.size(); ++i) {
    if (!world_.graphs[i].gone) cudaGraphDestroy(graphs_[i]);
  }
  for (size_t i = 0; i < execs_.size(); ++i) {
    if (!world_.execs[i].gone) cudaGraphExecDestroy(execs_[i]);
  }
  for (const auto& [pointer, bytes] : pool_) cudaFree(pointer);
  for (const auto& [pointer, place] : places_) {
    if (world_.live.contains(place)) cudaFree(pointer);
  }
  cudaDeviceSynchronize();
  cudaDeviceGraphMemTrim(0);
  unsigned long long used = 0;
  cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used);
  if (used != 0) Differ("graph memory stays in use");
  mode = cudaStreamCaptureModeGlobal;
  cudaThreadExchangeStreamCaptureMode(&mode);
}

}  // namespace random_calls

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : graphkit::RandomRounds(200);
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : graphkit::RandomSeed();
  std::map<std::string, int> tally;
  cudaFree(nullptr);
  for (int round = 0; round < rounds; ++round) {
    random_calls::Player player(seed + static_cast<uint64_t>(round), &tally);
    if (!player.Play()) return 1;
  }
  if (argc > 3 && std::string_view(argv[3]) == "tally") {
    for (const auto& [call, count] : tally) std::printf("%8d %s\n", count, call.c_str());
  }
  std::printf("random_calls: %d calls from seed %llu agree\n", rounds * random_calls::kCalls,
              static_cast<unsigned long long>(seed));
  return 0;
}
