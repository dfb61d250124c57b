// frozen-argument and frozen-grid: what a line passed differently from step to step while it ran
// outside of graphs, and passes once and for all in a graph.
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/launches/launches.h"

namespace graphkit {
namespace {

// How the bits of a number are read: nothing in a trace says so.
struct Type {
  size_t size = 8;
  bool floating = false;

  double ValueOf(uint64_t bits) const {
    const auto low = static_cast<uint32_t>(bits);
    if (floating)
      return size == 8 ? std::bit_cast<double>(bits) : double{std::bit_cast<float>(low)};
    return static_cast<double>(size == 4 ? static_cast<int32_t>(low) : static_cast<int64_t>(bits));
  }
  std::string TextOf(uint64_t bits) const {
    char text[32];
    std::snprintf(text, sizeof text, floating ? "%.6g" : "%.0f", ValueOf(bits));
    return text;
  }
};

struct FrozenFinder {
  std::vector<Finding> Find(bool grids) {
    for (const auto& [site, launches] : facts.kernel_sites()) {
      if (launches.all() < 2 || launches.nodes.empty()) continue;
      const size_t before = all.size();
      Judge(site.kernel, launches);
      for (const NodeId node : launches.nodes) ++shares[facts.RootOf(node)][all.size() != before];
    }
    std::vector<Finding> findings;
    for (const Frozen& frozen : all) {
      if ((frozen.number.first == Scalar::kGrid) == grids && !Resized(frozen))
        findings.push_back(Describe(frozen));
    }
    return findings;
  }

  // A number with one value in all graphs, and others outside of them.
  struct Frozen {
    KernelId kernel;
    const SiteLaunches& launches;
    Numbers::key_type number;
  };
  // Where the grid varied, the arguments did with it.
  void Judge(KernelId kernel, const SiteLaunches& launches) {
    for (const bool grid : {true, false}) {
      bool varied = false;
      for (const auto& [number, values] : launches.outside) {
        if ((number.first == Scalar::kGrid) != grid || values.size() < 2) continue;
        const auto captured = launches.captured.find(number);
        const bool frozen = captured != launches.captured.end() && captured->second.size() == 1;
        if (frozen && !(grid && varied)) all.push_back({kernel, launches, number});
        varied = true;
      }
      if (varied) return;
    }
  }

  // Most of what is known of the graph varied: steps of another size ran outside of it.
  bool Resized(const Frozen& frozen) {
    const auto [same, varied] = shares[facts.RootOf(frozen.launches.nodes.front())];
    return varied > same;
  }

  Finding Describe(const Frozen& frozen) const {
    const SiteLaunches& site = frozen.launches;
    Finding finding{.graph = facts.RootOf(site.nodes.front())};
    size_t launches = 0;
    for (const NodeId node : site.nodes) {
      if (facts.RootOf(node) == finding.graph) finding.nodes.push_back(node);
      launches = std::max(launches, facts.launches()[facts.RootOf(node).index()].size());
    }
    constexpr size_t kSure = 3;
    const bool sure = site.outside.at(frozen.number).size() >= kSure && launches > 1;
    finding.severity = sure ? Severity::kWarning : Severity::kNote;
    finding.message = NameOf(trace, finding.graph) + " always " + WhatOf(frozen) + " in " +
                      std::to_string(site.all()) + " launches outside of graphs";
    finding.advice =
        frozen.number.first == Scalar::kGrid
            ? "capture with the largest grid that a launch may need, and let the kernel return "
              "early; or capture a graph for each size"
            : "keep the value in device memory and write it there before each launch; or set it in "
              "the exec (cudaGraphExecKernelNodeSetParams), or capture again when it changes";
    finding.evidence = {CapturedThere(trace, site.nodes.front()),
                        {.text = NameOf(trace, frozen.kernel) + " was launched outside of graphs",
                         .stack = site.stack}};
    return finding;
  }

  // "passes 1 as argument 2 (32-bit integer) of Mask; the same line passed 4 and 8".
  std::string WhatOf(const Frozen& frozen) const {
    const auto [argument, offset] = frozen.number;
    const std::string name = NameOf(trace, frozen.kernel);
    std::vector<uint64_t> values = frozen.launches.outside.at(frozen.number);
    const uint64_t captured = frozen.launches.captured.at(frozen.number).front();
    const bool grid = argument == Scalar::kGrid;
    const Type type = grid ? Type() : TypeOf(frozen, values, captured);
    std::ranges::sort(values, {}, [&](uint64_t bits) { return type.ValueOf(bits); });
    if (grid) {
      return "launches " + name + " with a grid of " + type.TextOf(captured) + " in " +
             "xyz"[offset] + "; the same line launched it with " + ValuesText(values, type);
    }
    return "passes " + type.TextOf(captured) + " as argument " + std::to_string(argument) +
           (offset == 0 ? "" : " at byte " + std::to_string(offset)) + " (" +
           std::to_string(type.size * 8) + "-bit " + (type.floating ? "float" : "integer") +
           ") of " + name + "; the same line passed " + ValuesText(values, type);
  }

  // By its size; of a structure, that of its pieces. Numbers that would be huge integers and are
  // ordinary fractions are taken for these.
  Type TypeOf(const Frozen& frozen, std::vector<uint64_t> values, uint64_t captured) const {
    const Slice params = trace[frozen.kernel].params;
    const uint16_t argument = frozen.number.first;
    const size_t size =
        argument < params.count ? trace.kernel_params[params.first + argument].size : 0;
    Type type{std::has_single_bit(size) && size <= 8 ? size : 4, true};
    values.push_back(captured);
    type.floating = type.size >= 4 && std::ranges::all_of(values, [&](uint64_t bits) {
                      const double value = std::abs(type.ValueOf(bits));
                      return bits == 0 || (value > 1e-12 && value < 1e12);
                    });
    return type;
  }

  // "1, 2 and 3"; of many the least and the greatest.
  static std::string ValuesText(const std::vector<uint64_t>& values, Type type) {
    if (values.size() >= EagerSite::kMostSeen)
      return "values from " + type.TextOf(values.front()) + " to " + type.TextOf(values.back());
    std::vector<std::string> texts;
    for (const uint64_t value : values) texts.push_back(type.TextOf(value));
    return ListOf(texts);
  }

  const Facts& facts;
  const Trace& trace = facts.trace;
  // Nodes whose sites were launched outside of captures, with the same numbers and with others.
  std::map<GraphId, std::array<size_t, 2>> shares = {};
  std::vector<Frozen> all = {};
};

}  // namespace

std::vector<Finding> FindFrozenArguments(const Facts& facts) {
  return FrozenFinder{facts}.Find(false);
}
std::vector<Finding> FindFrozenGrids(const Facts& facts) { return FrozenFinder{facts}.Find(true); }

}  // namespace graphkit
