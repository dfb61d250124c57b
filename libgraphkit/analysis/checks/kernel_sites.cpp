// Checks that compare launches of kernels in graphs with those of the same lines outside of them.
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
      if (launches.all() < 2 || launches.nodes.empty() || !launches.captured_known) continue;
      const size_t before = all.size();
      Judge(site.kernel, launches);
      for (const NodeId node : launches.nodes) ++shares[facts.RootOf(node)][all.size() != before];
    }
    std::vector<Finding> findings;
    for (const Frozen& frozen : all) {
      if ((frozen.number.first == Scalar::kGrid) == grids && !Resized(frozen))
        findings.push_back(Describe(frozen));
    }
    KeepOneNote("place", &findings);
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
    const auto launches_of = [&](NodeId node) {
      return facts.launches()[facts.RootOf(node).index()].size();
    };
    const NodeId shown = *std::ranges::max_element(site.nodes, {}, launches_of);
    Finding finding{.graph = facts.RootOf(shown)};
    for (const NodeId node : site.nodes) {
      if (facts.RootOf(node) == finding.graph) finding.nodes.push_back(node);
    }
    constexpr size_t kSure = 3;
    const bool sure = site.outside.at(frozen.number).size() >= kSure && launches_of(shown) > 1;
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
  const Ran& trace = facts.trace;
  // Nodes whose sites were launched outside of captures, with the same numbers and with others.
  std::map<GraphId, std::array<size_t, 2>> shares = {};
  std::vector<Frozen> all = {};
};

// capture-differs-from-warmup: a function that ran several times before its capture, and of which
// the capture has other launches.
//
//     warm-up 1   warm-up 2   warm-up 3   capture
//     Split       Split       Split       Split       as often in each: three warm-ups
//     Combine     Combine     Combine                 each launched it, the capture didn't
//                                         Init        none did, and the capture does

// Launches at one site, seen from one capture.
struct Seen {
  KernelId kernel;
  const SiteLaunches* all = nullptr;
  StackId stack;
  uint64_t before = 0;        // launches before the capture
  std::vector<NodeId> nodes;  // of the capture
};

// The launches of a function, of all that the warm-ups ran and the capture too: frames of both are
// in it, at one line, and the graph isn't launched in it: it captures then, and isn't captured.
// What isn't the same belongs to the innermost such function.
struct KernelRuns {
  std::vector<const Seen*> shared;
  std::vector<const Seen*> missed;  // before the capture alone
  std::vector<const Seen*> added;   // in the capture alone
};
using Function = std::pair<StringId, StringId>;  // its name and its file

struct DifferenceFinder {
  std::vector<Finding> FindAll() {
    for (const Capture& capture : trace.captures) {
      if (capture.status == CaptureStatus::kCompleted) JudgeCapture(capture);
    }
    return std::move(findings);
  }

  std::vector<Seen> SeenFrom(const Capture& capture) const {
    std::vector<Seen> seen;
    for (const auto& [site, launches] : facts.kernel_sites()) {
      if (unplaced[site.kernel.index()]) continue;
      Seen here{
          site.kernel, &launches, launches.stack, launches.Before(capture.begin).launches, {}};
      const auto place = [&](NodeId node) { return trace[node].seq; };
      auto node = std::ranges::lower_bound(launches.nodes, capture.begin, {}, place);
      for (; node != launches.nodes.end() && place(*node) < capture.end; ++node)
        if (trace[*node].graph == capture.graph) here.nodes.push_back(*node);
      if (!here.nodes.empty()) here.stack = trace[here.nodes[0]].stack;
      if (here.before != 0 || !here.nodes.empty()) seen.push_back(std::move(here));
    }
    return seen;
  }

  void JudgeCapture(const Capture& capture) {
    const std::vector<Seen> all = SeenFrom(capture);
    std::map<Function, KernelRuns> functions;
    for (const Seen& seen : all) {
      if (seen.before == 0 || seen.nodes.empty()) continue;
      const std::span<const StackFrame> outside = StackFrames(trace, seen.all->stack);
      for (const StackFrame& frame : RanAnew(StackFrames(trace, seen.stack), outside)) {
        if (IsLibraryFrame(trace[frame.function], trace[frame.file])) continue;
        if (std::ranges::find(outside, frame) == outside.end()) continue;
        AddOnce(&seen, &functions[{frame.function, frame.file}].shared);
      }
    }
    const auto& launches = facts.launches()[capture.graph.index()];
    if (!launches.empty()) {
      for (const StackFrame& frame : StackFrames(trace, trace.launches[launches[0]].stack))
        functions.erase({frame.function, frame.file});
    }
    for (const Seen& seen : all) {
      if (seen.before != 0 && !seen.nodes.empty()) continue;
      for (const StackFrame& frame : StackFrames(trace, seen.stack)) {
        const auto function = functions.find({frame.function, frame.file});
        if (function == functions.end()) continue;
        (seen.before != 0 ? function->second.missed : function->second.added).push_back(&seen);
        break;
      }
    }
    for (const auto& [function, launched] : functions) Judge(capture, function, launched);
  }

  // The frames that both may have of their own. Outside of the one whose lines differ, a function
  // ran once: it holds the warm-ups and the capture.
  static std::span<const StackFrame> RanAnew(std::span<const StackFrame> captured,
                                             std::span<const StackFrame> outside) {
    const auto [end, other] =
        std::mismatch(captured.rbegin(), captured.rend(), outside.rbegin(), outside.rend());
    const auto both = static_cast<size_t>(end - captured.rbegin());
    return both == captured.size() ? captured : captured.first(captured.size() - both);
  }

  // How often the function ran before the capture, if all that both launch agrees on it.
  static uint64_t WarmupsOf(const KernelRuns& launched) {
    constexpr uint64_t kFewest = 2;
    uint64_t warmups = 0;
    for (const Seen* seen : launched.shared) {
      const size_t nodes = seen->nodes.size();
      const uint64_t here = seen->before % nodes == 0 ? seen->before / nodes : 0;
      if (here < kFewest || (warmups != 0 && here != warmups)) return 0;
      warmups = here;
    }
    return warmups;
  }

  // True if its launches lie among those of the warm-ups, and not before or after all of them: at
  // each capture until then, it had run as often as they.
  bool Among(const Seen& missed, const Seen& shared, const Capture& capture,
             uint64_t warmups) const {
    const SiteLaunches &launches = *missed.all, &warmup = *shared.all;
    if (launches.thread != warmup.thread || launches.first >= warmup.Before(capture.begin).last ||
        launches.Before(capture.begin).last <= warmup.first)
      return false;
    return std::ranges::all_of(trace.captures, [&](const Capture& other) {
      const uint64_t runs = launches.Before(other.begin).launches * warmups / missed.before;
      const uint64_t all = warmup.Before(other.begin).launches * warmups / shared.before;
      return runs >= warmups || (runs <= all + 1 && all <= runs + 1);
    });
  }

  void Judge(const Capture& capture, const Function& function, const KernelRuns& launched) {
    const uint64_t warmups = WarmupsOf(launched);
    if (warmups == 0) return;
    // Launched during the capture, and not captured: that is for escaped-work.
    const auto beside = std::ranges::upper_bound(trace.works, capture.begin, {}, &EagerWork::seq);
    const auto end = std::ranges::lower_bound(trace.works, capture.end, {}, &EagerWork::seq);
    Finding finding{.graph = capture.graph};
    std::vector<std::string> missed, added;
    for (const Seen* seen : launched.missed) {
      const auto among = [&](const Seen* shared) {
        return Among(*seen, *shared, capture, warmups);
      };
      if (seen->before % warmups == 0 && std::ranges::all_of(launched.shared, among) &&
          std::ranges::find(beside, end, seen->kernel, &EagerWork::kernel) == end)
        Add(*seen, "each warm-up launched ", &finding, &missed);
    }
    for (const Seen* seen : launched.added)
      Add(*seen, "only the capture launched ", &finding, &added);
    if (finding.evidence.empty()) return;
    const std::string both = missed.empty() || added.empty() ? "" : ", and ";
    finding.message = "the capture of " + NameOf(trace, capture.graph) + " ran " +
                      std::string(trace[function.first]) + " differently from " +
                      std::to_string(warmups) + " warm-ups: it " +
                      (missed.empty() ? "" : "doesn't launch " + ListOf(missed)) + both +
                      (added.empty() ? "" : "alone launches " + ListOf(added));
    finding.advice =
        "let the capture take the branch that launches are to take, and initialise once before it";
    findings.push_back(std::move(finding));
  }

  void Add(const Seen& seen, const std::string& begin, Finding* finding,
           std::vector<std::string>* kernels) const {
    const std::string name = NameOf(trace, seen.kernel);
    AddOnce(name, kernels);
    finding->nodes.insert(finding->nodes.end(), seen.nodes.begin(), seen.nodes.end());
    finding->evidence.push_back({.text = begin + name, .nodes = seen.nodes, .stack = seen.stack});
  }

  // By kernel: some launches outside of captures came from places that aren't known.
  std::vector<bool> FindUnplaced() const {
    std::vector<bool> kernels(trace.kernels.size());
    for (const EagerSite& row : trace.eager_sites)
      if (row.kernel && !row.stack) kernels[row.kernel.index()] = true;
    return kernels;
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  const std::vector<bool> unplaced = FindUnplaced();
  std::vector<Finding> findings = {};
};

}  // namespace

// frozen-argument and frozen-grid: what a line passed differently from step to step while it ran
// outside of graphs, and passes once and for all in a graph.
std::vector<Finding> FindFrozenArguments(const Facts& facts) {
  return FrozenFinder{facts}.Find(false);
}
std::vector<Finding> FindFrozenGrids(const Facts& facts) { return FrozenFinder{facts}.Find(true); }

std::vector<Finding> FindCapturesUnlikeWarmups(const Facts& facts) {
  return DifferenceFinder{facts}.FindAll();
}

}  // namespace graphkit
