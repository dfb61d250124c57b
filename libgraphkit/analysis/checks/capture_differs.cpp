// capture-differs-from-warmup: a function that ran several times before its capture, and of which
// the capture has other launches.
//
//     warm-up 1   warm-up 2   warm-up 3   capture
//     Split       Split       Split       Split       as often in each: three warm-ups
//     Combine     Combine     Combine                 each launched it, the capture didn't
//                                         Init        none did, and the capture does
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/launches/launches.h"

namespace graphkit {
namespace {

// Launches at one site, seen from one capture.
struct Seen {
  KernelId kernel;
  const SiteLaunches* all = nullptr;
  StackId stack;
  uint64_t before = 0;        // launches before the capture
  std::vector<NodeId> nodes;  // of the capture
};

// The launches of a function, of all that the warm-ups ran and the capture too: frames of both are
// in it, at one line. What isn't the same belongs to the innermost such function.
struct KernelRuns {
  std::vector<const Seen*> shared;
  std::vector<const Seen*> missed;  // before the capture alone
  std::vector<const Seen*> added;   // in the capture alone
};
using Function = std::pair<StringId, StringId>;  // its name and its file

class DifferenceFinder {
 public:
  explicit DifferenceFinder(const Facts& facts)
      : trace_(facts.trace), sites_(facts.kernel_sites()) {}

  std::vector<Finding> FindAll() {
    for (const Capture& capture : trace_.captures) {
      if (capture.status == CaptureStatus::kCompleted) JudgeCapture(capture);
    }
    return std::move(findings_);
  }

 private:
  std::vector<Seen> SeenFrom(const Capture& capture) const {
    std::vector<Seen> seen;
    for (const auto& [site, launches] : sites_) {
      Seen here{site.kernel, &launches, launches.stack, launches.Before(capture.begin), {}};
      const auto place = [&](NodeId node) { return trace_[node].seq; };
      auto node = std::ranges::lower_bound(launches.nodes, capture.begin, {}, place);
      for (; node != launches.nodes.end() && place(*node) < capture.end; ++node)
        if (trace_[*node].graph == capture.graph) here.nodes.push_back(*node);
      if (!here.nodes.empty()) here.stack = trace_[here.nodes[0]].stack;
      if (here.before != 0 || !here.nodes.empty()) seen.push_back(std::move(here));
    }
    return seen;
  }

  void JudgeCapture(const Capture& capture) {
    const std::vector<Seen> all = SeenFrom(capture);
    std::map<Function, KernelRuns> functions;
    for (const Seen& seen : all) {
      if (seen.before == 0 || seen.nodes.empty()) continue;
      const std::span<const StackFrame> outside = StackFrames(trace_, seen.all->stack);
      for (const StackFrame& frame : StackFrames(trace_, seen.stack)) {
        if (IsLibraryFrame(trace_[frame.function], trace_[frame.file])) continue;
        if (std::ranges::find(outside, frame) == outside.end()) continue;
        AddOnce(&seen, &functions[{frame.function, frame.file}].shared);
      }
    }
    for (const Seen& seen : all) {
      if (seen.before != 0 && !seen.nodes.empty()) continue;
      for (const StackFrame& frame : StackFrames(trace_, seen.stack)) {
        const auto function = functions.find({frame.function, frame.file});
        if (function == functions.end()) continue;
        (seen.before != 0 ? function->second.missed : function->second.added).push_back(&seen);
        break;
      }
    }
    for (const auto& [function, launched] : functions) Judge(capture, function, launched);
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
  bool Among(const Seen& missed, const Seen& shared, uint64_t warmups) const {
    const SiteLaunches &launches = *missed.all, &warmup = *shared.all;
    if (launches.thread != warmup.thread || launches.first >= warmup.last ||
        launches.last <= warmup.first)
      return false;
    return std::ranges::all_of(trace_.captures, [&](const Capture& other) {
      const uint64_t runs = launches.Before(other.begin) * warmups / missed.before;
      const uint64_t all = warmup.Before(other.begin) * warmups / shared.before;
      return runs >= warmups || (runs <= all + 1 && all <= runs + 1);
    });
  }

  void Judge(const Capture& capture, const Function& function, const KernelRuns& launched) {
    const uint64_t warmups = WarmupsOf(launched);
    if (warmups == 0) return;
    Finding finding{.graph = capture.graph};
    std::vector<std::string> missed, added;
    for (const Seen* seen : launched.missed) {
      const auto among = [&](const Seen* shared) { return Among(*seen, *shared, warmups); };
      if (seen->before % warmups == 0 && std::ranges::all_of(launched.shared, among))
        Add(*seen, "each warm-up launched ", &finding, &missed);
    }
    for (const Seen* seen : launched.added)
      Add(*seen, "only the capture launched ", &finding, &added);
    if (finding.evidence.empty()) return;
    const std::string both = missed.empty() || added.empty() ? "" : ", and ";
    finding.message = "the capture of " + NameOf(trace_, capture.graph) + " ran " +
                      std::string(trace_[function.first]) + " differently from " +
                      std::to_string(warmups) + " warm-ups: it " +
                      (missed.empty() ? "" : "doesn't launch " + ListOf(missed)) + both +
                      (added.empty() ? "" : "alone launches " + ListOf(added));
    finding.advice =
        "let the capture take the branch that launches are to take, and initialise once before it";
    findings_.push_back(std::move(finding));
  }

  void Add(const Seen& seen, const std::string& begin, Finding* finding,
           std::vector<std::string>* kernels) const {
    const std::string name = NameOf(trace_, seen.kernel);
    AddOnce(name, kernels);
    finding->nodes.insert(finding->nodes.end(), seen.nodes.begin(), seen.nodes.end());
    finding->evidence.push_back({.text = begin + name, .nodes = seen.nodes, .stack = seen.stack});
  }

  const Trace& trace_;
  const KernelSites& sites_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindCapturesUnlikeWarmups(const Facts& facts) {
  return DifferenceFinder(facts).FindAll();
}

}  // namespace graphkit
