#include "libgraphkit/compare/attribute/attribute.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/attribute/align.h"

namespace graphkit {
namespace {

constexpr uint32_t kNoWork = CertainPairs::kNoPartner;
using Symbols = std::vector<uint32_t>;

void Add(WorkTime& to, const WorkTime& time) {
  to.count += time.count;
  to.ns += time.ns;
}

// Names of kernels as numbers, whether a profile has them mangled or not.
class KernelNames {
 public:
  explicit KernelNames(const Profile& profile) : profile_(profile) {}

  uint32_t Of(StringId kernel) {
    const auto [at, is_new] = known_.try_emplace(kernel);
    if (!is_new) return at->second;
    const auto count = static_cast<uint32_t>(numbers_.size());
    return at->second = numbers_.try_emplace(Demangle(profile_[kernel]), count).first->second;
  }

 private:
  const Profile& profile_;
  std::map<StringId, uint32_t> known_;
  std::map<std::string, uint32_t> numbers_;
};

// Kernel sequences as numbers: equal kernels have equal symbols, equal sequences equal classes.
class Sequences {
 public:
  Sequences(const Profile& profile, KernelNames& names) : kernel_names_(names) {
    const auto has_grid = [](const auto& work) {
      return work.kind != NodeKind::kKernel || work.shape.grid[0] != 0;
    };
    const auto named = [](const CapturedWork& of) {
      return of.work.kind != NodeKind::kKernel || of.work.kernel.valid();
    };
    names_ = std::ranges::all_of(profile.captured, named);
    grids_ = names_ && std::ranges::all_of(profile.replayed, has_grid) &&
             std::ranges::all_of(profile.captured, has_grid, &CapturedWork::work);
    for (const ProfiledCapture& graph : profile.graphs) {
      Symbols symbols;
      for (uint32_t i = 0; i < graph.work.count; ++i)
        symbols.push_back(SymbolOf(profile.captured[graph.work.first + i].work));
      captures.push_back(ClassOf(std::move(symbols)));
    }
    for (const ReplayLaunch& launch : profile.launches) {
      Symbols symbols;
      for (uint32_t i = 0; i < launch.work.count; ++i)
        symbols.push_back(SymbolOf(profile.replayed[launch.work.first + i]));
      launches.push_back(ClassOf(std::move(symbols)));
    }
  }

  std::vector<uint32_t> captures, launches;  // the class of each
  bool names() const { return names_; }
  size_t size() const { return sequences_.size(); }

  // `launch` as a damaged `capture`; made once.
  const CertainPairs& Pairs(uint32_t capture, uint32_t launch) {
    const auto [at, is_new] = pairs_.try_emplace({capture, launch});
    if (is_new) at->second = FindCertainPairs(*sequences_[capture], *sequences_[launch]);
    return at->second;
  }

  // True when the sequences differ in at most a quarter of their elements.
  bool Near(uint32_t capture, uint32_t launch) {
    const size_t a = sequences_[capture]->size(), b = sequences_[launch]->size();
    const size_t most = (a + b) / 4;
    return std::max(a, b) - std::min(a, b) <= most && Pairs(capture, launch).edits <= most;
  }

 private:
  template <typename Work>
  uint32_t SymbolOf(const Work& work) {
    const bool kernel = work.kind == NodeKind::kKernel;
    const uint32_t* grid = work.shape.grid;
    const auto count = static_cast<uint32_t>(symbols_.size());
    const auto key = std::tuple(
        work.kind, kernel && names_ ? kernel_names_.Of(work.kernel) : 0,
        grids_ && kernel ? std::tuple(grid[0], grid[1], grid[2]) : std::tuple(0u, 0u, 0u));
    return symbols_.try_emplace(key, count).first->second;
  }

  uint32_t ClassOf(Symbols symbols) {
    const auto count = static_cast<uint32_t>(classes_.size());
    const auto [at, is_new] = classes_.try_emplace(std::move(symbols), count);
    if (is_new) sequences_.push_back(&at->first);
    return at->second;
  }

  KernelNames& kernel_names_;
  bool names_ = false, grids_ = false;
  std::map<std::tuple<NodeKind, uint32_t, std::tuple<uint32_t, uint32_t, uint32_t>>, uint32_t>
      symbols_;
  std::map<Symbols, uint32_t> classes_;
  std::vector<const Symbols*> sequences_;
  std::map<std::pair<uint32_t, uint32_t>, CertainPairs> pairs_;
};

// "Model_0.Layer_13" as "Model.Layer".
std::string WithoutNumbers(std::string_view module) {
  std::string text;
  while (!module.empty()) {
    const std::string_view part = module.substr(0, module.find('.'));
    module.remove_prefix(std::min(module.size(), part.size() + 1));
    const size_t number = part.rfind('_');
    const bool numbered = number != std::string_view::npos &&
                          part.find_first_not_of("0123456789", number + 1) == part.npos;
    text += (text.empty() ? "" : ".") + std::string(numbered ? part.substr(0, number) : part);
  }
  return text;
}

class Attributor {
 public:
  explicit Attributor(const Profile& profile)
      : profile_(profile), names_(profile), sequences_(profile, names_) {
    result_.captured_of.assign(profile.replayed.size(), kNoWork);
    const auto ran = [](const ReplayLaunch& launch) { return launch.work.count > 0; };
    result_.launches = static_cast<uint64_t>(std::ranges::count_if(profile.launches, ran));
    result_.eager = profile.eager;
    graph_of_.assign(profile.launches.size(), kNoWork);
    result_.ran_as.resize(profile.captured.size());
    result_.times.resize(profile.captured.size());
    why_.assign(profile.launches.size(), NotMatched::kNoCapture);
    MakeSizes();
  }

  Attribution Run() {
    MatchById();
    for (uint32_t launch = 0; launch < graph_of_.size(); ++launch) {
      if (!by_id_[launch]) FindGraph(launch);
    }
    for (const auto& [size, launches] : by_order_) MatchInOrder(size, launches);
    for (uint32_t launch = 0; launch < graph_of_.size(); ++launch) MatchWork(launch);
    Count();
    return std::move(result_);
  }

 private:
  void MakeSizes() {
    std::map<std::pair<uint64_t, std::string_view>, uint32_t> known;
    for (const ProfiledCapture& graph : profile_.graphs) {
      const std::string_view source = graph.size == 0 ? profile_[graph.source] : std::string_view();
      const auto count = static_cast<uint32_t>(result_.sizes.size());
      const auto [at, is_new] = known.try_emplace({graph.size, source}, count);
      if (is_new) {
        result_.sizes.push_back(
            {.size = graph.size, .source = std::string(profile_[graph.source])});
        graphs_of_.emplace_back();
      }
      graphs_of_[at->second].push_back(static_cast<uint32_t>(result_.size_of.size()));
      result_.size_of.push_back(at->second);
    }
  }

  std::span<const ReplayedWork> WorkOf(uint32_t launch) const {
    const Slice slice = profile_.launches[launch].work;
    return std::span(profile_.replayed).subspan(slice.first, slice.count);
  }

  // By node id; not an id that several captures have, as those of other processes.
  std::map<uint64_t, uint32_t> CapturedById() const {
    std::map<uint64_t, uint32_t> by_id;
    for (uint32_t i = 0; i < profile_.captured.size(); ++i) {
      for (const uint64_t id : profile_.captured[i].work.ids) {
        const auto [at, is_new] = by_id.emplace(id, i);
        if (!is_new && at->second != i) at->second = kNoWork;
      }
    }
    std::erase_if(by_id, [](const auto& known) { return known.second == kNoWork; });
    return by_id;
  }

  // Launches of which a node's id is known go by ids.
  void MatchById() {
    const std::map<uint64_t, uint32_t> by_id = CapturedById();
    by_id_.assign(graph_of_.size(), false);
    for (uint32_t launch = 0; launch < graph_of_.size(); ++launch) {
      const auto known = [&](const ReplayedWork& work) { return by_id.contains(work.tool_id); };
      if (by_id.empty() || !std::ranges::any_of(WorkOf(launch), known)) continue;
      by_id_[launch] = true;
      for (uint32_t i = 0; i < profile_.launches[launch].work.count; ++i) {
        const uint32_t at = profile_.launches[launch].work.first + i;
        const auto found = by_id.find(profile_.replayed[at].tool_id);
        if (found == by_id.end()) continue;
        const ProfiledWork& work = profile_.captured[found->second].work;
        const bool other = work.kernel.valid() &&
                           names_.Of(work.kernel) != names_.Of(profile_.replayed[at].kernel);
        if (other) {
          other_name_.push_back(at);
        } else {
          result_.captured_of[at] = found->second;
        }
      }
    }
  }

  // Graphs with the launch's sequence, else with those nearest to it.
  std::vector<uint32_t> Candidates(uint32_t launch) {
    const uint32_t of = sequences_.launches[launch];
    const auto [at, is_new] = candidates_.try_emplace(of);
    if (!is_new) return at->second;
    size_t least = ~size_t{0};
    for (uint32_t graph = 0; graph < result_.size_of.size(); ++graph) {
      const uint32_t capture = sequences_.captures[graph];
      if (capture != of && (least == 0 || !sequences_.Near(capture, of))) continue;
      const size_t edits = capture == of ? 0 : sequences_.Pairs(capture, of).edits;
      if (edits < least) at->second.clear();
      least = std::min(least, edits);
      if (edits == least) at->second.push_back(graph);
    }
    return at->second;
  }

  // Servers run a batch in the smallest captured size that it fits in.
  uint64_t CapturedSizeFor(uint64_t size) const {
    uint64_t best = 0;
    for (const AttributedSize& of : result_.sizes) {
      if (of.size >= size && (best == 0 || of.size < best)) best = of.size;
    }
    return best;
  }

  void FindGraph(uint32_t launch) {
    std::vector<uint32_t> graphs = Candidates(launch);
    const auto size = [&](uint32_t graph) { return result_.size_of[graph]; };
    const uint64_t ran = profile_.launches[launch].size;
    std::erase_if(graphs, [&](uint32_t graph) {
      const uint64_t captured = result_.sizes[size(graph)].size;
      return captured != 0 && captured < ran;
    });
    if (graphs.empty()) return;
    why_[launch] = NotMatched::kSeveral;
    const auto several_sizes = [&] {
      return std::ranges::any_of(
          graphs, [&](uint32_t graph) { return size(graph) != size(graphs.front()); });
    };
    if (several_sizes() && ran != 0) {
      const uint64_t captured = CapturedSizeFor(ran);
      std::erase_if(graphs,
                    [&](uint32_t graph) { return result_.sizes[size(graph)].size != captured; });
    }
    if (graphs.empty() || several_sizes()) return;
    const uint32_t first = sequences_.captures[graphs.front()];
    const auto other = [&](uint32_t graph) { return sequences_.captures[graph] != first; };
    if (std::ranges::any_of(graphs, other)) return;
    if (graphs.size() == 1) graph_of_[launch] = graphs.front();
    by_order_[size(graphs.front())].push_back({launch, first});
  }

  struct OrderedLaunch {
    uint32_t launch = 0;
    uint32_t sequence = 0;  // of its graph
  };

  // Graphs of a size with equal sequences, as the layers of a model captured piece by piece: each
  // round launches them in the order in which they were captured. A round begins with the first
  // graph whose sequence no other one has.
  void MatchInOrder(uint32_t size, const std::vector<OrderedLaunch>& launches) {
    std::vector<uint32_t> graphs = graphs_of_[size];
    const auto sequence = [&](uint32_t graph) { return sequences_.captures[graph]; };
    const auto alone = [&](uint32_t graph) {
      return std::ranges::count(graphs, sequence(graph), sequence) == 1;
    };
    if (std::ranges::all_of(graphs, alone)) return;
    const auto anchor = std::ranges::find_if(graphs, alone);
    const bool anchored = anchor != graphs.end();
    if (anchored) std::rotate(graphs.begin(), anchor, graphs.end());
    Symbols captured;
    for (const uint32_t graph : graphs) captured.push_back(sequence(graph));
    for (size_t begin = 0, end = 0; begin < launches.size(); begin = end) {
      Symbols round;
      do {
        round.push_back(launches[end++].sequence);
      } while (end < launches.size() && (anchored ? launches[end].sequence != captured.front()
                                                  : round.size() < captured.size()));
      if (!anchored && launches.size() % captured.size() != 0) return;
      const CertainPairs pairs = FindCertainPairs(captured, round);
      for (size_t i = 0; i < round.size(); ++i) {
        const uint32_t partner = pairs.partner[i];
        graph_of_[launches[begin + i].launch] = partner == kNoWork ? kNoWork : graphs[partner];
      }
    }
  }

  void MatchWork(uint32_t launch) {
    const uint32_t graph = graph_of_[launch];
    if (by_id_[launch] || graph == kNoWork) return;
    why_[launch] = NotMatched::kAmbiguous;
    const Slice work = profile_.launches[launch].work;
    const uint32_t first = profile_.graphs[graph].work.first;
    const uint32_t captured = sequences_.captures[graph], replayed = sequences_.launches[launch];
    const CertainPairs& pairs = sequences_.Pairs(captured, replayed);
    for (uint32_t i = 0; i < work.count; ++i) {
      if (pairs.partner[i] == kNoWork) continue;
      result_.captured_of[work.first + i] = first + pairs.partner[i];
    }
  }

  void Count() {
    std::vector<WorkTime>& times = result_.times;
    std::vector<uint64_t> runs(profile_.graphs.size());
    for (uint32_t launch = 0; launch < graph_of_.size(); ++launch) {
      CountLaunch(launch);
      if (graph_of_[launch] != kNoWork) ++runs[graph_of_[launch]];
    }
    std::array<std::map<std::vector<std::string>, AttributedRow>, kAttributedTables> tables;
    for (uint32_t graph = 0; graph < profile_.graphs.size(); ++graph) {
      AttributedSize& size = result_.sizes[result_.size_of[graph]];
      const Slice work = profile_.graphs[graph].work;
      uint64_t most = runs[graph];
      for (uint32_t i = work.first; i < work.first + work.count; ++i) {
        most = std::max(most, times[i].count);
        Add(size.matched, times[i]);
        if (times[i].count > 0) AddRows(i, result_.size_of[graph], times[i], tables);
      }
      size.replays = std::max(size.replays, most);
    }
    for (size_t i = 0; i < kAttributedTables; ++i) {
      for (auto& [key, row] : tables[i]) result_.tables[i].push_back(std::move(row));
      std::ranges::stable_sort(result_.tables[i], std::greater(),
                               [](const AttributedRow& row) { return row.total.ns; });
    }
  }

  void CountLaunch(uint32_t launch) {
    const Slice work = profile_.launches[launch].work;
    const MatchedBy by = by_id_[launch]       ? MatchedBy::kId
                         : sequences_.names() ? MatchedBy::kName
                                              : MatchedBy::kCount;
    for (uint32_t i = work.first; i < work.first + work.count; ++i) {
      const WorkTime time{1, profile_.replayed[i].duration_ns};
      const uint32_t captured = result_.captured_of[i];
      Add(result_.matched[static_cast<size_t>(captured == kNoWork ? MatchedBy::kNothing : by)],
          time);
      if (captured == kNoWork) {
        const bool other = std::ranges::binary_search(other_name_, i);
        const NotMatched why = other ? NotMatched::kOtherName : why_[launch];
        Add(result_.not_matched[static_cast<size_t>(why)], time);
      } else {
        result_.ran_as[captured] = profile_.replayed[i].kernel;
        Add(result_.times[captured], time);
      }
    }
  }

  void AddRows(
      uint32_t captured, uint32_t size, const WorkTime& time,
      std::array<std::map<std::vector<std::string>, AttributedRow>, kAttributedTables>& tables) {
    const CapturedWork& of = profile_.captured[captured];
    const ProfilePlace& place = profile_.places[of.place];
    const auto text = [&](StringId id) { return std::string(profile_[id]); };
    if (place.line.valid()) Add(result_.with_line, time);
    if (place.module.valid()) Add(result_.with_module, time);
    const std::vector<std::string> keys[kAttributedTables] = {
        {WithoutNumbers(profile_[place.module])},
        {text(place.line)},
        {text(place.op), text(place.shapes)},
        {text(place.collective)},
        {text(result_.ran_as[captured])},
        {text(place.module), text(place.line), text(place.op), text(place.shapes),
         text(place.collective), text(result_.ran_as[captured])}};
    for (size_t i = 0; i < kAttributedTables; ++i) {
      if (i == static_cast<size_t>(AttributedTable::kCollective) && keys[i].front().empty())
        continue;
      AttributedRow& row = tables[i][keys[i]];
      const bool is_new = row.by_size.empty();
      row.key = keys[i];
      row.by_size.resize(result_.sizes.size());
      Add(row.by_size[size], time);
      Add(row.total, time);
      const bool known = of.bytes.has_value() && (is_new || row.bytes.has_value());
      row.bytes = known ? std::optional(row.bytes.value_or(0) + *of.bytes) : std::nullopt;
    }
  }

  const Profile& profile_;
  KernelNames names_;
  Sequences sequences_;
  Attribution result_;
  std::vector<std::vector<uint32_t>> graphs_of_;          // by size, in the order of their captures
  std::vector<uint32_t> graph_of_;                        // by launch
  std::vector<NotMatched> why_;                           // by launch
  std::vector<bool> by_id_;                               // by launch
  std::vector<uint32_t> other_name_;                      // replayed work
  std::map<uint32_t, std::vector<uint32_t>> candidates_;  // by class of a launch
  std::map<uint32_t, std::vector<OrderedLaunch>> by_order_;  // by size
};

}  // namespace

WorkTime Attribution::all() const {
  WorkTime sum;
  for (const WorkTime& time : matched) Add(sum, time);
  return sum;
}

Attribution Attribute(const Profile& profile) { return Attributor(profile).Run(); }

}  // namespace graphkit
