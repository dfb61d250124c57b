#include "libgraphkit/compare/diff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libgraphkit/random.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

struct Line {
  std::string function;
  uint32_t line = 0;
  std::string operation = {};
};

// One run: lines of one file that hold memory, and those that are only known.
struct Run {
  std::vector<HeldGroup> holders;
  std::map<std::string, std::set<int64_t>> known;
  Ran trace;

  explicit Run(const std::vector<Line>& lines, const std::vector<Line>& others = {}) {
    TraceBuilder t;
    for (const auto* of : {&lines, &others}) {
      for (const Line& at : *of) {
        t.Stack({{at.function, "/app/model.py", at.line}});
        known[at.function].insert(at.line);
      }
    }
    for (const Line& at : lines) {
      holders.push_back({.kind = HeldGroup::Kind::kLine,
                         .place = "app/model.py:" + std::to_string(at.line),
                         .file = "/app/model.py",
                         .function = at.function,
                         .line = at.line});
      if (!at.operation.empty()) holders.back().operations = {at.operation};
    }
    trace = t.Build();
  }
};

// Each pair by the lines that it has; 0: none.
std::set<std::pair<uint32_t, uint32_t>> Matched(const Run& before, const Run& after) {
  std::set<std::pair<uint32_t, uint32_t>> lines;
  for (const HolderPair& pair :
       MatchHolders({before.trace, before.holders}, {after.trace, after.holders})) {
    lines.emplace(pair.before ? before.holders[*pair.before].line : 0,
                  pair.after ? after.holders[*pair.after].line : 0);
  }
  return lines;
}

using Pairs = std::set<std::pair<uint32_t, uint32_t>>;

TEST_CASE("a line that both runs have is the same place, whatever it does there") {
  const Run before({{"f", 10, "linear"}, {"f", 12, "softmax"}});
  const Run after({{"f", 12, "sdpa"}, {"f", 10, "linear"}});
  CHECK(Matched(before, after) == Pairs{{10, 10}, {12, 12}});
}

TEST_CASE("lines of a function that moved go with it") {
  // Line 12 of the one isn't line 12 of the other.
  const Run before({{"f", 10, "q"}, {"f", 12, "k"}, {"f", 14, "v"}});
  const Run after({{"f", 12, "q"}, {"f", 14, "k"}, {"f", 16, "v"}});
  CHECK(Matched(before, after) == Pairs{{10, 12}, {12, 14}, {14, 16}});
}

TEST_CASE("other lines of a function hold memory where it didn't move") {
  const Run before({{"f", 10, "q"}, {"f", 12, "k"}}, {{"f", 14}, {"f", 16}});
  const Run after({{"f", 12, "k"}, {"f", 14, "v"}}, {{"f", 10}, {"f", 16}});
  CHECK(Matched(before, after) == Pairs{{10, 0}, {12, 12}, {0, 14}});
}

TEST_CASE("what is left goes by function and operator, in the order of the lines") {
  const Run before({{"f", 10, "linear"}, {"f", 15, "linear"}, {"g", 30, "linear"}});
  const Run after({{"f", 10, "linear"}, {"f", 21, "linear"}, {"f", 25, "gelu"}});
  CHECK(Matched(before, after) == Pairs{{10, 10}, {15, 21}, {0, 25}, {30, 0}});
}

TEST_CASE("pools go by kind and name, in their order; what has no line by what it is called") {
  const auto run = [](uint32_t earlier) {
    TraceBuilder t;
    for (uint32_t i = 0; i < earlier; ++i) t.Pool(PoolKind::kAllocator, "other");
    t.Pool(PoolKind::kPrivate, "a");
    t.Pool(PoolKind::kPrivate, "b");
    t.Pool(PoolKind::kPrivate, "a");
    return t.Build();
  };
  const auto holders = [](uint32_t first, std::vector<uint32_t> pools) {
    std::vector<HeldGroup> groups;
    for (const uint32_t pool : pools) {
      groups.push_back({.kind = HeldGroup::Kind::kPool, .pool = PoolId(first + pool)});
    }
    groups.push_back({.kind = HeldGroup::Kind::kBeforeRecording});
    return groups;
  };
  const Ran before = run(0), after = run(2);
  const auto from = holders(0, {2, 1, 0}), to = holders(2, {0, 1, 2});
  std::vector<HolderPair> pairs = MatchHolders({before, from}, {after, to});
  std::ranges::sort(pairs, {}, [](const HolderPair& pair) { return *pair.before; });
  CHECK(pairs == std::vector<HolderPair>{{0, 2}, {1, 1}, {2, 0}, {3, 3}});
}

// The rule as it is written in compare/diff.h, slowly.
std::set<std::pair<uint32_t, uint32_t>> SlowlyMatched(const Run& before, const Run& after) {
  const auto shift_of = [&](const std::string& function) -> int64_t {
    const auto holds = [&](const Run& run) {
      return std::ranges::find(run.holders, function, &HeldGroup::function) != run.holders.end();
    };
    if (!holds(before) || !holds(after)) return 0;
    const std::set<int64_t>&from = before.known.at(function), &to = after.known.at(function);
    const auto agreeing = [&](int64_t shift) {
      return std::ranges::count_if(from, [&](int64_t line) { return to.contains(line + shift); });
    };
    int64_t best = 0;
    for (int64_t distance = 1; distance < 200; ++distance) {
      for (const int64_t shift : {-distance, distance}) {
        if (agreeing(shift) > agreeing(best)) best = shift;
      }
    }
    return best;
  };
  const auto sorted = [](const Run& run) {
    std::vector<HeldGroup> groups = run.holders;
    std::ranges::stable_sort(groups, {}, &HeldGroup::line);
    return groups;
  };
  std::vector<HeldGroup> from = sorted(before), to = sorted(after);
  Pairs pairs;
  const auto match = [&](auto same) {
    for (size_t b = 0; b < to.size();) {
      const auto partner =
          std::ranges::find_if(from, [&](const HeldGroup& group) { return same(group, to[b]); });
      if (partner == from.end()) {
        ++b;
        continue;
      }
      pairs.emplace(partner->line, to[b].line);
      from.erase(partner);
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(b));
    }
  };
  match([&](const HeldGroup& a, const HeldGroup& b) {
    return a.line + shift_of(a.function) == b.line;
  });
  match([](const HeldGroup& a, const HeldGroup& b) {
    return a.function == b.function && a.operations == b.operations;
  });
  for (const HeldGroup& group : from) pairs.emplace(group.line, 0);
  for (const HeldGroup& group : to) pairs.emplace(0, group.line);
  return pairs;
}

// Two to four functions below each other; each may move, and lines join and go.
std::vector<Line> RandomLines(Random& random, bool moved) {
  std::vector<Line> lines;
  uint32_t at = 10;
  const uint64_t functions = 2 + random.Below(3);
  for (uint64_t f = 0; f < functions; ++f) {
    at += moved ? static_cast<uint32_t>(random.Below(6)) : 0;
    for (uint32_t i = 0; i < 6; ++i, ++at) {
      if (random.Below(3) == 0) continue;
      const std::string operation = random.Below(4) == 0 ? "" : std::string(1, "ab"[i % 2]);
      lines.push_back({"f" + std::to_string(f % 3), at, operation});
    }
  }
  return lines;
}

TEST_CASE("random runs are matched as the slow rule says") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  Random random(seed);
  for (int round = 0; round < RandomRounds(100); ++round) {
    CAPTURE(round);
    const Run before(RandomLines(random, false), RandomLines(random, false));
    const Run after(RandomLines(random, true), RandomLines(random, true));
    CHECK(Matched(before, after) == SlowlyMatched(before, after));
  }
}

}  // namespace
}  // namespace graphkit
