#include "libgraphkit/compare/match_graphs.h"

#include <algorithm>
#include <cstddef>

#include "libgraphkit/compare/ranks.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

constexpr uint32_t kUnpaired = GraphPairs::kNone;

using Graphs = std::vector<uint32_t>;

// Of both runs the graphs that have a key in common.
struct Sides {
  Graphs before, after;
};

template <typename Key>
using ByKey = std::map<Key, Sides>;

using NameAndHash = std::pair<std::string_view, uint64_t>;

// Graphs of one name and content.
struct ContentClass {
  const GraphContent* content = nullptr;
  Graphs members = {};
  uint32_t place = 0;  // among the classes of the name, by figures
};

struct Candidate {
  uint32_t likeness = 0;
  uint32_t distance = 0;  // between their places
  uint32_t before = 0, after = 0;
  auto Order() const { return std::tuple(~likeness, distance, before, after); }
};

// How much of both graphs is the same, in parts of 720720, which 1 to 16 divide: estimated from the
// smallest hashes of both together.
uint32_t Likeness(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  static_assert(GraphContent::kSampled == 16);
  constexpr uint32_t kAll = 720720;
  uint32_t looked_at = 0, shared = 0;
  for (size_t i = 0, j = 0; looked_at < GraphContent::kSampled && (i < a.size() || j < b.size());
       ++looked_at) {
    const bool both = i < a.size() && j < b.size() && a[i] == b[j];
    const bool from_a = both || j == b.size() || (i < a.size() && a[i] < b[j]);
    shared += both;
    i += from_a;
    j += both || !from_a;
  }
  return looked_at == 0 ? 0 : kAll / looked_at * shared;
}

class ContentMatcher {
 public:
  ContentMatcher(std::span<const ComparedGraph> before, std::span<const ComparedGraph> after)
      : before_(before), after_(after) {
    pairs_.after.assign(before.size(), kUnpaired);
    pairs_.before.assign(after.size(), kUnpaired);
  }

  GraphPairs Run() {
    MatchEqual<NameAndHash>(
        [](const ComparedGraph& graph) { return NameAndHash(graph.name, graph.content->hash); });
    MatchEqual<uint64_t>([](const ComparedGraph& graph) { return graph.content->hash; });
    const auto name = [](const ComparedGraph& graph) { return graph.name; };
    for (const auto& [unused, sides] : FreeBy<std::string_view>(name, false)) MatchAlike(sides);
    for (const auto& [unused, sides] : FreeBy<std::string_view>(name, false)) {
      MatchInOrder(sides.before, sides.after);
    }
    return std::move(pairs_);
  }

 private:
  template <typename Key, typename KeyOf>
  ByKey<Key> FreeBy(KeyOf key_of, bool of_known_content) const {
    ByKey<Key> found;
    const auto collect = [&](std::span<const ComparedGraph> graphs, const Graphs& partners,
                             Graphs Sides::*side) {
      for (uint32_t i = 0; i < graphs.size(); ++i) {
        if (partners[i] != kUnpaired) continue;
        if (of_known_content && graphs[i].content == nullptr) continue;
        (found[key_of(graphs[i])].*side).push_back(i);
      }
    };
    collect(before_, pairs_.after, &Sides::before);
    collect(after_, pairs_.before, &Sides::after);
    return found;
  }

  template <typename Key, typename KeyOf>
  void MatchEqual(KeyOf key_of) {
    for (auto& [unused, sides] : FreeBy<Key>(key_of, true)) {
      MatchByFigures(std::move(sides.before), std::move(sides.after));
    }
  }

  void Pair(uint32_t before, uint32_t after) {
    pairs_.after[before] = after;
    pairs_.before[after] = before;
  }

  void MatchInOrder(const Graphs& before, const Graphs& after) {
    for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) Pair(before[i], after[i]);
  }

  // Those with the same figures, then the least with the least.
  void MatchByFigures(Graphs before, Graphs after) {
    SortByFigures(before, before_);
    SortByFigures(after, after_);
    Graphs left, right;
    size_t i = 0, j = 0;
    WalkSorted(
        FiguresOf(before, before_), FiguresOf(after, after_), std::identity(),
        [&](const auto&) { left.push_back(before[i++]); },
        [&](const auto&) { right.push_back(after[j++]); },
        [&](const auto&, const auto&) { Pair(before[i++], after[j++]); });
    MatchInOrder(left, right);
  }

  static std::vector<ComparedGraph::Figures> FiguresOf(const Graphs& list,
                                                       std::span<const ComparedGraph> graphs) {
    std::vector<ComparedGraph::Figures> figures;
    for (const uint32_t graph : list) figures.push_back(graphs[graph].figures);
    return figures;
  }

  static void SortByFigures(Graphs& list, std::span<const ComparedGraph> graphs) {
    std::ranges::sort(list, [graphs](uint32_t a, uint32_t b) {
      return std::tie(graphs[a].figures, a) < std::tie(graphs[b].figures, b);
    });
  }

  static std::vector<ContentClass> ClassesOf(Graphs list, std::span<const ComparedGraph> graphs) {
    SortByFigures(list, graphs);
    std::map<uint64_t, uint32_t> places;
    std::vector<ContentClass> classes;
    for (const uint32_t graph : list) {
      const GraphContent* content = graphs[graph].content;
      if (content == nullptr) continue;
      const auto place = static_cast<uint32_t>(classes.size());
      const auto [found, is_new] = places.emplace(content->hash, place);
      if (is_new) classes.push_back({.content = content, .place = place});
      classes[found->second].members.push_back(graph);
    }
    return classes;
  }

  void MatchAlike(const Sides& sides) {
    const std::vector<ContentClass> before = ClassesOf(sides.before, before_);
    const std::vector<ContentClass> after = ClassesOf(sides.after, after_);
    for (const Candidate& candidate : CandidatesOf(before, after)) {
      MatchByFigures(Free(before[candidate.before].members, pairs_.after),
                     Free(after[candidate.after].members, pairs_.before));
    }
  }

  static Graphs Free(const Graphs& graphs, const Graphs& partners) {
    Graphs free;
    for (const uint32_t graph : graphs) {
      if (partners[graph] == kUnpaired) free.push_back(graph);
    }
    return free;
  }

  // Classes that share a hash which few have: what all share tells none apart.
  static std::vector<Candidate> CandidatesOf(const std::vector<ContentClass>& before,
                                             const std::vector<ContentClass>& after) {
    constexpr size_t kFew = 64;
    std::map<uint32_t, Graphs> holders;  // of each hash
    for (uint32_t i = 0; i < before.size(); ++i) {
      for (const uint32_t hash : before[i].content->sample) holders[hash].push_back(i);
    }
    std::vector<Candidate> candidates;
    for (uint32_t j = 0; j < after.size(); ++j) {
      Graphs seen;
      for (const uint32_t hash : after[j].content->sample) {
        const auto found = holders.find(hash);
        if (found == holders.end() || found->second.size() > kFew) continue;
        seen.insert(seen.end(), found->second.begin(), found->second.end());
      }
      SortUnique(&seen);
      for (const uint32_t i : seen) {
        const uint32_t distance = before[i].place < after[j].place
                                      ? after[j].place - before[i].place
                                      : before[i].place - after[j].place;
        candidates.push_back(
            {Likeness(before[i].content->sample, after[j].content->sample), distance, i, j});
      }
    }
    std::ranges::sort(candidates, {}, &Candidate::Order);
    return candidates;
  }

  std::span<const ComparedGraph> before_, after_;
  GraphPairs pairs_;
};

// The graphs that are matched, and what each is compared by.
struct GraphsAlone {
  std::vector<GraphId> ids = {};
  std::vector<ComparedGraph> graphs = {};
};

GraphsAlone FindGraphsAlone(const ComparedTrace& side) {
  GraphsAlone compared;
  for (size_t i = 0; i < side.contents.size(); ++i) {
    const bool empty = side.contents[i].sample.empty();
    if (side.trace.graphs[i].parent || empty) continue;
    ComparedGraph& graph = compared.graphs.emplace_back();
    graph.name = side.trace[side.trace.graphs[i].name];
    graph.content = &side.contents[i];
    const auto summary = side.summaries.find(GraphId(i));
    if (summary != side.summaries.end()) graph.figures = GraphFigures(*summary->second);
    compared.ids.push_back(GraphId(i));
  }
  return compared;
}

using Sequence = std::span<const uint64_t>;
using Places = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr size_t kLargestTable = 16'000'000;
constexpr size_t kHorizon = 64;

// The textbook table: length[i][j] of what a[i…] and b[j…] have in common.
void ByTable(Sequence a, Sequence b, uint32_t offset, Places& places) {
  const size_t width = b.size() + 1;
  std::vector<uint16_t> length((a.size() + 1) * width, 0);
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      const auto skip = std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
      const int both = length[(i + 1) * width + j + 1] + 1;
      length[i * width + j] = a[i] == b[j] ? static_cast<uint16_t>(both) : skip;
    }
  }
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      places.push_back({offset + static_cast<uint32_t>(i++), offset + static_cast<uint32_t>(j++)});
    } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

// Goes on at the nearest equal pair within the horizon.
void ByHorizon(Sequence a, Sequence b, uint32_t offset, Places& places) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      places.push_back({offset + static_cast<uint32_t>(i++), offset + static_cast<uint32_t>(j++)});
      continue;
    }
    size_t best = 2 * kHorizon, skip_a = 1, skip_b = 1;
    for (size_t da = 0; da < kHorizon && i + da < a.size(); ++da) {
      for (size_t db = 0; da + db < best && db < kHorizon && j + db < b.size(); ++db) {
        if (a[i + da] != b[j + db]) continue;
        best = da + db;
        skip_a = da;
        skip_b = db;
      }
    }
    i += skip_a;
    j += skip_b;
  }
}

}  // namespace

GraphPairs MatchContents(std::span<const ComparedGraph> before,
                         std::span<const ComparedGraph> after) {
  return ContentMatcher(before, after).Run();
}

GraphMatching MatchGraphs(const ComparedTrace& before_side, const ComparedTrace& after_side) {
  const GraphsAlone before = FindGraphsAlone(before_side), after = FindGraphsAlone(after_side);
  const GraphPairs pairs = MatchContents(before.graphs, after.graphs);
  GraphMatching matching;
  for (size_t i = 0; i < before.ids.size(); ++i) {
    if (pairs.after[i] == GraphPairs::kNone) {
      matching.removed.push_back(before.ids[i]);
    } else {
      matching.pairs.push_back({before.ids[i], after.ids[pairs.after[i]]});
    }
  }
  for (size_t i = 0; i < after.ids.size(); ++i) {
    if (pairs.before[i] == GraphPairs::kNone) matching.added.push_back(after.ids[i]);
  }
  return matching;
}

Places CommonSubsequence(Sequence a, Sequence b) {
  Places places, tail;
  uint32_t start = 0;
  while (start < a.size() && start < b.size() && a[start] == b[start]) {
    places.push_back({start, start});
    ++start;
  }
  size_t end_a = a.size(), end_b = b.size();
  while (end_a > start && end_b > start && a[end_a - 1] == b[end_b - 1]) {
    tail.push_back({static_cast<uint32_t>(--end_a), static_cast<uint32_t>(--end_b)});
  }
  const Sequence middle_a = a.subspan(start, end_a - start);
  const Sequence middle_b = b.subspan(start, end_b - start);
  const bool fits = middle_a.size() < 65535 && middle_b.size() < 65535 &&
                    (middle_a.size() + 1) * (middle_b.size() + 1) <= kLargestTable;
  (fits ? ByTable : ByHorizon)(middle_a, middle_b, start, places);
  places.insert(places.end(), tail.rbegin(), tail.rend());
  return places;
}

// Patience sorting: each pile's top is the smallest end of a rising run of that length.
std::vector<uint32_t> LongestRising(std::span<const uint32_t> values) {
  std::vector<uint32_t> tops, before(values.size());
  constexpr uint32_t kNone = 0xffffffffu;
  for (uint32_t i = 0; i < values.size(); ++i) {
    const auto pile = std::ranges::lower_bound(tops, values[i], {},
                                               [&](uint32_t place) { return values[place]; });
    before[i] = pile == tops.begin() ? kNone : *(pile - 1);
    if (pile == tops.end()) {
      tops.push_back(i);
    } else {
      *pile = i;
    }
  }
  std::vector<uint32_t> kept;
  for (uint32_t i = tops.empty() ? kNone : tops.back(); i != kNone; i = before[i])
    kept.push_back(i);
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace graphkit
