// The comparisons of the random calls.
#include <algorithm>
#include <cstdio>

#include "random_player.h"

namespace random_calls {

bool Player::Differ(const std::string& what) {
  if (!differs_) {
    std::printf("seed %llu differs: %s\n", static_cast<unsigned long long>(seed_), what.c_str());
    for (const std::string& call : last_) std::printf("  %s\n", call.c_str());
  }
  differs_ = true;
  return false;
}

bool Player::Same(const std::string& call, Error want, cudaError_t got) {
  Say(call + " = " + std::to_string(got));
  ++(*tally_)[call.substr(0, call.find('(')) + " = " + std::to_string(got)];
  const bool same = want == kFails ? got != cudaSuccess : static_cast<int>(want) == got;
  return same ||
         Differ(call + " returned " + std::to_string(got) + ", expected " + std::to_string(want));
}

// The bytes of a new allocation overlap nothing that may be in use at the same time.
void Player::TakeMemory(void* pointer, size_t bytes, int graph_number) {
  char* begin = static_cast<char*>(pointer);
  auto overlaps = [&](const char* b, size_t n) { return begin < b + n && b < begin + bytes; };
  for (const auto& [b, n] : pool_) {
    if (overlaps(b, n)) Differ("an allocation overlaps one that is live");
  }
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (overlaps(memory_[i].begin, memory_[i].bytes)) CheckReuse(static_cast<int>(i), graph_number);
  }
  const int number = static_cast<int>(world_.allocations.size());
  owner_[begin] = graph_number != kNone ? number : kNone;
  if (graph_number == kNone) {
    pool_[begin] = bytes;
    return;
  }
  const int place = places_.try_emplace(begin, static_cast<int>(places_.size())).first->second;
  world_.allocations.push_back({graph_number, place});
  memory_.push_back({begin, bytes});
}

// The newest allocation, of this graph, has bytes of an earlier one.
void Player::CheckReuse(int earlier, int graph_number) {
  const Allocation& other = world_.allocations[earlier];
  const Graph& graph = world_.graphs[other.graph];
  if (other.graph != graph_number) {
    const auto owner = owner_.find(memory_[earlier].begin);
    if (owner == owner_.end() || owner->second != earlier)
      return;  // the address is another's since
    if (world_.live.contains(other.place)) {
      Differ("an allocation overlaps number " + std::to_string(earlier) + " of graph " +
             std::to_string(other.graph) + ", which is live");
    }
    if (!graph.gone) Differ("two graphs allocate the same bytes");
    return;
  }
  const int made = static_cast<int>(graph.nodes.size()) - 1;
  const bool before = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.type == Type::kFree && node.allocation == earlier &&
           world_.IsBefore(graph, static_cast<int>(&node - graph.nodes.data()), made);
  });
  if (!before) Differ("an address is used again before it was freed");
}

bool Player::CheckOrder(const Exec& exec) {
  std::map<int, size_t> position;
  for (size_t i = 0; i < log_.size(); ++i) position[log_[i] % 1000] = i;
  const std::vector<Node>& nodes = exec.copy.nodes;
  for (const Node& node : nodes) {
    if (node.type == Type::kChild) return true;  // its own host nodes are in the log, too
  }
  for (int b = 0; b < static_cast<int>(nodes.size()); ++b) {
    if (nodes[b].gone || nodes[b].type != Type::kHost) continue;
    if (!position.contains(b)) return Differ("a host node did not run");
    for (int a = 0; a < static_cast<int>(nodes.size()); ++a) {
      if (nodes[a].type == Type::kHost && world_.IsBefore(exec.copy, a, b) &&
          position.at(a) > position.at(b)) {
        return Differ("a host node ran before one that it follows");
      }
    }
  }
  return true;
}

bool Player::CheckStreams() {
  for (int i = 0; i < kStreams; ++i) {
    const Stream& s = world_.streams[i];
    cudaStreamCaptureStatus status;
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* set = nullptr;
    size_t count = 0;
    cudaStreamGetCaptureInfo(streams_[i], &status, nullptr, &graph, &set, nullptr, &count);
    auto want = cudaStreamCaptureStatusNone;
    if (s.capture != kNone) {
      want = world_.captures[s.capture].valid ? cudaStreamCaptureStatusActive
                                              : cudaStreamCaptureStatusInvalidated;
    }
    if (status != want)
      return Differ("stream " + std::to_string(i) + " has status " + std::to_string(status));
    if (status != cudaStreamCaptureStatusActive) continue;
    const int number = world_.captures[s.capture].graph;
    auto expected = Handles(number, s.set);
    std::sort(expected.begin(), expected.end());
    std::vector<cudaGraphNode_t> found(set, set + count);
    std::sort(found.begin(), found.end());
    if (found != expected) return Differ("stream " + std::to_string(i) + " has other dependencies");
    if (graph != graphs_[number]) return Differ("a stream captures into another graph");
  }
  return true;
}

bool Player::CheckGraph(int number) {
  const Graph& graph = world_.graphs[number];
  std::set<std::pair<cudaGraphNode_t, cudaGraphNode_t>> want;
  std::set<cudaGraphNode_t> want_nodes;
  for (int node = 0; node < static_cast<int>(graph.nodes.size()); ++node) {
    if (graph.nodes[node].gone) continue;
    const cudaGraphNode_t handle = Handles(number, {node})[0];
    want_nodes.insert(handle);
    for (cudaGraphNode_t from : Handles(number, graph.nodes[node].after))
      want.insert({from, handle});
  }
  size_t count = 0;
  cudaGraphGetEdges(graphs_[number], nullptr, nullptr, nullptr, &count);
  std::vector<cudaGraphNode_t> from(count);
  std::vector<cudaGraphNode_t> to(count);
  if (count > 0) cudaGraphGetEdges(graphs_[number], from.data(), to.data(), nullptr, &count);
  std::set<std::pair<cudaGraphNode_t, cudaGraphNode_t>> got;
  for (size_t i = 0; i < count; ++i) got.insert({from[i], to[i]});
  if (got != want) return Differ("graph " + std::to_string(number) + " has other edges");
  cudaGraphGetNodes(graphs_[number], nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) cudaGraphGetNodes(graphs_[number], nodes.data(), &count);
  return std::set<cudaGraphNode_t>(nodes.begin(), nodes.end()) == want_nodes ||
         Differ("graph " + std::to_string(number) + " has other nodes");
}

}  // namespace random_calls
