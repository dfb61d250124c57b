// Order across the border of graphs: launches, and work outside of graphs, that touch the same
// bytes of memory that graphs use.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/checks/unordered_uses.h"

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
  const Ran& trace = facts.trace;

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

  // `beside`: of two pieces of work, the access of a graph to the same bytes.
  void Describe(const BorderSide& first, const BorderSide& then, const BorderAccess* beside,
                Finding* finding) const {
    const BlockId block = then.by->access.block;
    finding->assumes = Assumption::kArguments;
    finding->message = Say(trace, "{} {} {}, {} {} it, and nothing orders the two", Name(first),
                           Verb(first), block, Name(then), Verb(then));
    finding->advice = OrderByEvent(trace, {EventPlaceText(first), StreamOf(first)},
                                   {EventPlaceText(then), StreamOf(then)}, StackOf(first));
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
    if (beside != nullptr) {
      finding->nodes.push_back(beside->node);
      AddEvidence(finding,
                  Say(trace, "{} of {} uses the same memory", beside->node, finding->graph),
                  trace[beside->node].stack, {beside->node});
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
    SortUnique(&works);
    FindMappings();
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      const BlockId block(i);
      if (mappings.empty() || !trace[block].mapped) Judge(block);
    }
    for (const auto& [first, all] : mappings) JudgeMapped(all);
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
  // signal semaphores outside make order that isn't followed.
  void FindGraphs() {
    judged.resize(trace.graphs.size());
    for (size_t i = 0; i < judged.size(); ++i)
      judged[i] = !facts.launches()[i].empty() && ShownVersions(trace, GraphId(i)).size() <= 1;
    const auto signals = [](const Node& node) {
      return node.kind == NodeKind::kExternalSemaphoreSignal ||
             node.kind == NodeKind::kExternalSemaphoreWait;
    };
    if (std::ranges::none_of(trace.nodes.shared(), signals)) return;
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      if (signals(trace.nodes[i]) && !facts.launches()[facts.RootOf(NodeId(i)).index()].empty())
        return judged.assign(judged.size(), false);
    }
  }

  // Physical memory that is mapped, with its mappings: at the addresses that nodes have, each
  // launch finds what is mapped there by then. Mappings of memory that others know, too, are on
  // their own.
  void FindMappings() {
    if (std::ranges::none_of(trace.blocks.shared(), &Block::mapped)) return;
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      const Block block = trace.blocks[i];
      if (!block.mapped) continue;
      const BlockId first = block.same_as.valid() ? block.same_as : BlockId(i);
      mappings[trace[first].shared == kNever ? first : BlockId(i)].emplace_back(i);
      if (!facts.lives().Touches(BlockId(i)).empty())
        mapped_touched.Add(AddressesOf(block), BlockId(i));
    }
    mapped_touched.Sort();
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
    Clear();
    AddGraphs(id, id, trace[id].address);
    Finish({&id, 1});
  }

  void JudgeMapped(const std::vector<BlockId>& all) {
    Clear();
    for (const BlockId mapping : all) {
      const Block block = trace[mapping];
      mapped_touched.Visit(AddressesOf(block), [&](Interval<Address> captured, BlockId with) {
        AddGraphs(mapping, with, captured.begin);
      });
    }
    Finish(all);
  }

  void Clear() { users.clear(), accesses.clear(), user_of.clear(); }

  // Adds the work, and compares all.
  void Finish(std::span<const BlockId> blocks) {
    graphs = users.size();
    if (graphs == 0) return;
    for (const BlockId id : blocks) {
      auto work = std::ranges::lower_bound(works, id, {}, &Touch::first);
      for (; work != works.end() && work->first == id; ++work) {
        const EagerWork& row = trace.works[work->second];
        users.push_back({.work = work->second});
        for (const Access& access : trace.accesses.Of(row.accesses)) {
          if (access.block == id && !numbers_only.Has(row.kernel))
            Add({access, {}}, row.kernel, plain_pointers.Has(row.kernel), users.size() - 1);
        }
      }
    }
    const auto may_write = [](const auto& of) {
      return std::ranges::any_of(of, &BorderAccess::MayWrite);
    };
    if (std::ranges::none_of(accesses, may_write)) return;
    KeepShared();
    UseSweep(facts, users, [&](const UseOfBytes& a, const UseOfBytes& b) { Compare(a, b); }).Run();
  }

  // What nodes do to a block, that they were captured with, or with another one at `address`.
  void AddGraphs(BlockId id, BlockId captured, Address address) {
    const Block block = trace[id];
    const Interval<Seq> during =
        block.mapped ? Interval<Seq>{block.allocated, block.free_requested} : UsedBytes().during;
    ForEachAccess(trace, facts.lives(), captured, [&](NodeId node, const Access& access) {
      const GraphId root = facts.RootOf(node);
      if (!judged[root.index()] || !IsJudged(node)) return;
      const std::optional<Access> own = id == captured ? access : Moved(access, address, id, block);
      if (!own) return;
      const auto [at, fresh] = user_of.try_emplace(root, users.size());
      if (fresh) users.push_back({.graph = root});
      Add({*own, node}, trace[node].kernel, AlwaysRuns(trace, node, plain_pointers), at->second,
          during);
    });
  }

  // An access to memory at an address as one to the block that lies there; none: it isn't known to
  // reach it.
  static std::optional<Access> Moved(Access access, Address address, BlockId to,
                                     const Block& block) {
    const Address begin = address + access.offset;
    const bool plain = access.length != kLengthUnknown && access.rows == AccessRows();
    if (begin >= block.address + block.size) return std::nullopt;
    if (begin < block.address) {
      if (!plain || begin + access.length <= block.address) return std::nullopt;
      access.length -= block.address - begin;
    }
    access.block = to;
    access.offset = std::max(begin, block.address) - block.address;
    return access;
  }

  // Nodes of which each launch may do something else aren't.
  bool IsJudged(NodeId id) const {
    const Node& node = trace[id];
    if (node.kind == NodeKind::kMemAlloc || node.kind == NodeKind::kMemFree) return false;
    const ChangedNode* changed = FindChanged(trace, id);
    if (changed != nullptr && changed->varies) return false;
    return trace.graph_nodes.Has(id) && !AlwaysRuns(trace, id, numbers_only);
  }

  // Of accesses alike the first.
  void Add(BorderAccess by, KernelId kernel, bool plain, size_t user,
           Interval<Seq> during = UsedBytes().during) {
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
                                {static_cast<uint8_t>(by.does), by.sure},
                                during});
  }

  // Drops what one exec alone touches: a graph's allocator may hand out thousands of pieces.
  void KeepShared() {
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

  void Compare(const UseOfBytes& earlier, const UseOfBytes& later) {
    const BorderSide first = SideOf(earlier), then = SideOf(later);
    const std::optional<Severity> grade = GradeOfBorder(*first.by, *then.by);
    if (!grade || IsOfOthers(first, then)) return;
    GraphId about = first.at.work ? then.graph : first.graph;
    const BorderAccess* beside = nullptr;
    if (first.at.work && then.at.work) {
      std::tie(about, beside) = Beside(earlier, later);
      if (beside == nullptr) return;
    }
    const bool by_threads = facts.launch_order().BeforeByThreads(earlier.at, later.at);
    const auto [at, fresh] = by_cause.try_emplace(CauseOf(about, first, then));
    Found& found = at->second;
    const bool worse = std::pair(!by_threads, *grade) > std::pair(!found.by_threads, found.grade);
    if (fresh || worse) {
      Finding described{.severity = *grade, .bytes = found.finding.bytes, .graph = about};
      described.blocks = std::move(found.finding.blocks);
      teller.Describe(first, then, beside, &described);
      found = {std::move(described), *grade, by_threads};
    }
    AddBlockOnce(trace, then.by->access.block, &found.finding);
  }

  // The first graph that uses the bytes that two pieces of work have in common. Work before the
  // first launch counts where all of it is recorded: else it isn't known what orders it.
  std::pair<GraphId, const BorderAccess*> Beside(const UseOfBytes& earlier,
                                                 const UseOfBytes& later) const {
    const Seq since = trace.process.all_work ? 0 : trace.launches[0].seq;
    const auto bytes_of = [&](const UseOfBytes& use) {
      return users[use.user].used[use.used].bytes;
    };
    const Interval<Address> both = Common(bytes_of(earlier), bytes_of(later));
    if (trace.works[earlier.at.index].seq < since) return {};
    for (size_t user = 0; user < graphs; ++user) {
      for (size_t i = 0; i < users[user].used.size(); ++i) {
        if (Overlaps(users[user].used[i].bytes, both))
          return {users[user].graph, &accesses[user][i]};
      }
    }
    return {};
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
  Cause CauseOf(GraphId about, const BorderSide& first, const BorderSide& then) const {
    if (!first.at.work && !then.at.work)
      return {std::min(first.graph, then.graph), std::max(first.graph, then.graph), {}, {}, {}};
    const EagerWork& work = trace.works[then.at.work ? then.at.index : first.at.index];
    return {about, first.at.work && then.at.work ? about : GraphId(), work.kind, work.kernel,
            OwnPlace(trace, work.stack)};
  }

  struct Found {
    Finding finding = {};
    Severity grade = Severity::kNote;
    bool by_threads = false;
  };
  using Touch = std::pair<BlockId, uint32_t>;

  const Facts& facts;
  const Ran& trace = facts.trace;
  BorderTeller teller{facts};
  KernelSet plain_pointers{facts.trace, TakesPlainPointers};
  KernelSet numbers_only{facts.trace, TakesNumbersOnly};
  std::vector<bool> judged = {};  // by graph
  std::vector<bool> several_execs = BySeveralExecs(facts);
  std::vector<Touch> works = {};                          // by block
  std::map<BlockId, std::vector<BlockId>> mappings = {};  // by the first of the same memory
  RangeIndex<BlockId> mapped_touched = {};                // mappings, by the nodes' addresses
  // Of the memory at hand:
  size_t graphs = 0;                                 // the first users
  std::unordered_map<GraphId, size_t> user_of = {};  // of them
  std::vector<UserOfBytes> users = {};
  std::vector<std::vector<BorderAccess>> accesses = {};  // by user, as its `used`
  std::map<Cause, Found> by_cause = {};
};

}  // namespace

// border-order: a launch and work outside of graphs, two launches, or two pieces of work on memory
// that a graph uses, that touch the same bytes and that nothing orders.
std::vector<Finding> FindBorderOrder(const Facts& facts) {
  if (facts.trace.launches.empty() || OneAfterTheOther(facts.trace, facts.launch_order(), true))
    return {};
  return BorderFinder{facts}.FindAll();
}

}  // namespace graphkit
