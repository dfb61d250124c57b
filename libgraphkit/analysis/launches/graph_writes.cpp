#include "libgraphkit/analysis/launches/graph_writes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/first_writes.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {
namespace {

// Of bytes of a graph's block, the first node that writes them.
struct Written {
  Interval<Address> bytes;
  BlockId block;
  GraphId graph;
  NodeId node;
  bool sure = true;
};

// Memory used outside of graphs: by what, and where.
struct WorkUse {
  BlockId block;
  uint32_t work = kNoUse;
  AccessMode mode = AccessMode::kUnknown;
  Interval<Address> bytes;
  bool sure = true;
  Interval<Address> whole = bytes;  // of a copy that runs over several blocks
};

struct OverwriteFinder {
  std::vector<Overwrite> FindAll() {
    FindUses();
    FindUnused();
    if (all_uses.empty() && unused.empty()) return {};
    FindWritten();
    if (all_written.empty()) return {};
    for (auto from = all_uses.begin(); from != all_uses.end();) {
      const auto to = std::ranges::find_if(
          from, all_uses.end(), [&](const WorkUse& use) { return use.block != from->block; });
      Judge(from->block, {from, to});
      from = to;
    }
    for (const BlockId block : unused) Judge(block, {});
    return std::move(overwrites);
  }

  static constexpr Nanoseconds kClockError = 100'000;  // of a snapshot's times beside the tracer's
  static constexpr size_t kMostLoose = 1000;           // uses of no block that are looked at
  static constexpr size_t kMostPairs = 10'000'000;     // of uses and blocks in their place

  Seq SeqOf(uint32_t work) const { return trace.works[work].seq; }

  void Widen(Interval<Address> used) {
    in_use = {std::min(in_use.begin, used.begin), std::max(in_use.end, used.end)};
  }

  // Accesses of a copy, one where the other ended, are one.
  static void JoinParts(std::span<WorkUse> uses) {
    const auto goes_on = [&](size_t i) {
      return uses[i - 1].mode == uses[i].mode && uses[i - 1].bytes.end == uses[i].bytes.begin;
    };
    for (size_t i = 1; i < uses.size(); ++i)
      if (goes_on(i)) uses[i].whole.begin = uses[i - 1].whole.begin;
    for (size_t i = uses.size(); i-- > 1;)
      if (goes_on(i)) uses[i - 1].whole.end = uses[i].whole.end;
  }

  void FindUses() {
    for (uint32_t i = 0; i < trace.works.size(); ++i) {
      const size_t first = all_uses.size();
      for (const Access& access : trace.accesses.Of(trace.works[i].accesses)) {
        const Interval<Address> bytes = AddressesOf(access, trace[access.block]);
        if (bytes.empty()) continue;
        all_uses.push_back({access.block, i, access.mode, bytes,
                            SureAccess(trace, trace.works[i].kernel, access)});
        Widen(bytes);
      }
      if (trace.works[i].kind == NodeKind::kMemcpy) JoinParts(std::span(all_uses).subspan(first));
    }
    std::ranges::stable_sort(all_uses, {}, &WorkUse::block);
  }

  // Blocks allocated outside of captures in pools that graphs allocate from, and not used by
  // what is recorded.
  void FindUnused() {
    std::vector<bool> of_graphs(trace.pools.size());
    Seq first = kNever;
    for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
      if (launches[graph].empty()) continue;
      for (const BlockId block : facts.blocks()[graph]) {
        first = std::min(first, trace[block].allocated);
        if (trace[block].pool.valid()) of_graphs[trace[block].pool.index()] = true;
      }
    }
    if (first == kNever) return;
    const auto begin = std::ranges::upper_bound(trace.blocks, first, {}, &Block::allocated);
    for (auto block = begin; block != trace.blocks.end(); ++block) {
      const BlockId id(static_cast<size_t>(block - trace.blocks.begin()));
      const bool of_pool = block->pool.valid() && of_graphs[block->pool.index()];
      if (!of_pool || block->graph.valid() || !facts.lives().Touches(id).empty()) continue;
      if (std::ranges::binary_search(all_uses, id, {}, &WorkUse::block)) continue;
      unused.push_back(id);
      Widen(AddressesOf(*block));
    }
  }

  void FindWritten() {
    for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
      if (launches[graph].empty()) continue;
      for (const BlockId id : facts.blocks()[graph]) {
        const Interval<Address> bytes = AddressesOf(trace[id]);
        if (bytes.end <= in_use.begin || bytes.begin >= in_use.end) continue;
        std::vector<Interval<Bytes>> fresh = {{0, trace[id].size}};
        for (const bool sure : {true, false}) AddWritten(id, GraphId(graph), sure, &fresh);
      }
    }
    all_written.Sort();
  }

  // Of a block the bytes that the graph's nodes write, or may: each with the first node, of those
  // that surely touch it if there are any.
  void AddWritten(BlockId id, GraphId graph, bool sure, std::vector<Interval<Bytes>>* left) {
    const Block& block = trace[id];
    ForEachAccess(trace, facts.lives(), id, [&](NodeId node, const Access& access) {
      const bool own = facts.RootOf(node) == graph;
      if (!own || access.mode == AccessMode::kRead || left->empty()) return;
      if (SureAccess(trace, trace[node].kernel, access) != sure) return;
      const Interval<Bytes> bytes = BytesOf(access, block.size);
      for (const Interval<Bytes>& part : *left) {
        const auto [begin, end] = Common(part, bytes);
        const Interval<Address> both{block.address + begin, block.address + end};
        all_written.Add(both, {both, id, graph, node, sure});
      }
      TakeOut(bytes, left);
    });
  }

  bool SegmentLives(const Block& block, Seq at) const {
    return block.segment.valid() && trace[block.segment].freed > at;
  }

  void Judge(BlockId id, std::span<const WorkUse> uses) {
    const Block& block = trace[id];
    std::vector<Written> over;  // other blocks in its place
    bool backs = false;
    all_written.Visit(AddressesOf(block), [&](Interval<Address>, const Written& written) {
      if (written.block == id) return;
      backs |= !block.segment.valid() && SegmentLives(trace[written.block], block.allocated);
      over.push_back(written);
    });
    if (over.empty()) return;
    if (backs) return JudgeLoose(uses);
    const std::vector<OwnWrite> own = OwnWrites(id);
    std::erase_if(over, [&](const Written& written) {
      return std::ranges::find(own, written.graph, &OwnWrite::graph) != own.end();
    });
    if (uses.empty()) return JudgeUnused(id, over);
    for (size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].mode == AccessMode::kWrite) continue;
      const auto freed = uses[i].whole != AddressesOf(block) ? FreedThere(uses[i]) : std::nullopt;
      if (freed && IsOf(uses[i], *freed, own)) {
        if (++loose <= kMostLoose) Add(*freed);
        continue;
      }
      for (const Written& written : over) {
        if (++pairs > kMostPairs) return;
        JudgeUse(uses, i, written, own);
      }
    }
  }

  // Bytes of a block that a launched graph writes as such.
  struct OwnWrite {
    GraphId graph;
    Interval<Address> bytes;
    bool operator==(const OwnWrite&) const = default;
  };

  // The bytes used were there before the launch, and aren't put there anew after it.
  void JudgeUse(std::span<const WorkUse> uses, size_t i, const Written& written,
                std::span<const OwnWrite> own) {
    const WorkUse& use = uses[i];
    const auto launch = LaunchBefore(facts, written.graph, SeqOf(use.work));
    if (!launch) return;
    const Seq wrote = trace.launches[*launch].seq;
    std::vector<Interval<Address>> left = {Common(use.bytes, written.bytes)};
    if (left[0].empty() || wrote <= trace[use.block].allocated) return;
    size_t j = i;
    for (; j > 0 && SeqOf(uses[j - 1].work) > wrote && !left.empty(); --j, ++pairs) {
      if (uses[j - 1].work != use.work) TakeOut(uses[j - 1].bytes, &left);
    }
    bool there = false;
    for (const OwnWrite& one : own) {
      const auto last = LaunchBefore(facts, one.graph, SeqOf(use.work));
      if (!last) continue;
      if (trace.launches[*last].seq > wrote) TakeOut(one.bytes, &left);
      there = there || Meets(left, one.bytes);
    }
    if (left.empty()) return;
    for (; j > 0 && !Meets(left, uses[j - 1].bytes); --j) ++pairs;
    if (j == 0 && !there) return;
    Add({.used = use.block,
         .own = written.block,
         .node = written.node,
         .graph = written.graph,
         .launch = *launch,
         .before = j > 0 ? uses[j - 1].work : kNoUse,
         .after = use.work,
         .mode = use.mode,
         .sure = use.sure && written.sure});
  }
  static bool Meets(std::span<const Interval<Address>> ranges, Interval<Address> bytes) {
    return std::ranges::any_of(ranges, [&](const auto& range) { return Overlaps(range, bytes); });
  }

  std::vector<OwnWrite> OwnWrites(BlockId id) const {
    std::vector<OwnWrite> writes;
    ForEachAccess(trace, facts.lives(), id, [&](NodeId node, const Access& access) {
      const GraphId root = facts.RootOf(node);
      if (access.mode == AccessMode::kRead || launches[root.index()].empty()) return;
      const OwnWrite write{root, AddressesOf(access, trace[id])};
      if (std::ranges::find(writes, write) == writes.end()) writes.push_back(write);
    });
    return writes;
  }

  void JudgeUnused(BlockId id, const std::vector<Written>& over) {
    if (trace[id].graph.valid()) return;
    for (const Written& written : over) {
      const auto launch = LaunchBefore(facts, written.graph, trace[id].free_requested);
      if (!launch || trace.launches[*launch].seq < trace[id].allocated) continue;
      return Add({.used = id,
                  .own = written.block,
                  .node = written.node,
                  .graph = written.graph,
                  .launch = *launch});
    }
  }

  // Uses of a segment where no block was handed out.
  void JudgeLoose(std::span<const WorkUse> uses) {
    for (const WorkUse& use : uses) {
      if (loose >= kMostLoose) return;
      const auto freed = FreedThere(use);
      loose += freed.has_value();
      if (freed && !MayBeHandedOut(use, *freed)) Add(*freed);
    }
  }

  // The freed block of a graph where the use begins, of the launch that wrote there last.
  std::optional<Overwrite> FreedThere(const WorkUse& use) {
    const Seq at = SeqOf(use.work);
    std::optional<Overwrite> found;
    std::tuple<bool, std::optional<uint32_t>, bool, NodeId> last;  // sure, its launch, its place
    const Interval<Address> first{use.whole.begin, use.whole.begin + 1};
    all_written.Visit(first, [&](Interval<Address>, const Written& written) {
      const Block& own = trace[written.block];
      ++pairs;
      const bool gone = own.freed() && own.free_completed <= at && written.block != use.block;
      if (!gone || !SegmentLives(own, at)) return;
      const auto launch = LaunchBefore(facts, written.graph, at);
      const bool begins = own.address == use.whole.begin;
      const std::tuple wrote{written.sure || begins, launch, begins, written.node};
      if (found && wrote < last) return;
      last = wrote;
      found = Overwrite{.own = written.block,
                        .node = written.node,
                        .graph = written.graph,
                        .launch = launch.value_or(launches[written.graph.index()].front()),
                        .after = use.work,
                        .mode = use.mode,
                        .sure = use.sure && written.sure};
    });
    return found;
  }

  // True if the bytes are those of a freed block, not of the one that lies there by now, and what
  // its graph's launch left in it: the program kept its address.
  bool IsOf(const WorkUse& use, const Overwrite& freed, std::span<const OwnWrite> own) const {
    const Interval<Address> then = AddressesOf(trace[freed.own]);
    const Address end = AddressesOf(trace[use.block]).end;
    const bool ends = use.whole != use.bytes ? use.whole.end <= then.end
                                             : use.bytes.end == end || use.bytes.end == then.end;
    return use.whole.begin == then.begin && ends &&
           trace.launches[freed.launch].seq < SeqOf(use.work) &&
           std::ranges::none_of(own, [&](const OwnWrite& one) {
             return LaunchBefore(facts, one.graph, SeqOf(use.work)) > freed.launch;
           });
  }

  // True if a block of the segment lay there, as far as the clocks of both sources tell; or one
  // that the graph reads before it writes there: an input, whose memory its capture used again.
  bool MayBeHandedOut(const WorkUse& use, const Overwrite& freed) {
    const Seq seq = SeqOf(use.work);
    const Nanoseconds at = TimeAt(trace, seq);
    if (in_segment.empty()) {
      for (size_t i = 0; i < trace.blocks.size(); ++i)
        in_segment[trace.blocks[i].segment].emplace_back(i);
    }
    const auto reads = [&](NodeId node) {
      return node < freed.node && facts.RootOf(node) == freed.graph;
    };
    return std::ranges::any_of(in_segment[trace[freed.own].segment], [&](BlockId of_segment) {
      const Block& block = trace[of_segment];
      if (!AddressesOf(block).contains(use.bytes.begin)) return false;
      if (block.allocated < seq && seq < block.free_completed) return true;
      if (use.mode == AccessMode::kWrite && !block.graph &&
          std::ranges::any_of(facts.lives().Touches(of_segment), reads))
        return true;
      return at != 0 && (Near(block.allocated, at) || Near(block.free_completed, at));
    });
  }

  bool Near(Seq seq, Nanoseconds at) const {
    const Nanoseconds time = TimeAt(trace, seq);
    return time != 0 && std::max(time, at) - std::min(time, at) < kClockError;
  }

  // Of what is used the worst by each graph.
  void Add(const Overwrite& overwrite) {
    for (size_t i = overwrites.size(); overwrite.used.valid() && i-- > 0;) {
      Overwrite& known = overwrites[i];
      if (known.used != overwrite.used) break;
      if (known.graph != overwrite.graph) continue;
      const bool worse = known.mode == AccessMode::kUnknown && known.sure <= overwrite.sure;
      if (worse || known.sure < overwrite.sure) known = overwrite;
      return;
    }
    overwrites.push_back(overwrite);
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  const std::vector<std::vector<uint32_t>>& launches = facts.launches();  // by graph
  std::vector<WorkUse> all_uses = {};                                     // by block, then in order
  std::vector<BlockId> unused = {};
  RangeIndex<Written> all_written = {};
  Interval<Address> in_use{~Address{0}, 0};  // from the lowest to the highest
  std::unordered_map<SegmentId, std::vector<BlockId>> in_segment = {};
  size_t loose = 0, pairs = 0;
  std::vector<Overwrite> overwrites = {};
};

}  // namespace

std::vector<Overwrite> FindOverwrites(const Facts& facts) {
  if (facts.trace.launches.empty()) return {};
  return OverwriteFinder{facts}.FindAll();
}

}  // namespace graphkit
