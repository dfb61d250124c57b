// escaped-work: work that was submitted while a graph was captured, on a stream that wasn't, and
// that touches what the graph touches: it ran once, and runs in no launch.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/memory/touches_by_graph.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/access_overlap.h"

namespace graphkit {
namespace {

bool MayRead(AccessMode mode) { return mode != AccessMode::kWrite; }
bool MayWrite(AccessMode mode) { return mode != AccessMode::kRead; }
bool IsSure(AccessMode mode) { return mode != AccessMode::kUnknown; }

// True if an access writes all that another one may touch of the same block.
bool Overwrites(const Access& write, const Access& own, Bytes size) {
  const auto end = [&](const Access& access) {
    return access.offset + std::min(access.length, size - std::min(access.offset, size));
  };
  return write.mode == AccessMode::kWrite && write.rows == AccessRows() &&
         write.offset <= own.offset && end(write) >= end(own);
}

// Accesses of work and of a graph's node to one block; a launch has only the node.
struct Escape {
  enum What : uint8_t {
    kConsumes,  // the work reads what a node before it was to write
    kProduces,  // a node reads what the work wrote
    kTouches,   // which of both isn't known
  };
  What what = kTouches;
  Severity severity = Severity::kNote;
  NodeId node;
};

class EscapeFinder {
 public:
  explicit EscapeFinder(const Facts& facts) : facts_(facts), trace_(facts.trace) {}

  std::vector<Finding> FindEscaped() {
    for (const Capture& capture : trace_.captures) {
      if (capture.status != CaptureStatus::kCompleted || !capture.graph.valid()) continue;
      if (facts_.never_run()[capture.graph.index()]) continue;
      auto work = std::ranges::upper_bound(trace_.works, capture.begin, {}, &EagerWork::seq);
      for (; work != trace_.works.end() && work->seq < capture.end; ++work) Judge(capture, *work);
    }
    std::vector<Finding> findings;
    for (auto& [key, found] : found_) findings.push_back(Told(std::move(found)));
    return findings;
  }

 private:
  // All that work of one line and kernel did to a graph.
  struct Found {
    std::string work;
    size_t works = 0;
    Seq last = kNever;
    std::map<Escape::What, Finding> did;  // `message`: what it did to the first block
  };
  using Key = std::tuple<GraphId, NodeKind, KernelId, std::string>;

  static constexpr size_t kMostTouches = 100'000'000;  // that are looked at

  void Judge(const Capture& capture, const EagerWork& work) {
    for (const Access& access : trace_.accesses.Of(work.accesses)) {
      touches_ += touching_.Of(access.block, capture.graph).size();
      if (touches_ > kMostTouches) return;
      if (const auto escape = EscapeOf(capture, work, access)) Add(capture, work, access, *escape);
    }
  }

  // The worst of what the graph's nodes do to the block.
  std::optional<Escape> EscapeOf(const Capture& capture, const EagerWork& work, const Access& own) {
    const Block& block = trace_[own.block];
    const bool born = block.graph == capture.graph;
    const bool near = born || work.thread == capture.thread;
    std::optional<Escape> worst;
    const auto take = [&](Escape::What what, Severity severity, NodeId node) {
      if (!worst || severity > worst->severity) worst = Escape{what, severity, node};
    };
    bool first_after = true, overwritten = false, written = false;
    const auto look = [&](NodeId id, const Access& access) {
      if (Overlap(own, access) == Ternary::kNo) return;
      const bool before = trace_[id].seq < work.seq;
      const bool sure = IsSure(own.mode) && IsSure(access.mode);
      if (!before && std::exchange(first_after, false))
        overwritten = Overwrites(access, own, block.size);
      const bool both_unknown = !IsSure(own.mode) && !IsSure(access.mode);
      if (before && MayRead(own.mode) && MayWrite(access.mode)) {
        if (sure) take(Escape::kConsumes, Severity::kError, id);
        if (!sure && near && (born || !both_unknown))
          take(Escape::kConsumes, Severity::kWarning, id);
      }
      if (MayWrite(own.mode) && MayRead(access.mode) && !overwritten) {
        // A block filled from the host, or with one value, may be meant to be filled once.
        const bool sourced = HasSource(work, own.block);
        const bool once = !sourced && !written && !MayWrite(access.mode);
        const bool told = sure || (born && sourced);
        if (!once && told) take(Escape::kProduces, Severity::kWarning, id);
        if (!once && !told && near) take(Escape::kTouches, Severity::kNote, id);
      }
      written = written || (IsSure(access.mode) && MayWrite(access.mode));
    };
    for (const NodeId node : touching_.Of(own.block, capture.graph)) {
      for (const Access& access : trace_.accesses.Of(trace_[node].accesses)) {
        if (access.block == own.block) look(node, access);
      }
    }
    return worst;
  }

  // True if the work makes what it writes out of other memory of the device.
  bool HasSource(const EagerWork& work, BlockId written) const {
    const auto accesses = trace_.accesses.Of(work.accesses);
    return std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      const PoolId pool = trace_[access.block].pool;
      const bool host = pool.valid() && trace_[pool].kind == PoolKind::kHost;
      return !host && MayRead(access.mode) &&
             (access.block != written || access.mode == AccessMode::kReadWrite);
    });
  }

  void Add(const Capture& capture, const EagerWork& work, const Access& own, const Escape& escape) {
    const CallSite site = CallSiteOf(trace_, work.stack);
    Found& found = found_[{capture.graph, work.kind, work.kernel,
                           site.own ? PlaceOfFrame(trace_, *site.own) : std::string()}];
    if (std::exchange(found.last, work.seq) != work.seq) ++found.works;
    found.work = NameOf(trace_, work);
    const auto [place, fresh] = found.did.try_emplace(escape.what);
    Finding& finding = place->second;
    if (AddOnce(own.block, &finding.blocks)) finding.bytes += RoundedSize(trace_[own.block]);
    AddOnce(escape.node, &finding.nodes);
    if (!fresh && finding.severity >= escape.severity) return;
    finding.graph = capture.graph;
    finding.severity = escape.severity;
    finding.assumes = Assumption::kArguments;
    if (work.stream.valid()) finding.streams = {work.stream};
    finding.message = Verb(escape) + NameOf(trace_, own.block) + ", " + Relation(escape) +
                      NameOf(trace_, escape.node);
    const std::string stream =
        work.stream.valid() ? " on " + NameOf(trace_, work.stream) + ", which wasn't captured" : "";
    finding.evidence = {{.text = found.work + " was submitted in the capture of " +
                                 NameOf(trace_, capture.graph) + stream,
                         .blocks = {own.block},
                         .stack = work.stack},
                        CapturedThere(trace_, escape.node)};
  }

  static std::string Verb(const Escape& escape) {
    const bool sure = escape.severity == Severity::kError;
    switch (escape.what) {
      case Escape::kConsumes:
        return sure ? "read " : "may have read ";
      case Escape::kProduces:
        return escape.severity == Severity::kNote ? "may have written " : "wrote ";
      case Escape::kTouches:
        return "touched ";
    }
    return {};
  }

  static std::string Relation(const Escape& escape) {
    switch (escape.what) {
      case Escape::kConsumes:
        return "which had yet to be written by ";
      case Escape::kProduces:
        return "which every launch reads by ";
      case Escape::kTouches:
        return "as every launch does by ";
    }
    return {};
  }

  // The worst that it did, and what else as evidence.
  Finding Told(Found found) const {
    const auto worst = std::ranges::max_element(
        found.did, {}, [](const auto& did) { return did.second.severity; });
    Finding finding = worst->second;
    const std::string times = found.works > 1 ? " (" + Count(found.works, "time") + ")" : "";
    finding.message = found.work + times + " ran while " + NameOf(trace_, finding.graph) +
                      " was captured and isn't part of it: it " + finding.message;
    if (finding.blocks.size() > 1) {
      finding.message += "; the same of " + Count(finding.blocks.size() - 1, "more block");
    }
    for (const auto& [what, other] : found.did) {
      if (what == worst->first) continue;
      finding.evidence.push_back({.text = "it " + other.message,
                                  .nodes = other.nodes,
                                  .blocks = other.blocks,
                                  .stack = other.evidence.back().stack});
      for (const NodeId node : other.nodes) AddOnce(node, &finding.nodes);
      for (const BlockId block : other.blocks) {
        if (AddOnce(block, &finding.blocks)) finding.bytes += RoundedSize(trace_[block]);
      }
    }
    finding.advice =
        "launch it on a stream that is captured (let that stream wait for an event of the "
        "capture), or before the capture if it is to run once";
    return finding;
  }

  const Facts& facts_;
  const Trace& trace_;
  TouchesByGraph touching_{facts_};
  size_t touches_ = 0;
  std::map<Key, Found> found_;
};

}  // namespace

std::vector<Finding> FindEscapedWork(const Facts& facts) {
  if (facts.trace.works.empty() || facts.trace.captures.empty()) return {};
  return EscapeFinder(facts).FindEscaped();
}

}  // namespace graphkit
