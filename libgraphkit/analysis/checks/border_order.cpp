// Order across the border of graphs: launches, and work outside of graphs, that touch the same
// bytes.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/places.h"
#include "libgraphkit/analysis/checks/unordered_uses.h"
#include "libgraphkit/model/graph_versions.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

// What is known of an access, by strength: of two unordered ones, the later entries say more.
enum class Touching : uint8_t {
  kReads,
  kTouches,   // it isn't known what it does
  kMayWrite,  // it is given a pointer to non-const
  kWrites,
};

// An access of a graph's node, or of work.
struct BorderAccess {
  Access access;
  NodeId node;  // none: of work
  Touching does = Touching::kReads;
  bool sure = true;  // not only a word of a structure (SureAccess)

  bool MayWrite() const { return does >= Touching::kMayWrite; }
};

// One that isn't known to end somewhere counts where it begins.
Interval<Address> BytesJudged(const Access& access, Bytes size) {
  if (access.length == kLengthUnknown) return {access.offset, access.offset + 1};
  return BytesOf(access, size);
}

// None: nothing says that they interfere.
std::optional<Severity> GradeOfBorder(const BorderAccess& a, const BorderAccess& b) {
  const Ternary overlap = Overlap(a.access, b.access);
  if (overlap == Ternary::kNo) return std::nullopt;
  const bool writes = a.does == Touching::kWrites || b.does == Touching::kWrites;
  if (!writes && !a.MayWrite() && !b.MayWrite()) return std::nullopt;
  if (!a.sure || !b.sure) return writes ? std::optional(Severity::kNote) : std::nullopt;
  return writes && overlap == Ternary::kYes ? Severity::kError : Severity::kWarning;
}

// Both sides of a finding, in the order in which they were submitted.
struct BorderSide {
  Submission at;
  GraphId graph;  // none: of work
  const BorderAccess* by = nullptr;
};

// Speaks of two sides.
struct BorderTeller {
  const Facts& facts;
  const Trace& trace = facts.trace;

  StreamId StreamOf(const BorderSide& side) const {
    return side.at.work ? trace.works[side.at.index].stream : trace.launches[side.at.index].stream;
  }
  StackId StackOf(const BorderSide& side) const {
    return side.at.work ? trace.works[side.at.index].stack : trace.launches[side.at.index].stack;
  }
  // "launch 3 of graph 0 on stream 1", "a memcpy on stream 0".
  std::string Name(const BorderSide& side) const {
    if (!side.at.work) return LaunchText(trace, side.at.index, side.graph);
    return Say(trace, "{} on {}", trace.works[side.at.index], StreamOf(side));
  }
  static const char* Verb(const BorderSide& side) {
    constexpr const char* kVerbs[] = {"reads", "may use", "may write", "writes"};
    if (!side.by->sure) return "may use";
    return side.by->access.mode == AccessMode::kReadWrite
               ? "reads and writes"
               : kVerbs[static_cast<size_t>(side.by->does)];
  }

  void Describe(const BorderSide& first, const BorderSide& then, BlockId block,
                Finding* finding) const {
    finding->graph = first.at.work ? then.graph : first.graph;
    finding->assumes = Assumption::kArguments;
    finding->message = Say(trace, "{} {} {}, {} {} it, and nothing orders the two", Name(first),
                           Verb(first), block, Name(then), Verb(then));
    const bool python = IsPythonFile(LineOfStack(trace, StackOf(first)).file);
    finding->advice = OrderByEvent(trace, {EventPlaceText(first), StreamOf(first)},
                                   {EventPlaceText(then), StreamOf(then)}, python);
    for (const BorderSide* side : {&first, &then}) {
      AddOnce(StreamOf(*side), &finding->streams);
      if (side->at.work) {
        AddEvidence(finding, Say(trace, "{} was submitted outside of graphs", Name(*side)),
                    StackOf(*side), {}, {block});
      } else {
        const NodeId node = side->by->node;
        finding->nodes.push_back(node);
        finding->evidence.push_back(
            LaunchedThere(trace, side->at.index, side->graph, Say(trace, " runs {}", node)));
        finding->evidence.push_back(CapturedThere(trace, node));
      }
    }
    if (IsUploaded(first)) {
      AddEvidence(finding,
                  "a copy from memory that isn't page-locked returns once the driver has taken the "
                  "bytes, and may still be writing them");
    }
    finding->evidence.push_back(AllocatedThere(facts, block));
  }

  // "memcpy (step.cu:17)", "launch 3 (step.cu:20)": where an event belongs.
  std::string EventPlaceText(const BorderSide& side) const {
    std::string name = "launch " + std::to_string(side.at.index);
    if (side.at.work) {
      const EagerWork& work = trace.works[side.at.index];
      name = work.kind == NodeKind::kKernel ? NameOf(trace, work) : NodeKindName(work.kind);
    }
    const PlaceFrame line = LineOfStack(trace, StackOf(side));
    if (line != PlaceFrame()) name += " (" + ShortPlace(line.file, line.line) + ")";
    return name;
  }

  // A copy whose other end is no memory that CUDA knows.
  bool IsUploaded(const BorderSide& side) const {
    if (!side.at.work || side.by->does != Touching::kWrites) return false;
    const EagerWork& work = trace.works[side.at.index];
    return work.kind == NodeKind::kMemcpy && work.accesses.count == 1;
  }
};

struct BorderFinder {
  std::vector<Finding> FindAll() {
    FindGraphs();
    if (std::ranges::find(judged, true) == judged.end()) return {};
    for (uint32_t i = 0; i < trace.works.size(); ++i) {
      for (const Access& access : trace.accesses.Of(trace.works[i].accesses))
        works.emplace_back(access.block, i);
    }
    std::ranges::sort(works);
    works.erase(std::unique(works.begin(), works.end()), works.end());
    for (size_t block = 0; block < trace.blocks.size(); ++block) Judge(BlockId(block));
    std::vector<Finding> findings;
    for (auto& [cause, found] : by_cause) {
      if (const size_t more = found.finding.blocks.size() - 1; more > 0)
        found.finding.message += "; the same of " + Counted(more, "more block");
      if (found.by_threads) DoubtThreads(&found.finding);
      findings.push_back(std::move(found.finding));
    }
    return findings;
  }

  // Where all versions are shown at once, launches of one run more than its nodes. Nodes that
  // signal others outside make order that isn't followed.
  void FindGraphs() {
    judged.resize(trace.graphs.size());
    for (size_t i = 0; i < judged.size(); ++i) {
      judged[i] = !facts.launches()[i].empty() && (!HasSeveralVersions(trace, GraphId(i)) ||
                                                   ShownAlone(trace, GraphId(i)) != nullptr);
    }
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      const NodeKind kind = trace.nodes[i].kind;
      const bool signals = kind == NodeKind::kEventWait || kind == NodeKind::kEventRecord ||
                           kind == NodeKind::kExternalSemaphoreSignal ||
                           kind == NodeKind::kExternalSemaphoreWait;
      if (signals && !facts.launches()[facts.RootOf(NodeId(i)).index()].empty())
        return judged.assign(judged.size(), false);
    }
  }

  // Of a block: its users, and their accesses.
  void Judge(BlockId id) {
    const auto begin = std::ranges::lower_bound(works, id, {}, &Touch::first);
    const auto end = std::ranges::upper_bound(begin, works.end(), id, {}, &Touch::first);
    const std::span<const NodeId> touches = facts.lives().Touches(id);
    const auto root_of = [&](NodeId node) { return facts.RootOf(node); };
    if (touches.empty()) return;
    const bool alone = std::ranges::all_of(
        touches, [&](NodeId touch) { return root_of(touch) == root_of(touches[0]); });
    if (begin == end && alone && !several_execs[root_of(touches[0]).index()]) return;
    users.clear(), accesses.clear();
    AddGraphs(id);
    const size_t graphs = users.size();
    for (auto work = begin; work != end; ++work) {
      const EagerWork& row = trace.works[work->second];
      users.push_back({.work = work->second});
      for (const Access& access : trace.accesses.Of(row.accesses)) {
        if (access.block == id && !numbers_only.Has(row.kernel))
          Add({access, {}}, row.kernel, plain_pointers.Has(row.kernel), users.size() - 1);
      }
    }
    const auto may_write = [](const auto& of) {
      return std::ranges::any_of(of, &BorderAccess::MayWrite);
    };
    if (graphs == 0 || std::ranges::none_of(accesses, may_write)) return;
    KeepShared(graphs);
    UseSweep(facts, users, [&](const UseOfBytes& a, const UseOfBytes& b) { Compare(id, a, b); });
  }

  void AddGraphs(BlockId id) {
    std::unordered_map<GraphId, size_t> number;
    ForEachAccess(trace, facts.lives(), id, [&](NodeId node, const Access& access) {
      const GraphId root = facts.RootOf(node);
      if (!judged[root.index()] || !IsJudged(node)) return;
      const auto [at, fresh] = number.try_emplace(root, users.size());
      if (fresh) users.push_back({.graph = root});
      Add({access, node}, trace[node].kernel, AlwaysRuns(trace, node, plain_pointers), at->second);
    });
  }

  // Nodes of which each launch may do something else aren't.
  bool IsJudged(NodeId id) const {
    const Node& node = trace[id];
    if (node.kind == NodeKind::kMemAlloc || node.kind == NodeKind::kMemFree) return false;
    const ChangedNode* changed = FindChanged(trace, id);
    if (changed != nullptr && changed->varies) return false;
    return InGraph(trace, node) && !AlwaysRuns(trace, id, numbers_only);
  }

  // Of accesses alike the first.
  void Add(BorderAccess by, KernelId kernel, bool plain, size_t user) {
    const AccessMode mode = by.access.mode;
    by.does = mode == AccessMode::kRead      ? Touching::kReads
              : mode != AccessMode::kUnknown ? Touching::kWrites
              : plain                        ? Touching::kMayWrite
                                             : Touching::kTouches;
    by.sure = SureAccess(trace, kernel, by.access);
    accesses.resize(users.size());
    const auto alike = [&](const BorderAccess& other) {
      return other.access == by.access && other.sure == by.sure && other.does == by.does;
    };
    if (std::ranges::any_of(accesses[user], alike)) return;
    accesses[user].push_back(by);
    users[user].used.push_back({BytesJudged(by.access, trace[by.access.block].size),
                                {static_cast<uint8_t>(by.does), by.sure}});
  }

  // Drops what one exec alone touches: a graph's allocator may hand out thousands of pieces.
  void KeepShared(size_t graphs) {
    constexpr size_t kSeveral = ~size_t{0};
    IntervalMap<size_t> whose;
    for (size_t user = 0; user < users.size(); ++user) {
      const bool several = user < graphs && several_execs[users[user].graph.index()];
      const size_t own = several ? kSeveral : std::min(user, graphs);  // all work counts as one
      for (const UsedBytes& used : users[user].used) {
        const auto pieces = whose.Remove(used.bytes);
        whose.Add(used.bytes, own);
        for (const auto& [bytes, other] : pieces)
          whose.Add(Common(bytes, used.bytes), other == own ? own : kSeveral);
      }
    }
    const auto alone = [&](const auto& entry) { return entry.value != kSeveral; };
    for (size_t user = 0; user < graphs; ++user) {
      const auto used = std::exchange(users[user].used, {});
      const auto by = std::exchange(accesses[user], {});
      for (size_t i = 0; i < used.size(); ++i) {
        if (whose.Visit(used[i].bytes, alone)) continue;
        users[user].used.push_back(used[i]);
        accesses[user].push_back(by[i]);
      }
    }
  }

  void Compare(BlockId block, const UseOfBytes& earlier, const UseOfBytes& later) {
    const BorderSide first = SideOf(earlier), then = SideOf(later);
    const std::optional<Severity> grade = GradeOfBorder(*first.by, *then.by);
    if (!grade || IsOfOthers(first, then)) return;
    const bool by_threads = facts.launch_order().BeforeByThreads(earlier.at, later.at);
    const auto [at, fresh] = by_cause.try_emplace(CauseOf(first, then));
    Found& found = at->second;
    const bool worse = std::pair(!by_threads, *grade) > std::pair(!found.by_threads, found.grade);
    if (fresh || worse) {
      Finding described{.severity = *grade, .bytes = found.finding.bytes};
      described.blocks = std::move(found.finding.blocks);
      teller.Describe(first, then, block, &described);
      found = {std::move(described), *grade, by_threads};
    }
    AddBlockOnce(trace, block, &found.finding);
  }

  BorderSide SideOf(const UseOfBytes& use) const {
    return {use.at, users[use.user].graph, &accesses[use.user][use.used]};
  }

  // Launches that both may write are shared-workspace's, and sends that a later launch writes over
  // are send-buffer-reuse's.
  bool IsOfOthers(const BorderSide& first, const BorderSide& then) const {
    if (then.at.work || then.by->does == Touching::kReads) return false;
    if (!first.at.work && first.by->does != Touching::kReads) return true;
    const AccessMode mode = first.by->access.mode;
    if (mode != AccessMode::kRead && mode != AccessMode::kReadWrite) return false;
    const auto sends = [&](const auto& work) {
      return facts.communication().Has(work.kernel) || CopiesOut(trace, work.kind, work.accesses);
    };
    return first.at.work ? sends(trace.works[first.at.index]) : sends(trace[first.by->node]);
  }

  // The graph, and the other one or the line that submits work: in whatever order they were
  // submitted.
  using Cause = std::tuple<GraphId, GraphId, NodeKind, KernelId, std::string>;
  Cause CauseOf(const BorderSide& first, const BorderSide& then) const {
    if (!first.at.work && !then.at.work)
      return {std::min(first.graph, then.graph), std::max(first.graph, then.graph), {}, {}, {}};
    const EagerWork& work = trace.works[first.at.work ? first.at.index : then.at.index];
    return {first.at.work ? then.graph : first.graph,
            {},
            work.kind,
            work.kernel,
            OwnPlace(trace, work.stack)};
  }

  struct Found {
    Finding finding = {};
    Severity grade = Severity::kNote;
    bool by_threads = false;
  };
  using Touch = std::pair<BlockId, uint32_t>;

  const Facts& facts;
  const Trace& trace = facts.trace;
  BorderTeller teller{facts};
  KernelSet plain_pointers{facts.trace, TakesPlainPointers};
  KernelSet numbers_only{facts.trace, TakesNumbersOnly};
  std::vector<bool> judged = {};  // by graph
  std::vector<bool> several_execs = BySeveralExecs(facts);
  std::vector<Touch> works = {};  // by block
  std::vector<UserOfBytes> users = {};
  std::vector<std::vector<BorderAccess>> accesses = {};  // by user, as its `used`
  std::map<Cause, Found> by_cause = {};
};

}  // namespace

// border-order: a launch and work outside of graphs, or two launches, that touch the same bytes and
// that nothing orders.
std::vector<Finding> FindBorderOrder(const Facts& facts) {
  if (facts.trace.launches.empty() || OneAfterTheOther(facts.trace, facts.launch_order(), true))
    return {};
  return BorderFinder{facts}.FindAll();
}

}  // namespace graphkit
