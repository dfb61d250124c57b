// Checks of graphs that were captured again by the same code.
//
//     serve.py:20   graph 0: Scale(x at 0x1000)      graph 1: Scale(x at 0x2000)
//                            └ recorded again for the address alone: a copy of x would do
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Why a graph was recorded although one of the same code was there.
enum class Moved : uint8_t { kNothing, kAddress, kLayout, kSize, kOther };

struct MovedInputs {
  Moved what = Moved::kNothing;
  std::vector<std::pair<BlockId, BlockId>> inputs = {};  // of the earlier graph, of this one
};

// Graphs of the same code, in the order of their captures.
struct Recordings {
  std::vector<GraphId> graphs = {};
  Seq ended = 0;                                                // the last one's capture
  std::vector<MovedInputs> saved = {};                          // that a copy would have saved
  std::map<std::pair<Moved, std::string>, size_t> others = {};  // by what moved, and of which line
};

class RecordingFinder {
 public:
  explicit RecordingFinder(const Facts& facts)
      : facts_(facts),
        trace_(facts.trace),
        nodes_(Group(trace_.nodes, trace_.graphs.size(),
                     [](const Node& node) { return node.graph; })) {}

  std::vector<Finding> Find() {
    using Code = std::pair<std::string, std::vector<uint64_t>>;  // a line, and what it launches
    std::map<Code, Recordings> by_code;
    for (const Capture& capture : trace_.captures) {
      const bool whole = capture.status == CaptureStatus::kCompleted && !capture.recapture;
      if (!whole || !capture.graph.valid() || nodes_.Of(capture.graph.index()).empty()) continue;
      Code code;
      for (const uint32_t id : nodes_.Of(capture.graph.index())) {
        const Node node = trace_.nodes[id];
        if (code.first.empty()) code.first = OwnPlace(trace_, node.stack);
        code.second.push_back(uint64_t{node.kernel.value} << 8 | static_cast<uint64_t>(node.kind));
      }
      Add(capture, &by_code[code]);
    }
    std::vector<Finding> findings;
    for (const auto& [code, recordings] : by_code)
      if (!recordings.saved.empty()) findings.push_back(Describe(recordings, code.second.size()));
    std::ranges::stable_sort(findings, {}, &Finding::graph);
    return findings;
  }

 private:
  void Add(const Capture& capture, Recordings* same) {
    const GraphId now = capture.graph;
    if (!same->graphs.empty()) {
      MovedInputs found = Compare(same->graphs.back(), now);
      const bool copies = found.what == Moved::kAddress || found.what == Moved::kLayout;
      const auto replaced = [&](const auto& moved) {
        return Replaced(same->ended, capture, trace_[moved.first], trace_[moved.second]);
      };
      if (found.what == Moved::kAddress && std::ranges::all_of(found.inputs, replaced)) {
        same->saved.push_back(std::move(found));
      } else if (copies || found.what == Moved::kSize) {
        const std::string line = found.inputs.empty() ? "" : LineOf(found.inputs[0].second);
        ++same->others[{found.what, line}];
      }
    }
    same->graphs.push_back(now);
    same->ended = capture.end;
  }

  // False: both are there side by side, as the weights of two layers are.
  static bool Replaced(Seq ended, const Capture& capture, const Block& old, const Block& now) {
    return now.allocated > ended || old.free_requested < capture.begin;
  }

  MovedInputs Compare(GraphId before, GraphId now) const {
    MovedInputs found;
    const auto old = nodes_.Of(before.index()), own = nodes_.Of(now.index());
    const auto raise = [&](Moved what) { found.what = std::max(found.what, what); };
    for (size_t i = 0; i < own.size(); ++i) {
      const Node a = trace_.nodes[old[i]], b = trace_.nodes[own[i]];
      if (a.shape != b.shape) raise(Moved::kSize);
      const auto scalars = RowsAt(trace_.scalars, a.seq), others = RowsAt(trace_.scalars, b.seq);
      const auto alike = [](const Scalar& x, const Scalar& y) {
        return x.argument == y.argument && x.offset == y.offset && x.bits == y.bits;
      };
      if (!std::ranges::equal(scalars, others, alike)) raise(Moved::kLayout);
      if (a.accesses.count != b.accesses.count) raise(Moved::kOther);
      for (uint32_t k = 0; k < std::min(a.accesses.count, b.accesses.count); ++k) {
        const Access x = trace_.accesses[a.accesses.first + k];
        const Access y = trace_.accesses[b.accesses.first + k];
        const bool input = IsInput(before, x.block), now_input = IsInput(now, y.block);
        if (input != now_input) raise(Moved::kOther);
        if (!input || !now_input) continue;
        const Block from = trace_[x.block], to = trace_[y.block];
        if (x.length != y.length || from.size != to.size) raise(Moved::kSize);
        if (from.address + x.offset == to.address + y.offset && from.size == to.size) continue;
        raise(Moved::kAddress);
        AddOnce(std::pair(x.block, y.block), &found.inputs);
      }
    }
    return found;
  }

  bool IsInput(GraphId graph, BlockId block) const {
    return std::ranges::binary_search(facts_.inputs()[graph.index()], block, {},
                                      &GraphInput::block);
  }

  std::string LineOf(BlockId block) const { return OwnPlace(trace_, trace_[block].stack); }

  Finding Describe(const Recordings& of, size_t nodes) const {
    constexpr size_t kOften = 4;
    const size_t saved = of.saved.size();
    Finding finding{.severity = saved >= kOften ? Severity::kWarning : Severity::kNote,
                    .graph = of.graphs.front()};
    Bytes copied = 0;
    for (const MovedInputs& one : of.saved) {
      Bytes bytes = 0;
      for (const auto& [from, to] : one.inputs) {
        bytes += trace_[to].size;
        AddOnce(from, &finding.blocks);
        AddOnce(to, &finding.blocks);
      }
      copied = std::max(copied, bytes);
    }
    finding.message =
        Say(trace_,
            "{} of {} of the same code ({}, {} first) {} made only because an input "
            "had another address; copying {} before a launch would have saved {}",
            saved, Count(of.graphs.size(), "recording"), Count(nodes, "node"), finding.graph,
            Was(saved), FormatBytes(copied), saved == 1 ? "it" : "them");
    finding.advice =
        "keep one buffer for the input, and copy each new value into it before the launch";
    for (const auto& [from, to] : of.saved.front().inputs) {
      if (finding.evidence.size() >= kShownEvidence) break;
      AddEvidence(&finding, NameOf(trace_, to) + " stands where " + NameOf(trace_, from) + " was",
                  trace_[to].stack, {}, {to});
    }
    for (const auto& [key, count] : of.others) {
      constexpr const char* kWords[] = {"", "at another address beside the first",
                                        "with other arguments (layout, values)", "of another size",
                                        ""};
      AddEvidence(&finding, Count(count, "recording") + " had an input " +
                                kWords[static_cast<size_t>(key.first)] +
                                (key.second.empty() ? "" : ", allocated at " + key.second));
    }
    return finding;
  }

  const Facts& facts_;
  const Trace& trace_;
  Grouped nodes_;
};

}  // namespace

// recorded-again: captures of the same code that a copy of an input would have saved.
std::vector<Finding> FindRecordedAgain(const Facts& facts) {
  if (facts.trace.captures.size() < 2) return {};
  return RecordingFinder(facts).Find();
}

}  // namespace graphkit
