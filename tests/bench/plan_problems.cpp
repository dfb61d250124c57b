// The planners of others (plan_peers.h) on the problems of testdata/placement (docs/benchmark.md):
//
//     plan_problems testdata/placement/*.json
//
// Prints a row for each planner: the problems that it can read, its plans that equal the bound, the
// mean and the largest peak over the bound, and processor seconds of all. Every plan is checked.
// All but SOMAS read lifetimes only, which not every problem has.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/plan_peers.h"

namespace graphkit {
namespace {

struct Named {
  const char* name;
  Offsets (*plan)(const PeerProblem&);
};

constexpr std::array<Named, 8> kPlanners = {{{"TFLite by size", TfliteBySize},
                                             {"TFLite by breadth", TfliteByBreadth},
                                             {"XLA", XlaBestFit},
                                             {"TVM by size", TvmBySize},
                                             {"TVM by conflicts", TvmByConflicts},
                                             {"TVM hill climb", TvmHillClimb},
                                             {"idealloc", Idealloc},
                                             {"SOMAS", Somas}}};

struct Score {
  uint32_t problems = 0;
  uint32_t at_bound = 0;
  double sum = 0;
  double largest = 0;
  double seconds = 0;
};

// By block, those after it. `edges` are sorted, and blocks come before those after them.
std::vector<std::vector<bool>> After(size_t blocks, const nlohmann::json& edges) {
  std::vector<std::vector<bool>> after(blocks, std::vector<bool>(blocks));
  for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
    const auto x = (*edge)[0].get<size_t>();
    const auto y = (*edge)[1].get<size_t>();
    after[x][y] = true;
    for (size_t z = 0; z < blocks; ++z) after[x][z] = after[x][z] || after[y][z];
  }
  return after;
}

// A time is the number of blocks before. Blocks with the order of some lifetimes get just these,
// others overlap with some that they don't conflict with.
PeerProblem Read(const nlohmann::json& file) {
  PeerProblem peer;
  const size_t blocks = file["sizes"].size();
  const std::vector<std::vector<bool>> after = After(blocks, file["edges"]);
  std::vector<int64_t> earlier(blocks);
  for (const std::vector<bool>& row : after) {
    for (size_t y = 0; y < blocks; ++y) earlier[y] += row[y];
  }
  peer.conflicts.resize(blocks);
  for (size_t x = 0; x < blocks; ++x) {
    int64_t last = earlier[x];
    for (size_t y = 0; y < blocks; ++y) {
      if (x == y || after[x][y] || after[y][x]) continue;
      peer.conflicts[x].push_back(static_cast<uint32_t>(y));
      last = std::max(last, earlier[y]);
    }
    peer.problem.blocks.push_back({.size = file["sizes"][x].get<Bytes>()});
    peer.problem.lifetimes.push_back({earlier[x], last + 1});
  }
  peer.overlaps = OverlapsOf(peer.problem);
  return peer;
}

bool HasLifetimes(const PeerProblem& peer) {
  for (size_t block = 0; block < peer.conflicts.size(); ++block) {
    if (peer.overlaps[block].size() != peer.conflicts[block].size()) return false;
  }
  return true;
}

bool Safe(const PeerProblem& peer, const Offsets& offsets) {
  for (uint32_t x = 0; x < offsets.size(); ++x) {
    if (offsets[x] == kNotPlaced) return false;
    for (const uint32_t y : peer.conflicts[x]) {
      const bool apart = offsets[x] + peer.problem.blocks[x].size <= offsets[y] ||
                         offsets[y] + peer.problem.blocks[y].size <= offsets[x];
      if (!apart) return false;
    }
  }
  return true;
}

bool Run(const char* path, std::array<Score, kPlanners.size()>* scores) {
  std::ifstream in(path);
  const nlohmann::json file = nlohmann::json::parse(in);
  const PeerProblem peer = Read(file);
  Bytes bound = 0;
  for (const auto& block : file["bound"]) bound += peer.problem.blocks[block.get<size_t>()].size;
  const bool lifetimes = HasLifetimes(peer);
  for (size_t i = 0; i < kPlanners.size(); ++i) {
    if (!lifetimes && kPlanners[i].plan != Somas) continue;
    const std::clock_t begin = std::clock();
    const Offsets offsets = kPlanners[i].plan(peer);
    Score& score = (*scores)[i];
    score.seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (!Safe(peer, offsets)) {
      std::fprintf(stderr, "%s: the plan of %s is unsafe\n", path, kPlanners[i].name);
      return false;
    }
    const Bytes peak = PeakOf(peer, offsets);
    const double ratio = static_cast<double>(peak) / static_cast<double>(bound);
    ++score.problems;
    score.at_bound += peak == bound;
    score.sum += ratio;
    score.largest = std::max(score.largest, ratio);
  }
  return true;
}

int Main(int count, char** paths) {
  std::array<Score, kPlanners.size()> scores = {};
  for (int i = 1; i < count; ++i) {
    if (!Run(paths[i], &scores)) return 1;
  }
  std::printf("| planner | problems | plan = bound | mean plan ÷ bound | largest | seconds |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < scores.size(); ++i) {
    const Score& score = scores[i];
    std::printf("| %s | %u | %u | %.4f | %.4f | %.2f |\n", kPlanners[i].name, score.problems,
                score.at_bound, score.sum / score.problems, score.largest, score.seconds);
  }
  return 0;
}

}  // namespace
}  // namespace graphkit

int main(int count, char** paths) { return graphkit::Main(count, paths); }
