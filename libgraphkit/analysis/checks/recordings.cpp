// Checks of graphs that were captured again by the same code.
//
//     serve.py:20   graph 0: Scale(x at 0x1000)      graph 1: Scale(x at 0x2000)
//                            └ recorded again for the address alone: a copy of x would do
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Causes of a recording although one of the same code was there.
enum class Moved : uint8_t { kAddress, kLayout, kSize, kOther };

// An input, where a node accesses it.
struct InputUse {
  BlockId block;
  Address place = 0;
};

struct Recording {
  GraphId graph;
  Seq ended = 0;  // its capture
  std::vector<InputUse> uses = {};
  uint64_t form = 0, sizes = 0, values = 0;  // hashes: accesses of inputs; extents; arguments
  Moved Since(const Recording& old) const {
    if (form != old.form || uses.size() != old.uses.size()) return Moved::kOther;
    if (sizes != old.sizes) return Moved::kSize;
    return values != old.values ? Moved::kLayout : Moved::kAddress;
  }
};

struct MovedInput {
  size_t use = 0;
  BlockId from, to;
};

// Graphs of the same code, in the order of their captures.
struct Recordings {
  std::vector<Recording> all = {};
  std::vector<std::vector<MovedInput>> saved = {};  // of those that a copy would have saved
  size_t repeated = 0;                              // of these, with the addresses of another one
  std::map<std::pair<Moved, std::string>, size_t> others = {};  // by what moved, and of which line
};

class RecordingFinder {
 public:
  explicit RecordingFinder(const Facts& facts)
      : facts_(facts),
        trace_(facts.trace),
        nodes_(
            Group(trace_.nodes, trace_.graphs.size(), [](const Node& node) { return node.graph; })),
        gone_(trace_.graphs.size()) {
    for (const Exec& exec : trace_.execs) {
      if (!exec.graph.valid()) continue;
      Seq& gone = gone_[exec.graph.index()];
      gone = std::max(gone, exec.destroyed);
    }
  }

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
  Recording Read(const Capture& capture) const {
    Recording recording{.graph = capture.graph, .ended = capture.end};
    for (const uint32_t id : nodes_.Of(capture.graph.index())) {
      const Node node = trace_.nodes[id];
      recording.sizes = HashOf(recording.sizes, uint64_t{node.shape});
      for (const Scalar& scalar : RowsAt(trace_.scalars, node.seq))
        recording.values = HashOf(recording.values, scalar.argument, scalar.offset, scalar.bits);
      for (uint32_t k = 0; k < node.accesses.count; ++k) {
        const Access access = trace_.accesses[node.accesses.first + k];
        const bool input = IsInput(capture.graph, access.block);
        recording.form = HashOf(recording.form, id - nodes_.Of(capture.graph.index())[0], input);
        if (!input) continue;
        const Block block = trace_[access.block];
        recording.sizes = HashOf(recording.sizes, access.length, block.size);
        recording.uses.push_back({access.block, block.address + access.offset});
      }
    }
    return recording;
  }

  // Of a trial, as a server makes to measure its memory: destroyed before it was ever launched.
  bool WasTrial(const Recording& old, const Capture& capture) const {
    return gone_[old.graph.index()] < capture.begin && facts_.launches()[old.graph.index()].empty();
  }

  // Looks for a recording that `capture` could have done without, the last ones first.
  void Add(const Capture& capture, Recordings* same) const {
    constexpr size_t kMostTried = 1000;
    Recording now = Read(capture);
    const Recording* alike = nullptr;  // the last one of the same sizes and arguments
    bool served = false;
    for (size_t i = same->all.size(); !served && i-- > 0 && same->all.size() - i <= kMostTried;) {
      const Recording& old = same->all[i];
      if (now.Since(old) != Moved::kAddress || WasTrial(old, capture)) continue;
      const auto moved = MovedBetween(old, now, &capture);
      served = moved.has_value();
      const bool repeats = served && moved->empty() && alike != nullptr;
      if (repeats) ++same->repeated;
      if (alike == nullptr) alike = &old;
      if (served && (repeats || !moved->empty()))
        same->saved.push_back(repeats ? *MovedBetween(*alike, now, nullptr) : *moved);
    }
    if (!served && !same->all.empty()) AddCause(alike ? *alike : same->all.back(), now, same);
    same->all.push_back(std::move(now));
  }

  void AddCause(const Recording& old, const Recording& now, Recordings* same) const {
    const Moved cause = now.Since(old);
    if (cause == Moved::kOther) return;
    const auto moved = *MovedBetween(old, now, nullptr);
    ++same->others[{cause, moved.empty() ? "" : LineOf(moved[0].to)}];
  }

  // With a capture, nothing where both are there side by side, as the weights of two layers are.
  std::optional<std::vector<MovedInput>> MovedBetween(const Recording& old, const Recording& now,
                                                      const Capture* capture) const {
    std::vector<MovedInput> moved;
    for (size_t i = 0; i < std::min(old.uses.size(), now.uses.size()); ++i) {
      const BlockId from = old.uses[i].block, to = now.uses[i].block;
      if (old.uses[i].place == now.uses[i].place) continue;
      if (capture != nullptr && trace_[to].allocated <= old.ended &&
          trace_[from].free_requested >= capture->begin) {
        return std::nullopt;
      }
      const bool is_new = std::ranges::none_of(
          moved, [&](const MovedInput& one) { return one.from == from && one.to == to; });
      if (is_new) moved.push_back({i, from, to});
    }
    return moved;
  }

  bool IsInput(GraphId graph, BlockId block) const {
    return std::ranges::binary_search(facts_.inputs()[graph.index()], block, {},
                                      &GraphInput::block);
  }

  std::string LineOf(BlockId block) const { return OwnPlace(trace_, trace_[block].stack); }

  Finding Describe(const Recordings& of, size_t nodes) const {
    constexpr size_t kOften = 4;
    const size_t saved = of.saved.size();
    Finding finding{
        .severity = saved >= kOften + of.repeated ? Severity::kWarning : Severity::kNote,
        .graph = of.all[0].graph};
    Bytes copied = 0;
    for (const std::vector<MovedInput>& moved : of.saved) {
      Bytes bytes = 0;
      for (const MovedInput& one : moved) {
        bytes += trace_[one.to].size;
        AddOnce(one.from, &finding.blocks);
        AddOnce(one.to, &finding.blocks);
      }
      copied = std::max(copied, bytes);
    }
    finding.message =
        Say(trace_,
            "{} of {} of the same code ({}, {} first) {} made only because an input "
            "had another address; copying {} before a launch would have saved {}",
            saved, Count(of.all.size(), "recording"), Count(nodes, "node"), finding.graph,
            Was(saved), FormatBytes(copied), saved == 1 ? "it" : "them");
    finding.advice =
        "keep one buffer for the input, and copy each new value into it before the launch";
    for (const MovedInput& one : of.saved.front()) {
      if (finding.evidence.size() >= kShownEvidence) break;
      std::set<Address> places;
      for (const Recording& other : of.all) {
        if (one.use >= other.uses.size()) continue;
        const InputUse& use = other.uses[one.use];
        if (trace_[use.block].size == trace_[one.to].size) places.insert(use.place);
      }
      AddEvidence(&finding,
                  Say(trace_, "{} stands where {} was (one of {} addresses)",
                      NameOf(trace_, one.to), NameOf(trace_, one.from), places.size()),
                  trace_[one.to].stack, {}, {one.to});
    }
    if (of.repeated != 0) {
      AddEvidence(&finding,
                  Count(of.repeated, "recording") +
                      " had the addresses of an earlier one, whose graph would have done");
    }
    for (const auto& [key, count] : of.others) {
      constexpr const char* kWords[] = {"at another address beside the first",
                                        "with other arguments (layout, values)", "of another size"};
      AddEvidence(&finding, Count(count, "recording") + " had an input " +
                                kWords[static_cast<size_t>(key.first)] +
                                (key.second.empty() ? "" : ", allocated at " + key.second));
    }
    return finding;
  }

  const Facts& facts_;
  const Trace& trace_;
  Grouped nodes_;
  std::vector<Seq> gone_;  // by graph, when the last of its execs was destroyed
};

}  // namespace

// recorded-again: captures of the same code that a copy of an input would have saved.
std::vector<Finding> FindRecordedAgain(const Facts& facts) {
  if (facts.trace.captures.size() < 2) return {};
  return RecordingFinder(facts).Find();
}

}  // namespace graphkit
