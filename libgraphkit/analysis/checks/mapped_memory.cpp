// Checks of memory that is unmapped, and mapped again, under graphs that keep its addresses: sleep
// modes, expandable segments.
//
//     mapping 0  |--- A ---|  unmapped                     launch: still-unmapped
//     mapping 1                        |--- B, or A ---|   launch: B has nothing of A (read-after-
//                                                          wake), unless something writes it first
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/memory/first_writes.h"
#include "libgraphkit/ran/node_changes.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

// A node's access to bytes of a mapping.
struct MappedAccess {
  NodeId node;
  Access access;
  Range bytes;
  GraphId root;
  bool MayWrite() const { return access.mode != AccessMode::kRead; }
};

// A launch, or a call that failed to launch.
struct Attempt {
  Seq seq = kNever;
  Evidence there = {};
};

struct MappedMemory {
  explicit MappedMemory(const Facts& of) : facts(of) {
    const Seq last = trace.launches.empty() ? 0 : trace.launches.back().seq;
    const Seq end = trace.failures.empty() ? last : std::max(last, trace.failures.back().seq);
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      const Block& block = trace.blocks[i];
      if (block.mapped) all.emplace_back(i);
      if (block.mapped && block.same_as.valid())
        mapped_again.try_emplace(block.same_as, block.allocated);
      if (block.mapped && block.free_requested < end) gone.emplace_back(i);
    }
    if (gone.empty()) return;
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      const Range range = AddressesOf(trace.blocks[i]);
      if (!trace.blocks[i].segment.valid()) blocks.Add(range, BlockId(i));
      if (!facts.lives().Touches(BlockId(i)).empty()) touched.Add(range, BlockId(i));
    }
    blocks.Sort(), touched.Sort();
    std::vector<Range> mapped;
    for (const BlockId id : all) mapped.push_back(AddressesOf(Block(trace[id])));
    runs = Union(std::move(mapped));
  }

  // The addresses around one, all of which were mapped at some time: what a kernel reaches from it.
  Range RunOf(Address address) const {
    return *std::prev(std::ranges::upper_bound(runs, address, {}, &Range::begin));
  }
  // What an access to a block may write: of unknown length, what is mapped from there on.
  Range WrittenBy(const Access& access) const {
    const Block block = trace[access.block];
    const Range bytes = AddressesOf(access, block);
    const bool open = block.mapped && access.length == kLengthUnknown;
    return {bytes.begin, open ? RunOf(block.address).end : bytes.end};
  }

  // What nodes do with bytes of a mapping, by the addresses that they were captured with. A read of
  // unknown length is one where it begins.
  std::vector<MappedAccess> AccessesTo(BlockId mapping) const {
    std::vector<MappedAccess> found;
    const Range range = AddressesOf(Block(trace[mapping]));
    touched.Visit({RunOf(range.begin).begin, range.end}, [&](Range, BlockId id) {
      ForEachAccess(trace, facts.lives(), id, [&](NodeId node, const Access& access) {
        const Range written = WrittenBy(access), bytes = Common(written, range);
        const bool begins = access.length != kLengthUnknown || bytes.begin == written.begin;
        if (!bytes.empty() && (begins || access.mode != AccessMode::kRead))
          found.push_back({node, access, bytes, facts.RootOf(node)});
      });
    });
    return found;
  }

  bool Runs(const MappedAccess& by, Seq at) const {
    return trace.graph_nodes.Has(by.node) && !changes.Changed(by.node, at);
  }

  std::optional<uint32_t> FirstLaunch(GraphId root, Seq after) const {
    const std::span<const uint32_t> launches = LaunchesAfter(facts, root, after);
    return launches.empty() ? std::nullopt : std::optional(launches[0]);
  }
  Attempt FirstAttempt(GraphId root, Seq after) const {
    Attempt first;
    if (const auto launch = FirstLaunch(root, after))
      first = {trace.launches[*launch].seq, LaunchedThere(trace, *launch, root)};
    for (const Failure& failure : trace.failures) {
      const bool own = failure.of.graph == root && IsFailedLaunch(trace, failure);
      if (!own || failure.seq < after || failure.seq > first.seq) continue;
      return {failure.seq,
              {.text = Say(trace, "a launch of {} returned error ", root) +
                       std::to_string(failure.error),
               .stack = failure.stack}};
    }
    return first;
  }

  // The driver has memory for all of the bytes at a place.
  bool IsMapped(Range bytes, Seq at) const {
    std::vector<Range> left = {bytes};
    blocks.Visit(bytes, [&](Range mapped, BlockId id) {
      if (trace[id].allocated < at && trace[id].free_requested > at) TakeOut(mapped, &left);
    });
    return left.empty();
  }

  BlockId MemoryOf(BlockId id) const { return trace[id].same_as.valid() ? trace[id].same_as : id; }
  // Another mapping of the same memory, there at a place.
  BlockId Elsewhere(BlockId id, Seq at) const {
    const auto found = std::ranges::find_if(all, [&](BlockId other) {
      const Block& block = trace[other];
      return MemoryOf(other) == MemoryOf(id) && block.allocated < at && block.free_requested > at;
    });
    return found == all.end() ? BlockId() : *found;
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  const NodeChanges changes{facts.trace};
  std::map<BlockId, Seq> mapped_again = {};  // by a memory's first mapping: its second one's place
  std::vector<BlockId> all, gone;  // mappings; those that were unmapped before the last launch
  RangeIndex<BlockId> blocks = {}, touched = {};  // the driver's; those that nodes touch
  std::vector<Range> runs = {};
};

struct UnmappedFinder {
  std::vector<Finding> Find() {
    for (const BlockId gone : memory.gone) {
      const Block& block = trace[gone];
      for (const MappedAccess& by : memory.AccessesTo(gone))
        if (trace[by.access.block].allocated < block.free_requested) Judge(gone, by);
    }
    for (auto& [graph, finding] : by_graph) {
      finding.message = Say(trace, "{} was launched while memory that it touches was unmapped: {}",
                            graph, BlocksText(finding));
      finding.advice = "map the range again before the launch, and write what the launch reads";
    }
    return TakeValues(&by_graph);
  }

  void Judge(BlockId gone, const MappedAccess& by) {
    const Seq unmapped = trace[gone].free_requested;
    const Attempt launch = memory.FirstAttempt(by.root, unmapped);
    Range bytes = by.bytes;
    if (by.access.length == kLengthUnknown) {
      if (memory.WrittenBy(by.access).begin != bytes.begin) return;
      bytes.end = bytes.begin + 1;
    }
    if (launch.seq == kNever || memory.IsMapped(bytes, launch.seq)) return;
    if (!memory.Runs(by, launch.seq)) return;
    const auto [at, fresh] =
        by_graph.try_emplace(by.root, Finding{.severity = Severity::kNote, .graph = by.root});
    Finding& finding = at->second;
    const bool sure = SureAccess(trace, trace[by.node].kernel, by.access);
    const bool known = sure && by.access.mode != AccessMode::kUnknown;
    finding.severity = std::max(finding.severity, known  ? Severity::kError
                                                  : sure ? Severity::kWarning
                                                         : Severity::kNote);
    finding.assumes = Assumption::kArguments;
    AddOnce(by.node, &finding.nodes);
    if (!AddBlockOnce(trace, by.access.block, &finding) || finding.blocks.size() > kShownEvidence)
      return;
    AddEvidence(&finding,
                Say(trace, "{} was unmapped {}, and {} touches it", by.access.block,
                    facts.places().Of(unmapped), by.node),
                trace[gone].free_stack, {by.node}, {by.access.block});
    if (fresh) finding.evidence.push_back(launch.there);
    if (const BlockId now = memory.Elsewhere(gone, launch.seq); now.valid())
      AddEvidence(&finding, Say(trace, "its physical memory is mapped at another address: {}", now),
                  trace[now].stack, {}, {now});
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  const MappedMemory memory{facts};
  std::map<GraphId, Finding> by_graph = {};
};

// New memory where other memory was mapped before.
struct WakeFinder {
  std::vector<Finding> Find() {
    if (memory.gone.empty()) return {};
    FindWrites();
    for (const BlockId id : memory.all) {
      if (IsNew(id)) Judge(id);
    }
    for (auto& [graph, finding] : by_graph) {
      finding.message =
          Say(trace,
              "{} was launched after new memory was mapped in place of {}: nothing had written "
              "what it reads there",
              graph, BlocksText(finding));
      finding.advice =
          "write the content anew after the memory is mapped again (a copy from where it was "
          "saved), or map the same physical memory again";
    }
    return TakeValues(&by_graph);
  }

  // The only mapping of memory that isn't shared, where another mapping ended before.
  bool IsNew(BlockId id) const {
    const Block& block = trace[id];
    if (block.same_as.valid() || block.shared != kNever) return false;
    const auto other = memory.mapped_again.find(id);
    if (other != memory.mapped_again.end() && other->second < block.free_requested) return false;
    bool again = false;
    memory.blocks.Visit(AddressesOf(block), [&](Range, BlockId before) {
      again = again || (trace[before].mapped && trace[before].free_requested < block.allocated);
    });
    return again;
  }

  // By work outside of graphs, or by what isn't known.
  void FindWrites() {
    for (const EagerWork& work : trace.works) {
      if (work.kind == NodeKind::kKernel && !work.accesses_complete) unclear = work.seq;
      for (const Access& access : trace.accesses.Of(work.accesses)) {
        if (access.mode != AccessMode::kRead) written.Add(memory.WrittenBy(access), work.seq);
      }
    }
    written.Sort();
    for (const EagerSite& site : trace.eager_sites) {
      const bool known = site.kernel.valid() && trace[site.kernel].has_layout;
      if (!known || facts.communication().Has(site.kernel)) unclear = std::max(unclear, site.seq);
    }
    for (const NodeId id : trace.graph_nodes) {
      if (!MayTouchAnything(trace, id)) continue;
      const std::vector<uint32_t>& launches = facts.launches()[facts.RootOf(id).index()];
      if (!launches.empty()) unclear = std::max(unclear, trace.launches[launches.back()].seq);
    }
    for (size_t i = 0; i < trace.launches.size(); ++i)
      if (!facts.ran()[i].valid()) unclear = std::max(unclear, trace.launches[i].seq);
  }

  void Judge(BlockId id) {
    const Block& block = trace[id];
    if (unclear > block.allocated) return;
    const std::vector<MappedAccess> accesses = memory.AccessesTo(id);
    for (const MappedAccess& by : accesses) {
      const bool reads =
          by.access.mode == AccessMode::kRead || by.access.mode == AccessMode::kReadWrite;
      const auto launch = memory.FirstLaunch(by.root, block.allocated);
      if (!reads || !launch || trace[by.access.block].allocated > block.allocated) continue;
      const Seq at = trace.launches[*launch].seq;
      if (at > block.free_requested || !memory.Runs(by, at)) continue;
      if (!SureAccess(trace, trace[by.node].kernel, by.access)) continue;
      if (IsLost(by, accesses, {block.allocated, at})) Add(id, by, *launch);
    }
  }

  // True if nothing may have written what the node reads, since the memory was mapped.
  bool IsLost(const MappedAccess& by, std::span<const MappedAccess> accesses,
              Interval<Seq> since) const {
    std::vector<Range> left = {by.bytes};
    written.Visit(by.bytes, [&](Range bytes, Seq seq) {
      if (since.contains(seq)) TakeOut(bytes, &left);
    });
    for (const MappedAccess& other : accesses) {
      if (left.empty()) return false;
      if (!other.MayWrite() || other.node == by.node || !Overlaps(other.bytes, by.bytes)) continue;
      const auto first = memory.FirstLaunch(other.root, since.begin);
      const bool earlier = other.root == by.root ? !facts.order().Before(by.node, other.node)
                                                 : first && trace.launches[*first].seq < since.end;
      if (earlier) TakeOut(other.bytes, &left);
    }
    const bool known = by.access.length != kLengthUnknown;
    return known ? !left.empty() : left == std::vector{by.bytes};
  }

  void Add(BlockId id, const MappedAccess& by, uint32_t launch) {
    Finding& finding =
        by_graph.try_emplace(by.root, Finding{.severity = Severity::kWarning, .graph = by.root})
            .first->second;
    const bool runs = !facts.nesting().InConditional(trace[by.node].graph);
    if (runs && by.access.length != kLengthUnknown) finding.severity = Severity::kError;
    finding.assumes = Assumption::kArguments;
    AddOnce(by.node, &finding.nodes);
    if (!AddBlockOnce(trace, by.access.block, &finding) || finding.blocks.size() > kShownEvidence)
      return;
    AddEvidence(&finding,
                Say(trace, "{} was mapped in place of {}, {}", id, by.access.block,
                    facts.places().Of(trace[id].allocated)),
                trace[id].stack, {}, {id, by.access.block});
    finding.evidence.push_back(
        LaunchedThere(trace, launch, by.root, Say(trace, " runs {}, which reads it", by.node)));
    finding.evidence.push_back(CapturedThere(trace, by.node));
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  const MappedMemory memory{facts};
  RangeIndex<Seq> written = {};
  Seq unclear = 0;  // the last place where something may have written anything
  std::map<GraphId, Finding> by_graph = {};
};

}  // namespace

// still-unmapped: launches of graphs that touch addresses where nothing is mapped any more.
std::vector<Finding> FindStillUnmapped(const Facts& facts) { return UnmappedFinder{facts}.Find(); }

// read-after-wake: launches that read new physical memory, mapped in place of what the graph was
// captured with, before anything wrote it.
std::vector<Finding> FindReadsAfterWake(const Facts& facts) { return WakeFinder{facts}.Find(); }

}  // namespace graphkit
