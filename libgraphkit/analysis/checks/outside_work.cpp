// Checks of work outside of graphs that shares memory with them.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Who writes over it, how sure that is, and who finds it so: what is worth a note is one finding.
using OverwriteKey = std::tuple<GraphId, Severity, bool, KernelId, NodeKind>;

OverwriteKey KeyOf(const Ran& trace, const Overwrite& overwrite, Severity severity) {
  const bool used = overwrite.used.valid();
  if (severity == Severity::kNote) return {{}, severity, used, {}, NodeKind::kEmpty};
  if (overwrite.after == kNoUse) return {overwrite.graph, severity, used, {}, NodeKind::kEmpty};
  const EagerWork& work = trace.works[overwrite.after];
  return {overwrite.graph, severity, used, work.kernel, work.kind};
}

void AddEvidence(const Facts& facts, const Overwrite& overwrite, Finding* finding) {
  const Ran& trace = facts.trace;
  const auto add_work = [&](uint32_t id, const char* when) {
    if (id == kNoUse) return;
    const EagerWork& work = trace.works[id];
    const std::string on = work.stream.valid() ? " on " + NameOf(trace, work.stream) : "";
    AddEvidence(finding,
                Say(trace, "{} was submitted outside of graphs{}, {} the launch", work, on, when),
                work.stack);
  };
  add_work(overwrite.before, "before");
  AddEvidence(finding,
              Say(trace, "{} runs {}", LaunchText(trace, overwrite.launch, overwrite.graph),
                  overwrite.node),
              trace[overwrite.node].stack, {overwrite.node}, {overwrite.own});
  const bool later = overwrite.after != kNoUse &&
                     trace.works[overwrite.after].seq > trace.launches[overwrite.launch].seq;
  add_work(overwrite.after, later ? "after" : "before");
  if (overwrite.used.valid()) finding->evidence.push_back(AllocatedThere(facts, overwrite.used));
  finding->evidence.push_back(AllocatedThere(facts, overwrite.own));
}

// One finding for each graph that writes over what is used outside of graphs, and each kernel that
// finds it so. `describe` fills in severity, message and advice by the first of the findings'
// overwrites. It returns false for one that isn't its own.
template <typename Describe>
std::vector<Finding> FindOverwritten(const Facts& facts, Describe describe) {
  const Ran& trace = facts.trace;
  std::map<OverwriteKey, Finding> found;
  for (const Overwrite& overwrite : facts.overwrites()) {
    Finding described;
    if (!describe(overwrite, &described)) continue;
    const auto [place, fresh] =
        found.try_emplace(KeyOf(trace, overwrite, described.severity), std::move(described));
    Finding& finding = place->second;
    AddBlockOnce(trace, overwrite.used.valid() ? overwrite.used : overwrite.own, &finding);
    if (!fresh) continue;
    finding.graph = overwrite.graph;
    finding.nodes = {overwrite.node};
    finding.assumes = Assumption::kArguments;
    if (overwrite.after != kNoUse && trace.works[overwrite.after].stream.valid())
      finding.streams = {trace.works[overwrite.after].stream};
    AddEvidence(facts, overwrite, &finding);
  }
  for (auto& [key, finding] : found) {
    if (finding.blocks.size() > 1)
      finding.message += "; the same of " + Counted(finding.blocks.size() - 1, "more block");
  }
  return TakeValues(&found);
}

// A word of a structure proves no use: the finding is a note then. True if the work surely reads.
bool GradeOverwrite(const Overwrite& found, Finding* finding) {
  const bool reads = found.mode != AccessMode::kUnknown;
  finding->severity = !found.sure ? Severity::kNote : reads ? Severity::kError : Severity::kWarning;
  return reads && found.sure;
}

// The memory of a block that the graph's capture freed, and that isn't another's. To read what a
// launch left there may be meant: a program can keep the address of an output.
void DescribeLoose(const Ran& trace, const Overwrite& loose, Finding* finding) {
  const bool writes = loose.mode == AccessMode::kWrite || loose.mode == AccessMode::kReadWrite;
  finding->severity = writes ? Severity::kWarning : Severity::kNote;
  const char* does = writes ? " writes " : " reads ";
  finding->message = Say(trace,
                         "{}{}{} outside of graphs, which was freed in the capture of {} and is "
                         "written by its launches",
                         trace.works[loose.after], does, loose.own, loose.graph);
  finding->advice =
      "keep what is used after the capture (in PyTorch: hold a reference to the tensor until the "
      "capture has ended), or give it memory of its own";
}

bool MayRead(AccessMode mode) { return mode != AccessMode::kWrite; }
bool MayWrite(AccessMode mode) { return mode != AccessMode::kRead; }
bool IsSure(AccessMode mode) { return mode != AccessMode::kUnknown; }

// True if an access writes all that another one may touch of the same block.
bool Overwrites(const Access& write, const Access& own, Bytes size) {
  return write.mode == AccessMode::kWrite && write.rows == AccessRows() &&
         write.offset <= own.offset && BytesOf(write, size).end >= BytesOf(own, size).end;
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

struct EscapeFinder {
  std::vector<Finding> FindEscaped() {
    for (const Capture& capture : trace.captures) {
      if (capture.status != CaptureStatus::kCompleted || !capture.graph.valid()) continue;
      if (facts.never_run()[capture.graph.index()]) continue;
      auto work = std::ranges::upper_bound(trace.works, capture.begin, {}, &EagerWork::seq);
      for (; work != trace.works.end() && work->seq < capture.end; ++work) Judge(capture, *work);
    }
    std::vector<Finding> findings;
    for (auto& [key, found] : by_key) findings.push_back(Told(std::move(found)));
    return findings;
  }

  // All that work of one line and kernel did to a graph.
  struct Found {
    std::string work;
    size_t works = 0;
    Seq last = kNever;
    std::map<Escape::What, Finding> did;  // `message`: what it did to the first block
  };
  using EscapeKey = std::tuple<GraphId, NodeKind, KernelId, std::string>;

  static constexpr size_t kMostTouches = 100'000'000;  // that are looked at

  void Judge(const Capture& capture, const EagerWork& work) {
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      if (!SureAccess(trace, work.kernel, access)) continue;
      touches += touching.Of(access.block, capture.graph).size();
      if (touches > kMostTouches) return;
      if (const auto escape = EscapeOf(capture, work, access)) Add(capture, work, access, *escape);
    }
  }

  // What the graph's nodes do to a block that work touches, node by node; the worst of it.
  struct BlockUses {
    void Look(NodeId id, const Access& access) {
      if (Overlap(own, access) == Ternary::kNo) return;
      const bool before = finder.trace[id].seq < work.seq;
      if (!before && std::exchange(first_after, false))
        overwritten = Overwrites(access, own, finder.trace[own.block].size);
      if (before && MayRead(own.mode) && MayWrite(access.mode)) Consumes(id, access);
      if (MayWrite(own.mode) && MayRead(access.mode) && !overwritten) Produces(id, access);
      written = written || (IsSure(access.mode) && MayWrite(access.mode));
    }

    void Consumes(NodeId id, const Access& access) {
      const bool both_unknown = !IsSure(own.mode) && !IsSure(access.mode);
      if (AreSure(access)) return Take(Escape::kConsumes, Severity::kError, id);
      if (near && (born || !both_unknown)) Take(Escape::kConsumes, Severity::kWarning, id);
    }

    void Produces(NodeId id, const Access& access) {
      // A block filled from the host, or with one value, may be meant to be filled once.
      const bool sourced = finder.HasSource(work, own.block);
      if (!sourced && !written && !MayWrite(access.mode)) return;
      if (AreSure(access) || (born && sourced))
        return Take(Escape::kProduces, Severity::kWarning, id);
      if (near) Take(Escape::kTouches, Severity::kNote, id);
    }

    bool AreSure(const Access& access) const { return IsSure(own.mode) && IsSure(access.mode); }

    void Take(Escape::What what, Severity severity, NodeId node) {
      if (!worst || severity > worst->severity) worst = Escape{what, severity, node};
    }

    const EscapeFinder& finder;
    const EagerWork& work;
    const Access& own;
    bool born;  // in the capture
    bool near;  // of the capture, or by its thread
    std::optional<Escape> worst = {};
    bool first_after = true, overwritten = false, written = false;
  };

  std::optional<Escape> EscapeOf(const Capture& capture, const EagerWork& work, const Access& own) {
    const bool born = trace[own.block].graph == capture.graph;
    BlockUses uses{*this, work, own, born, born || work.thread == capture.thread};
    for (const NodeId node : touching.Of(own.block, capture.graph)) {
      for (const Access& access : trace.accesses.Of(trace[node].accesses)) {
        const bool sure = SureAccess(trace, trace[node].kernel, access);
        if (access.block == own.block && sure) uses.Look(node, access);
      }
    }
    return uses.worst;
  }

  // True if the work makes what it writes out of other memory of the device.
  bool HasSource(const EagerWork& work, BlockId written) const {
    return std::ranges::any_of(trace.accesses.Of(work.accesses), [&](const Access& access) {
      const bool host = KindOf(trace, trace[access.block].pool) == PoolKind::kHost;
      return !host && MayRead(access.mode) &&
             (access.block != written || access.mode == AccessMode::kReadWrite);
    });
  }

  void Add(const Capture& capture, const EagerWork& work, const Access& own, const Escape& escape) {
    Found& found = by_key[{capture.graph, work.kind, work.kernel, OwnPlace(trace, work.stack)}];
    if (std::exchange(found.last, work.seq) != work.seq) ++found.works;
    found.work = NameOf(trace, work);
    const auto [place, fresh] = found.did.try_emplace(escape.what);
    Finding& finding = place->second;
    AddBlockOnce(trace, own.block, &finding);
    AddOnce(escape.node, &finding.nodes);
    if (!fresh && finding.severity >= escape.severity) return;
    finding.graph = capture.graph;
    finding.severity = escape.severity;
    finding.assumes = Assumption::kArguments;
    if (work.stream.valid()) finding.streams = {work.stream};
    finding.message = Verb(escape) + NameOf(trace, own.block) + ", " + kRelations[escape.what] +
                      NameOf(trace, escape.node);
    const std::string stream =
        work.stream.valid() ? " on " + NameOf(trace, work.stream) + ", which wasn't captured" : "";
    finding.evidence = {{.text = found.work + " was submitted in the capture of " +
                                 NameOf(trace, capture.graph) + stream,
                         .blocks = {own.block},
                         .stack = work.stack},
                        CapturedThere(trace, escape.node)};
  }

  static const char* Verb(const Escape& escape) {
    const bool sure = escape.severity == Severity::kError,
               note = escape.severity == Severity::kNote;
    if (escape.what == Escape::kConsumes) return sure ? "read " : "may have read ";
    if (escape.what == Escape::kProduces) return note ? "may have written " : "wrote ";
    return "touched ";
  }

  // In the order of Escape::What.
  static constexpr const char* kRelations[] = {"which had yet to be written by ",
                                               "which every launch reads by ",
                                               "as every launch does by "};

  // The worst that it did, and what else as evidence.
  Finding Told(Found found) const {
    const auto worst = std::ranges::max_element(
        found.did, {}, [](const auto& did) { return did.second.severity; });
    Finding finding = worst->second;
    const std::string times = found.works > 1 ? " (" + Counted(found.works, "time") + ")" : "";
    finding.message = found.work + times + " ran while " + NameOf(trace, finding.graph) +
                      " was captured and isn't part of it: it " + finding.message;
    if (finding.blocks.size() > 1) {
      finding.message += "; the same of " + Counted(finding.blocks.size() - 1, "more block");
    }
    for (const auto& [what, other] : found.did) {
      if (what == worst->first) continue;
      AddEvidence(&finding, "it " + other.message, other.evidence.back().stack, other.nodes,
                  other.blocks);
      for (const NodeId node : other.nodes) AddOnce(node, &finding.nodes);
      for (const BlockId block : other.blocks) AddBlockOnce(trace, block, &finding);
    }
    finding.advice =
        "launch it on a stream that is captured (let that stream wait for an event of the "
        "capture), or before the capture if it is to run once";
    return finding;
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  TouchesByGraph touching{facts};
  size_t touches = 0;
  std::map<EscapeKey, Found> by_key = {};
};

// state-not-reset: memory that each launch of a graph reads and writes, and that was set outside of
// it only, before the first launch.

// The work outside of graphs on a block, in order.
struct Outside {
  std::vector<uint32_t> sets;  // in Trace::works: that only write it
  bool used = false;           // since the last of these
  bool set_again = false;      // after a use
  Seq last = 0;                // work that may write it
  // Writes by kernel that don't set it, since the last set and at most between two.
  std::map<KernelId, size_t> writes, most;
};

struct StateFinder {
  std::vector<Finding> FindAll() {
    for (uint32_t i = 0; i < trace.works.size(); ++i) AddWork(i);
    for (size_t graph = 0; graph < trace.graphs.size(); ++graph) {
      if (facts.launches()[graph].size() < 2) continue;
      for (const GraphInput& input : facts.inputs()[graph]) Judge(GraphId(graph), input.block);
    }
    return std::move(findings);
  }

  // True if it surely sets the block: a memset or a copy into it, or a kernel that is given nothing
  // else, as a fill is.
  bool Sets(NodeKind kind, Slice accesses, BlockId block) const {
    bool writes = true, alone = true;
    for (const Access& access : trace.accesses.Of(accesses)) {
      if (access.block == block) writes = writes && access.mode == AccessMode::kWrite;
      alone = alone && access.block == block;
    }
    return writes || (alone && kind == NodeKind::kKernel);
  }

  void AddWork(uint32_t index) {
    const EagerWork& work = trace.works[index];
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      Outside& outside = by_block[access.block];
      if (access.mode != AccessMode::kRead) outside.last = work.seq;
      if (!outside.sets.empty() && outside.sets.back() == index) continue;
      if (!Sets(work.kind, work.accesses, access.block)) {
        outside.used = true;
        if (access.mode == AccessMode::kRead) continue;
        size_t& most = outside.most[work.kernel];
        most = std::max(most, ++outside.writes[work.kernel]);
        continue;
      }
      outside.set_again = outside.set_again || (outside.used && !outside.sets.empty());
      outside.used = false;
      outside.writes.clear();
      outside.sets.push_back(index);
    }
  }

  // True if between two of the graph's launches another graph is launched that sets the block.
  bool SetByAnother(GraphId graph, BlockId block) const {
    const auto& own = facts.launches()[graph.index()];
    return std::ranges::any_of(facts.lives().Touches(block), [&](const NodeId touch) {
      const Node node = trace[touch];
      const GraphId other = facts.RootOf(touch);
      const auto& launches = facts.launches()[other.index()];
      const auto next = std::ranges::upper_bound(launches, own.front());
      const bool between = next != launches.end() && *next < own.back();
      return other != graph && between && Sets(node.kind, node.accesses, block);
    });
  }

  // True if a graph that touches the block was launched twice between two times that it was set, as
  // a cache is that is cleared before each text that is generated.
  bool LastsOverLaunches(const Outside& outside, BlockId block) const {
    const auto place = [&](uint32_t work) { return trace.works[work].seq; };
    const auto between = [&](uint32_t launch, uint32_t next) {
      const auto set =
          std::ranges::upper_bound(outside.sets, trace.launches[launch].seq, {}, place);
      return set != outside.sets.end() && place(*set) > trace.launches[next].seq;
    };
    return std::ranges::any_of(facts.lives().Touches(block), [&](const NodeId touch) {
      const auto& launches = facts.launches()[facts.RootOf(touch).index()];
      return std::ranges::adjacent_find(launches, between) != launches.end();
    });
  }

  void Judge(GraphId graph, BlockId block) {
    Outside& outside = by_block[block];
    const auto& launches = facts.launches()[graph.index()];
    if (outside.sets.empty() || outside.last > trace.launches[launches.front()].seq) return;
    if (SetByAnother(graph, block)) return;
    const std::span<const NodeId> nodes = touching.Of(block, graph);
    std::map<KernelId, size_t> writers;
    for (const NodeId id : nodes) {
      const Node node = trace[id];
      if (node.kind != NodeKind::kKernel || Sets(node.kind, node.accesses, block)) return;
      for (const Access& access : trace.accesses.Of(node.accesses)) {
        const bool writes = access.block == block && access.mode != AccessMode::kRead;
        if (writes && SureAccess(trace, node.kernel, access)) ++writers[node.kernel];
      }
    }
    // Without resets from step to step it may be state that is meant to last, as an optimizer's;
    // unless one kernel uses it again and again, as it does a workspace.
    const EagerWork& set = trace.works[outside.sets.back()];
    const auto writes = [&](NodeId id) { return trace[id].kernel == writers.begin()->first; };
    const bool workspace = writers.size() == 1 && writers.begin()->second > 1 &&
                           std::ranges::all_of(nodes, writes) && outside.sets.size() == 1 &&
                           set.kind == NodeKind::kMemset;
    if (writers.empty() || (!outside.set_again && !workspace)) return;
    // So is what several steps between two resets use.
    const auto lasts = [&](const auto& use) { return outside.most[use.first] > use.second; };
    if (!workspace && (std::ranges::any_of(writers, lasts) || LastsOverLaunches(outside, block)))
      return;
    Finding& finding = findings.emplace_back();
    finding.severity = workspace ? Severity::kNote : Severity::kWarning;
    finding.graph = graph;
    finding.nodes = {nodes.begin(), nodes.end()};
    finding.assumes = Assumption::kArguments;
    AddBlock(trace, block, &finding);
    finding.message =
        Say(trace,
            "{} was set {}, but not between the {} launches of {}: each starts from "
            "the previous one's result",
            block, workspace ? "once, by a memset" : "before each use outside of graphs",
            launches.size(), graph);
    finding.advice = "capture what sets it (a memset node), or set it before each launch";
    finding.evidence = {
        AllocatedThere(facts, block),
        {.text = NameOf(trace, set) + " set it last", .blocks = {block}, .stack = set.stack},
        CapturedThere(trace, nodes.front())};
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  TouchesByGraph touching{facts};
  std::map<BlockId, Outside> by_block = {};
  std::vector<Finding> findings = {};
};

}  // namespace

// eager-use-of-graph-memory: memory that a graph's launches write, used outside of graphs by what
// was allocated there later, or without being allocated.
std::vector<Finding> FindEagerUsesOfGraphMemory(const Facts& facts) {
  const Ran& trace = facts.trace;
  return FindOverwritten(facts, [&](const Overwrite& found, Finding* finding) {
    if (!found.used.valid()) {
      // Code that keeps an output's address may pass it on: only a known use tells anything.
      if (!found.sure || found.mode == AccessMode::kUnknown) return false;
      DescribeLoose(trace, found, finding);
      return true;
    }
    if (trace[found.used].graph.valid()) return false;
    const std::string place = Say(
        trace, "{}, allocated outside of captures, lies where {} works: ", found.used, found.graph);
    finding->advice =
        "allocate outside of the graph's pool what is used between launches (in PyTorch: no "
        "use_mem_pool with the pool of a graph)";
    if (found.after == kNoUse) {
      finding->severity = Severity::kNote;
      finding->message = place + "it was launched while the block was there";
      return true;
    }
    const bool sure = GradeOverwrite(found, finding);
    finding->message = Say(trace, "{}{} writes over it, and {} {} it afterwards", place, found.node,
                           trace.works[found.after], sure ? "reads" : "may read");
    return true;
  });
}

// pool-clobbered-workspace: memory that was allocated in a capture and kept, used outside of
// graphs, and written over by launches of graphs that use the same memory for something else.
std::vector<Finding> FindPoolClobberedWorkspaces(const Facts& facts) {
  const Ran& trace = facts.trace;
  return FindOverwritten(facts, [&](const Overwrite& found, Finding* finding) {
    if (!found.used.valid() || !trace[found.used].graph.valid()) return false;
    const bool sure = GradeOverwrite(found, finding);
    finding->message =
        Say(trace,
            "{}, allocated in the capture of {} and used outside of graphs, is written over by "
            "launches of {} ({} writes {}); {} {} it afterwards",
            found.used, trace[found.used].graph, found.graph, found.node, found.own,
            trace.works[found.after], sure ? "reads" : "may read");
    finding->advice =
        "allocate before the capture what is used outside of graphs too (a cached workspace: by "
        "one call before the capture), or read what a graph leaves before the next launch";
    return true;
  });
}

// escaped-work: work that was submitted while a graph was captured, on a stream that wasn't, and
// that touches what the graph touches: it ran once, and runs in no launch.
std::vector<Finding> FindEscapedWork(const Facts& facts) {
  if (facts.trace.works.empty() || facts.trace.captures.empty()) return {};
  return EscapeFinder{facts}.FindEscaped();
}

// Only where all work outside of graphs is recorded is it known that nothing set the memory again.
std::vector<Finding> FindStateNotReset(const Facts& facts) {
  if (!facts.trace.process.all_work || facts.trace.launches.empty()) return {};
  return StateFinder{facts}.FindAll();
}

}  // namespace graphkit
