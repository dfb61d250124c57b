#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/memory/first_writes.h"

namespace graphkit {
namespace {

// Bytes of a graph's block, and the first node that writes them.
struct Written {
  Address begin = 0;
  Address end = 0;
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
  Address begin = 0;
  Address end = 0;
  bool sure = true;
};

class OverwriteFinder {
 public:
  explicit OverwriteFinder(const Facts& facts)
      : facts_(facts), trace_(facts.trace), launches_(facts.launches()) {}

  std::vector<Overwrite> FindAll() {
    FindUses();
    FindUnused();
    if (uses_.empty() && unused_.empty()) return {};
    FindWritten();
    if (written_.empty()) return {};
    for (auto from = uses_.begin(); from != uses_.end();) {
      const auto to = std::ranges::find_if(
          from, uses_.end(), [&](const WorkUse& use) { return use.block != from->block; });
      Judge(from->block, {from, to});
      from = to;
    }
    for (const BlockId block : unused_) Judge(block, {});
    return std::move(found_);
  }

 private:
  static constexpr Nanoseconds kClockError = 100'000;  // of a snapshot's times beside the tracer's
  static constexpr size_t kMostLoose = 1000;           // uses of no block that are looked at
  static constexpr size_t kMostPairs = 10'000'000;     // of uses and blocks in their place

  Seq SeqOf(uint32_t work) const { return trace_.works[work].seq; }

  void Widen(Address begin, Address end) {
    lowest_ = std::min(lowest_, begin);
    highest_ = std::max(highest_, end);
  }

  void FindUses() {
    for (uint32_t i = 0; i < trace_.works.size(); ++i) {
      for (const Access& access : trace_.accesses.Of(trace_.works[i].accesses)) {
        const Block& block = trace_[access.block];
        const Interval<Bytes> bytes = BytesOf(access, block.size);
        if (bytes.empty()) continue;
        const Address begin = block.address + bytes.begin, end = block.address + bytes.end;
        uses_.push_back({access.block, i, access.mode, begin, end,
                         SureAccess(trace_, trace_.works[i].kernel, access)});
        Widen(begin, end);
      }
    }
    std::ranges::stable_sort(uses_, {}, &WorkUse::block);
  }

  // Blocks allocated outside of captures in pools that graphs allocate from, and not used by
  // what is recorded.
  void FindUnused() {
    std::vector<bool> of_graphs(trace_.pools.size());
    Seq first = kNever;
    for (size_t graph = 0; graph < facts_.blocks().size(); ++graph) {
      if (launches_[graph].empty()) continue;
      for (const BlockId block : facts_.blocks()[graph]) {
        first = std::min(first, trace_[block].allocated);
        if (trace_[block].pool.valid()) of_graphs[trace_[block].pool.index()] = true;
      }
    }
    if (first == kNever) return;
    const auto begin = std::ranges::upper_bound(trace_.blocks, first, {}, &Block::allocated);
    for (auto block = begin; block != trace_.blocks.end(); ++block) {
      const BlockId id(static_cast<size_t>(block - trace_.blocks.begin()));
      const bool of_pool = block->pool.valid() && of_graphs[block->pool.index()];
      if (!of_pool || block->graph.valid() || !facts_.lives().Touches(id).empty()) continue;
      if (std::ranges::binary_search(uses_, id, {}, &WorkUse::block)) continue;
      unused_.push_back(id);
      Widen(block->address, block->address + block->size);
    }
  }

  void FindWritten() {
    for (size_t graph = 0; graph < facts_.blocks().size(); ++graph) {
      if (launches_[graph].empty()) continue;
      for (const BlockId id : facts_.blocks()[graph]) {
        const Block& block = trace_[id];
        if (block.address + block.size <= lowest_ || block.address >= highest_) continue;
        AddWritten(id, GraphId(graph));
      }
    }
    std::ranges::stable_sort(written_, {}, &Written::begin);
  }

  // Of a block the bytes that the graph's nodes write, or may: each with the first node, of those
  // that surely touch it if there are any.
  void AddWritten(BlockId id, GraphId graph) {
    std::vector<Interval<Bytes>> fresh = {{0, trace_[id].size}};
    for (const bool sure : {true, false}) AddWritten(id, graph, sure, &fresh);
  }
  void AddWritten(BlockId id, GraphId graph, bool sure, std::vector<Interval<Bytes>>* left) {
    const Block& block = trace_[id];
    std::vector<Interval<Bytes>>& fresh = *left;
    ForEachAccess(trace_, facts_.lives(), id, [&](NodeId node, const Access& access) {
      const bool own = facts_.roots()[trace_[node].graph.index()] == graph;
      if (!own || access.mode == AccessMode::kRead || fresh.empty()) return;
      if (SureAccess(trace_, trace_[node].kernel, access) != sure) return;
      const Interval<Bytes> bytes = BytesOf(access, block.size);
      for (const Interval<Bytes>& part : fresh) {
        const Interval<Bytes> both{std::max(part.begin, bytes.begin),
                                   std::min(part.end, bytes.end)};
        if (both.empty()) continue;
        written_.push_back(
            {block.address + both.begin, block.address + both.end, id, graph, node, sure});
        longest_ = std::max(longest_, both.size());
      }
      TakeOut(bytes, &fresh);
    });
  }

  template <typename Visit>
  void ForEachWritten(Address begin, Address end, Visit visit) const {
    const Address from = begin - std::min(begin, longest_);
    auto at = std::ranges::lower_bound(written_, from, {}, &Written::begin);
    for (; at != written_.end() && at->begin < end; ++at) {
      if (at->end > begin) visit(*at);
    }
  }

  bool SegmentLives(const Block& block, Seq at) const {
    return block.segment.valid() && trace_[block.segment].freed > at;
  }

  // The launch that wrote memory last before a place; none: no launch did.
  std::optional<uint32_t> LastLaunch(GraphId graph, Seq before) const {
    const auto& of_graph = launches_[graph.index()];
    const auto next = std::ranges::lower_bound(
        of_graph, before, {}, [&](uint32_t launch) { return trace_.launches[launch].seq; });
    if (next == of_graph.begin()) return std::nullopt;
    return *std::prev(next);
  }

  void Judge(BlockId id, std::span<const WorkUse> uses) {
    const Block& block = trace_[id];
    std::vector<Written> over;  // other blocks in its place
    bool backs = false;
    ForEachWritten(block.address, block.address + block.size, [&](const Written& written) {
      if (written.block == id) return;
      backs =
          backs || (!block.segment.valid() && SegmentLives(trace_[written.block], block.allocated));
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
      for (const Written& written : over) {
        if (++pairs_ > kMostPairs) return;
        JudgeUse(uses, i, written, own);
      }
    }
  }

  // Bytes of a block that a launched graph writes as such.
  struct OwnWrite {
    GraphId graph;
    Interval<Address> bytes;
  };

  // The bytes used were there before the launch, and aren't put there anew after it.
  void JudgeUse(std::span<const WorkUse> uses, size_t i, const Written& written,
                std::span<const OwnWrite> own) {
    const WorkUse& use = uses[i];
    const auto launch = LastLaunch(written.graph, SeqOf(use.work));
    if (!launch) return;
    const Seq wrote = trace_.launches[*launch].seq;
    std::vector<Interval<Address>> left = {
        {std::max(use.begin, written.begin), std::min(use.end, written.end)}};
    if (left[0].empty() || wrote <= trace_[use.block].allocated) return;
    size_t j = i;
    for (; j > 0 && SeqOf(uses[j - 1].work) > wrote && !left.empty(); --j, ++pairs_) {
      if (uses[j - 1].work != use.work) TakeOut({uses[j - 1].begin, uses[j - 1].end}, &left);
    }
    bool there = false;
    for (const OwnWrite& one : own) {
      const auto last = LastLaunch(one.graph, SeqOf(use.work));
      if (!last) continue;
      if (trace_.launches[*last].seq > wrote) TakeOut(one.bytes, &left);
      there = there || Meets(left, one.bytes);
    }
    if (left.empty()) return;
    for (; j > 0 && !Meets(left, {uses[j - 1].begin, uses[j - 1].end}); --j) ++pairs_;
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
    const Block& block = trace_[id];
    std::vector<OwnWrite> writes;
    ForEachAccess(trace_, facts_.lives(), id, [&](NodeId node, const Access& access) {
      const GraphId root = facts_.roots()[trace_[node].graph.index()];
      if (access.mode == AccessMode::kRead || launches_[root.index()].empty()) return;
      const Interval<Bytes> bytes = BytesOf(access, block.size);
      const OwnWrite write{root, {block.address + bytes.begin, block.address + bytes.end}};
      const auto same = [&](const OwnWrite& other) {
        return other.graph == root && other.bytes == write.bytes;
      };
      if (std::ranges::none_of(writes, same)) writes.push_back(write);
    });
    return writes;
  }

  void JudgeUnused(BlockId id, const std::vector<Written>& over) {
    if (trace_[id].graph.valid()) return;
    for (const Written& written : over) {
      const auto launch = LastLaunch(written.graph, trace_[id].free_requested);
      if (!launch || trace_.launches[*launch].seq < trace_[id].allocated) continue;
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
      if (loose_ == kMostLoose) return;
      const Seq at = SeqOf(use.work);
      std::optional<Overwrite> found;
      ForEachWritten(use.begin, use.begin + 1, [&](const Written& written) {
        const Block& own = trace_[written.block];
        if (!own.freed() || own.free_completed > at || !SegmentLives(own, at)) return;
        const auto last = LastLaunch(written.graph, at);
        found = Overwrite{.own = written.block,
                          .node = written.node,
                          .graph = written.graph,
                          .launch = last.value_or(launches_[written.graph.index()].front()),
                          .after = use.work,
                          .mode = use.mode,
                          .sure = use.sure && written.sure};
      });
      if (!found) continue;
      ++loose_;
      if (!MayBeHandedOut(use, trace_[found->own].segment)) Add(*found);
    }
  }

  // True if a block of the segment lay there, as far as the clocks of both sources tell.
  bool MayBeHandedOut(const WorkUse& use, SegmentId segment) {
    const Nanoseconds at = TimeAt(trace_, SeqOf(use.work));
    if (in_segment_.empty()) {
      for (size_t i = 0; i < trace_.blocks.size(); ++i) {
        in_segment_[trace_.blocks[i].segment].emplace_back(i);
      }
    }
    return std::ranges::any_of(in_segment_[segment], [&](BlockId of_segment) {
      const Block& block = trace_[of_segment];
      if (use.begin < block.address || use.begin >= block.address + block.size) return false;
      const Seq seq = SeqOf(use.work);
      if (block.allocated < seq && seq < block.free_completed) return true;
      return at != 0 && (Near(block.allocated, at) || Near(block.free_completed, at));
    });
  }

  bool Near(Seq seq, Nanoseconds at) const {
    const Nanoseconds time = TimeAt(trace_, seq);
    return time != 0 && std::max(time, at) - std::min(time, at) < kClockError;
  }

  // Of what is used the worst by each graph.
  void Add(const Overwrite& overwrite) {
    for (size_t i = found_.size(); overwrite.used.valid() && i-- > 0;) {
      Overwrite& known = found_[i];
      if (known.used != overwrite.used) break;
      if (known.graph != overwrite.graph) continue;
      const bool worse = known.mode == AccessMode::kUnknown && known.sure <= overwrite.sure;
      if (worse || known.sure < overwrite.sure) known = overwrite;
      return;
    }
    found_.push_back(overwrite);
  }

  const Facts& facts_;
  const Trace& trace_;
  const std::vector<std::vector<uint32_t>>& launches_;  // by graph
  std::vector<WorkUse> uses_;                           // by block, then in order
  std::vector<BlockId> unused_;
  std::vector<Written> written_;  // by where it begins
  Bytes longest_ = 0;
  Address lowest_ = ~Address{0}, highest_ = 0;  // of what is used
  std::unordered_map<SegmentId, std::vector<BlockId>> in_segment_;
  size_t loose_ = 0, pairs_ = 0;
  std::vector<Overwrite> found_;
};

}  // namespace

std::vector<Overwrite> FindOverwrites(const Facts& facts) {
  if (facts.trace.launches.empty()) return {};
  return OverwriteFinder(facts).FindAll();
}

}  // namespace graphkit
