#include "libgraphkit/analysis/launches/content.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "libgraphkit/analysis/launches/restored_copies.h"
#include "libgraphkit/analysis/launches/strays.h"
#include "libgraphkit/analysis/memory/first_writes.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

// What is known of some bytes.
enum class ContentMarkKind : uint8_t {
  kTouched,   // a graph touches them
  kOutside,   // as a block that was allocated outside of captures, or where no block lay
  kFound,     // and may read them before it has written them
  kLeft,      // of a block that a launch leaves
  kReads,     // a node surely reads there
  kWrites,    // a node surely is to write there
  kUnclear,   // a node may do either
  kWork,      // work outside of graphs
  kRestored,  // work that brings back what was there
};
constexpr size_t kMarkKinds = 9;

struct ContentMark {
  Range bytes;
  ContentMarkKind kind;
  uint32_t of = 0;  // a root graph, a node, or work
  BlockId block = {};
  AccessMode mode = AccessMode::kUnknown;  // of work
  bool sure = false;                       // it writes all of the bytes
};

// The marks that some bytes have, by kind: indices.
using OpenMarks = std::array<std::set<uint32_t>, kMarkKinds>;

// What launches that find some bytes, and work outside of graphs, do with them in their order.
struct ContentUses {
  bool needed = false;          // at some cut
  bool written = false;         // by work, from the first such launch on
  bool may_be_written = false;  // the same, so far as is known
  size_t finders = 0;           // launches
  uint32_t first = kNoUse;      // of them
  uint32_t last = kNoUse;       // work that may write them
};

// A launch that finds some bytes, or work that uses them.
struct ContentUse {
  Seq seq = 0;
  uint32_t index = 0;
  bool work = false;
  bool reads = false;
  bool sure = false;  // writes all of them
};

struct ContentFinder {
  using enum ContentMarkKind;
  using enum ContentClass;

  std::vector<ContentRange> Find() {
    for (size_t i = 0; i < trace.blocks.size(); ++i) AddBlock(BlockId(i));
    AddWriters();
    for (uint32_t i = 0; i < trace.works.size(); ++i) AddWork(i);
    FindAnything();
    return Sweep();
  }

  bool Runs(GraphId root) const { return root.valid() && runs[root.index()]; }

  void AddBlock(BlockId id) {
    const Block block = trace[id];
    const PoolKind kind = KindOf(trace, block.pool);
    if (block.address == 0 || kind == PoolKind::kHost || kind == PoolKind::kManaged) return;
    if (backs[id.index()]) return AddStrays(id);
    const BlockLife& life = facts.lives()[id];
    bool found = !life.root.valid(), touched = false;
    for (const FirstWrites::OfGraph& of : writes.Of(id)) {
      if (!Runs(of.root)) continue;
      AddRanges(kTouched, of.root, id, of.touched);
      if (!life.root.valid()) AddRanges(kOutside, of.root, id, of.touched);
      AddRanges(kFound, of.root, id, of.found);
      touched = touched || !of.touched.empty();
      found = found || !of.found.empty();
    }
    if (!touched) return;
    if (!found) written_first.push_back(id);
    const bool promised = rule == MarkerRule::kLastUse && !life.escaped;
    if (life.root.valid() && (!life.freed || (life.foreign && !promised)))
      marks.push_back({AddressesOf(block), kLeft, life.root.value, id});
    if (found) AddAccesses(id);
  }

  // Where one block's launches find what is there, others may write it: blocks that lay there at
  // other times.
  void AddWriters() {
    std::vector<Range> found;
    for (const ContentMark& mark : marks) {
      if (mark.kind == kFound) found.push_back(mark.bytes);
    }
    found = Union(std::move(found));
    for (const BlockId id : written_first) {
      const Range own = AddressesOf(Block(trace[id]));
      const auto at = std::ranges::upper_bound(found, own.begin, {}, &Range::end);
      if (at != found.end() && at->begin < own.end) AddAccesses(id);
    }
  }

  void AddRanges(ContentMarkKind kind, GraphId root, BlockId id,
                 std::span<const Interval<Bytes>> ranges) {
    const Address begin = trace[id].address;
    for (const Interval<Bytes>& bytes : ranges)
      marks.push_back({{begin + bytes.begin, begin + bytes.end}, kind, root.value, id});
  }

  void AddAccesses(BlockId id) {
    ForEachAccess(trace, facts.lives(), id, [&](NodeId node, const Access& access) {
      if (Runs(facts.RootOf(node))) AddAccess(node, strays.BytesOf(access), access);
    });
  }
  void AddAccess(NodeId node, Range bytes, const Access& access) {
    const auto add = [&](ContentMarkKind kind) {
      marks.push_back({bytes, kind, node.value, access.block});
    };
    if (access.mode != AccessMode::kUnknown) {
      if (access.mode != AccessMode::kWrite) add(kReads);
      if (access.mode != AccessMode::kRead) add(kWrites);
      return;
    }
    // A pointer to non-const among pointers of which the others aren't: it is there to be written.
    if (AlwaysRuns(trace, node, plain)) add(kWrites);
    add(kUnclear);
  }

  // Accesses to a segment where no block lay.
  void AddStrays(BlockId id) {
    ForEachAccess(trace, facts.lives(), id, [&](NodeId node, const Access& access) {
      const GraphId root = facts.RootOf(node);
      if (!Runs(root)) return;
      const Range bytes = strays.BytesOf(access);
      for (const ContentMarkKind kind : {kTouched, kOutside})
        marks.push_back({bytes, kind, root.value, id});
      AddAccess(node, bytes, access);
      for (const Range& part : strays.FoundBy(node, access))
        marks.push_back({part, kFound, root.value, id});
    });
  }

  // Content that is saved before a sleep, and copied back after it, stays what it was.
  void AddWork(uint32_t i) {
    const EagerWork& work = trace.works[i];
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      if (access.block.index() >= trace.blocks.size() || trace[access.block].address == 0) continue;
      const bool writes = access.mode == AccessMode::kWrite;
      const bool sure = writes && access.length != kLengthUnknown && access.rows == AccessRows();
      const bool restores = copies.restores[i] && writes;
      if (copies.saves[i] && !writes) continue;
      marks.push_back({strays.BytesOf(access), restores ? kRestored : kWork, i, access.block,
                       access.mode, sure});
    }
  }

  void FindAnything() {
    anything = std::ranges::find(facts.ran(), GraphId()) != facts.ran().end();
    for (const EagerWork& work : trace.works)
      anything = anything || MayTouchAnything(trace, work.kind, work);
    for (const NodeId id : trace.graph_nodes)
      anything = anything || (MayTouchAnything(trace, id) && Runs(facts.RootOf(id)));
  }

  std::vector<ContentRange> Sweep() {
    std::vector<std::tuple<Address, bool, uint32_t>> ends;  // where, begins, which
    for (uint32_t i = 0; i < marks.size(); ++i) {
      if (marks[i].bytes.empty()) continue;
      ends.emplace_back(marks[i].bytes.begin, true, i);
      ends.emplace_back(marks[i].bytes.end, false, i);
    }
    std::ranges::sort(ends);
    std::vector<ContentRange> found;
    OpenMarks open;
    Address from = 0;
    for (const auto& [at, begins, mark] : ends) {
      if (at > from && !Of(open, kTouched).empty()) Add({from, at}, open, &found);
      from = at;
      std::set<uint32_t>& of_kind = open[static_cast<size_t>(marks[mark].kind)];
      if (begins) of_kind.insert(mark);
      if (!begins) of_kind.erase(mark);
    }
    return found;
  }
  static const std::set<uint32_t>& Of(const OpenMarks& open, ContentMarkKind kind) {
    return open[static_cast<size_t>(kind)];
  }

  void Add(Range bytes, const OpenMarks& open, std::vector<ContentRange>* found) {
    ContentRange range = Judge(open);
    range.bytes = bytes;
    if (!found->empty() && range.Continues(found->back())) {
      found->back().bytes.end = bytes.end;
    } else {
      found->push_back(range);
    }
  }

  NodeId NodeOf(const OpenMarks& open, ContentMarkKind kind) const {
    const std::set<uint32_t>& of = Of(open, kind);
    return of.empty() ? NodeId() : NodeId(marks[*of.begin()].of);
  }

  ContentRange Judge(const OpenMarks& open) {
    const bool found = !Of(open, kFound).empty(), captured = Of(open, kOutside).empty();
    bool left = !Of(open, kLeft).empty();
    const auto& of_block = Of(open, found ? kFound : left ? kLeft : kTouched);
    ContentRange range{.bytes = {}, .block = marks[*of_block.begin()].block};
    const bool seen = trace.process.all_work || captured;
    if (found) {
      JudgeFound(open, UsesOf(open), seen, &range);
    } else {
      if (!captured) left = !seen || Of(open, kReads).empty();
      if (!captured || !Of(open, kWork).empty()) left = left || UsesOf(open).needed;
      range.what = left ? kOutput : kScratch;
    }
    const bool kept = range.what == kOutput || range.what == kState;
    if (anything && !kept && !(captured && range.what == kScratch)) {
      range.what = kUnknown;
      range.why = UnknownContent::kAnything;
    }
    range.restored = !Of(open, kRestored).empty();
    return range;
  }

  void JudgeFound(const OpenMarks& open, const ContentUses& uses, bool seen,
                  ContentRange* range) const {
    const NodeId unclear = NodeOf(open, kUnclear);
    const NodeId reads = NodeOf(open, kReads), wrote = NodeOf(open, kWrites);
    range->reader = reads.valid() ? reads : unclear;
    range->writer = wrote.valid() ? wrote : unclear;
    range->launch = uses.first;
    range->work = uses.last;
    const auto unknown = [&](UnknownContent why) {
      range->what = kUnknown;
      range->why = why;
    };
    if (!uses.needed && uses.finders > 1 && seen) {
      range->what = kInput;
    } else if (!reads.valid()) {
      unknown(UnknownContent::kKernel);
    } else if (wrote.valid() || uses.written) {
      range->what = kState;
    } else if (unclear.valid()) {
      unknown(UnknownContent::kKernel);
    } else if (uses.may_be_written) {
      unknown(UnknownContent::kWork);
    } else if (!seen) {
      unknown(UnknownContent::kUnseen);
    } else {
      range->what = kConstant;
    }
  }

  bool MayWriteBy(const ContentMark& mark, bool known) const {
    if (mark.mode == AccessMode::kUnknown) return !known || plain.Has(trace.works[mark.of].kernel);
    return mark.mode != AccessMode::kRead;
  }

  // The same for all bytes that the same graphs find and the same work uses.
  const ContentUses& UsesOf(const OpenMarks& open) {
    std::set<uint32_t> roots;
    for (const uint32_t mark : Of(open, kFound)) roots.insert(marks[mark].of);
    std::vector<uint64_t> key(roots.begin(), roots.end());
    for (const uint32_t i : Of(open, kWork)) {
      const ContentMark& mark = marks[i];
      key.push_back((uint64_t{mark.of} << 8 | uint64_t(mark.mode) << 1 | (mark.sure ? 1 : 0)) |
                    1ULL << 63);
    }
    const auto [at, is_new] = known_uses.try_emplace(std::move(key));
    if (is_new) at->second = FindUses(roots, Of(open, kWork));
    return at->second;
  }

  ContentUses FindUses(const std::set<uint32_t>& roots, const std::set<uint32_t>& works) const {
    ContentUses uses;
    std::vector<ContentUse> events;
    for (const uint32_t root : roots) {
      for (const uint32_t launch : facts.launches()[root]) {
        events.push_back({.seq = trace.launches[launch].seq, .index = launch, .reads = true});
        uses.first = std::min(uses.first, launch);
      }
    }
    uses.finders = events.size();
    const Seq since = trace.launches.empty() ? kNever
                      : uses.first == kNoUse ? trace.launches.front().seq
                                             : trace.launches[uses.first].seq;
    for (const uint32_t i : works) {
      const ContentMark& mark = marks[i];
      const Seq seq = trace.works[mark.of].seq;
      const bool reads = mark.mode != AccessMode::kWrite;
      events.push_back(
          {.seq = seq, .index = mark.of, .work = true, .reads = reads, .sure = mark.sure});
      if (!MayWriteBy(mark, false)) continue;
      uses.last = uses.last == kNoUse ? mark.of : std::max(uses.last, mark.of);
      uses.written = uses.written || (seq > since && MayWriteBy(mark, true));
      uses.may_be_written = uses.may_be_written || seq > since;
    }
    std::ranges::sort(events, {},
                      [](const ContentUse& use) { return std::tuple(use.seq, use.sure); });
    uses.needed = NeededAtSomeCut(events);
    return uses;
  }

  // From the last event to the first: what is still to be read before it is written.
  bool NeededAtSomeCut(std::span<const ContentUse> events) const {
    std::vector<ContentUse> readers;
    Seq next = kNever;
    for (size_t i = events.size(); i-- > 0; next = events[i].seq) {
      const ContentUse& event = events[i];
      if (!readers.empty() && LaunchIn(event.seq, next)) return true;
      const auto before = [&](const ContentUse& reader) { return Ordered(event, reader); };
      if (event.sure && std::ranges::all_of(readers, before)) readers.clear();
      if (event.reads) readers.push_back(event);
    }
    return !readers.empty() && LaunchIn(0, next);
  }

  bool LaunchIn(Seq from, Seq to) const {
    const auto at = std::ranges::lower_bound(trace.launches, from, {}, &Launch::seq);
    return at != trace.launches.end() && at->seq < to;
  }

  // True if work has surely ended when something later starts.
  bool Ordered(const ContentUse& work, const ContentUse& later) const {
    const StreamId other =
        later.work ? trace.works[later.index].stream : trace.launches[later.index].stream;
    return trace.works[work.index].stream.valid() && other.valid() &&
           facts.launch_order().Before({work.index, true}, {later.index, later.work});
  }

  const Facts& facts;
  const MarkerRule rule;
  const Ran& trace = facts.trace;
  const std::vector<bool> runs = GraphsThatRun(facts);
  const FirstWrites writes{facts};
  const KernelSet plain{facts.trace, TakesPlainPointers};
  const std::vector<bool>& backs = facts.lives().backs_segment;
  const StrayAccesses strays{facts, writes};
  const RestoredCopies copies = FindRestoredCopies(facts);
  std::vector<ContentMark> marks = {};
  std::vector<BlockId> written_first = {};
  bool anything = false;  // work or a node may touch any memory
  std::map<std::vector<uint64_t>, ContentUses> known_uses = {};
};

// A range as a row of its own.
ContentRow RowOf(const Ran& trace, const ContentRange& range) {
  const Block block = trace[range.block];
  const bool kept = range.what == ContentClass::kConstant || range.what == ContentClass::kInput;
  const bool written = kept && range.work != kNoUse && trace.works[range.work].stack.valid();
  const StackId stack = written ? trace.works[range.work].stack : block.stack;
  return {range.what, range.why, block.pool, StackTitle(trace, stack), written, range};
}

// Of the pools' free ranges what no graph touches.
Bytes IdleBytes(std::span<const ContentRange> ranges, std::span<const PoolBorrow> pools) {
  std::vector<Range> touched;
  for (const ContentRange& range : ranges) touched.push_back(range.bytes);
  Bytes idle = 0;
  for (const PoolBorrow& pool : pools) {
    for (const Range& free : pool.free) {
      const auto from = std::ranges::upper_bound(touched, free.begin, {}, &Range::end);
      std::vector<Range> left;
      Subtract(free, std::span<const Range>(from, touched.end()), &left);
      for (const Range& range : left) idle += range.size();
    }
  }
  return idle;
}

}  // namespace

std::vector<bool> GraphsThatRun(const Facts& facts) {
  std::vector<bool> runs;
  for (const std::vector<uint32_t>& launches : facts.launches()) runs.push_back(!launches.empty());
  for (const ExecGraph& of : facts.trace.exec_graphs) {
    if (of.graph.valid() && of.until == kNever) runs[of.graph.index()] = true;
  }
  return runs;
}

bool ContentRange::Continues(const ContentRange& before) const {
  ContentRange same = before;
  same.bytes = bytes;
  return before.bytes.end == bytes.begin && same == *this;
}

std::vector<ContentRange> FindContent(const Facts& facts, MarkerRule rule) {
  return ContentFinder{facts, rule}.Find();
}

std::vector<std::string_view> ClassesOfBlocks(const Ran& trace,
                                              std::span<const ContentRange> content) {
  std::vector<std::string_view> classes;
  for (const Block block : trace.blocks) {
    const Range own = AddressesOf(block);
    std::array<Bytes, 6> bytes = {};
    auto at = std::ranges::upper_bound(content, own.begin, {},
                                       [](const ContentRange& of) { return of.bytes.end; });
    for (; at != content.end() && at->bytes.begin < own.end; ++at)
      bytes[static_cast<size_t>(at->what)] += Common(at->bytes, own).size();
    const auto most = std::ranges::max_element(bytes);
    classes.push_back(*most == 0 ? "untouched" : NameOf(ContentClass(most - bytes.begin())));
  }
  return classes;
}

ContentBill BillContent(const Facts& facts, std::span<const ContentRange> ranges,
                        std::span<const PoolBorrow> pools, std::span<const PoolId> keep) {
  const Ran& trace = facts.trace;
  const auto kept = [&](PoolId pool) { return std::ranges::find(keep, pool) != keep.end(); };
  std::vector<PoolBorrow> others;
  std::ranges::copy_if(pools, std::back_inserter(others),
                       [&](const PoolBorrow& of) { return !kept(of.pool); });
  ContentBill bill{.idle = IdleBytes(ranges, others), .launches = trace.launches.size()};
  std::map<std::tuple<ContentClass, UnknownContent, PoolId, std::string, bool>, ContentRow> rows;
  for (const ContentRange& range : ranges) {
    const ContentRow own = RowOf(trace, range);
    bill.touched += range.bytes.size();
    if (kept(own.pool)) {
      bill.kept += range.bytes.size();
      continue;
    }
    ContentRow& row =
        rows.try_emplace({own.what, own.why, own.pool, own.line, own.written}, own).first->second;
    ++row.ranges;
    row.bytes += range.bytes.size();
    bill.bytes[static_cast<size_t>(range.what)] += range.bytes.size();
    const bool drops = range.what == ContentClass::kScratch || range.what == ContentClass::kInput;
    if (range.restored && drops) bill.restored_in_vain += range.bytes.size();
  }
  for (auto& [key, row] : rows) bill.rows.push_back(std::move(row));
  std::ranges::stable_sort(bill.rows, [](const ContentRow& a, const ContentRow& b) {
    return std::tuple(a.what, b.bytes) < std::tuple(b.what, a.bytes);
  });
  const std::vector<bool> runs = GraphsThatRun(facts);
  bill.graphs = static_cast<uint64_t>(std::ranges::count(runs, true));
  return bill;
}

}  // namespace graphkit
