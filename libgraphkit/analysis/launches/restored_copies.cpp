#include "libgraphkit/analysis/launches/restored_copies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "libgraphkit/interval_map.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

// Work that copies some bytes, all of which are known.
struct PlainCopy {
  Range from, to;
  BlockId source, target;  // that hold the first bytes
};

// A node's or work's access.
struct CopyUse {
  Seq seq = 0;             // of work
  uint32_t work = kNoUse;  // of them; none: a node's
  GraphId root = {};       // of a node
  bool reads = true, writes = true;
};

struct RestoreFinder {
  RestoredCopies Find() {
    RestoredCopies found{std::vector<bool>(trace.works.size()),
                         std::vector<bool>(trace.works.size())};
    if (!FindWakes()) return found;
    FindUses();
    // The last copy between two places, either way: by what it has in the first, and in the other.
    std::map<std::tuple<Address, Address, Bytes, BlockId>, uint32_t> last;
    std::vector<std::pair<uint32_t, uint32_t>> saved;  // the work that saved, and that brought back
    for (uint32_t i = 0; i < trace.works.size(); ++i) {
      const std::optional<PlainCopy> copy = CopyOf(trace.works[i]);
      if (!copy) continue;
      const Bytes size = copy->to.size();
      const std::tuple back(copy->to.begin, copy->from.begin, size, copy->source);
      if (const auto before = last.find(back); before != last.end()) {
        found.restores[i] = Restores(*copy, before->second, i);
        if (found.restores[i] && CopyOf(trace.works[before->second])->from == copy->to)
          saved.emplace_back(before->second, i);
      }
      last[back] = i;
      last[{copy->from.begin, copy->to.begin, size, copy->target}] = i;
    }
    for (const auto& [save, restore] : saved)
      found.saves[save] = OnlyRestored(CopyOf(trace.works[save])->to, save, found.restores);
    return found;
  }

  // Where new memory was mapped; false: nothing was ever unmapped.
  bool FindWakes() {
    bool unmapped = false;
    for (const Block block : trace.blocks) {
      if (block.mapped && !block.same_as.valid()) wakes.Add(AddressesOf(block), block.allocated);
      unmapped = unmapped || (block.mapped && block.freed());
    }
    wakes.Sort();
    return unmapped;
  }
  bool WokeIn(Range bytes, Interval<Seq> time) const {
    bool woke = false;
    wakes.Visit(bytes, [&](Range, Seq at) { woke = woke || time.contains(at); });
    return woke;
  }

  std::optional<PlainCopy> CopyOf(const EagerWork& work) const {
    if (work.kind != NodeKind::kMemcpy) return {};
    std::vector<Range> from, to;
    PlainCopy copy;
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      const bool reads = access.mode == AccessMode::kRead;
      if (!reads && access.mode != AccessMode::kWrite) return {};
      if (access.length == kLengthUnknown || access.rows != AccessRows()) return {};
      BlockId& first = reads ? copy.source : copy.target;
      if (!first.valid()) first = access.block;
      const Address begin = trace[access.block].address + access.offset;
      (reads ? from : to).push_back({begin, begin + access.length});
    }
    from = Union(std::move(from)), to = Union(std::move(to));
    if (from.size() != 1 || to.size() != 1 || from[0].size() != to[0].size()) return {};
    copy.from = from[0], copy.to = to[0];
    return copy;
  }

  void FindUses() {
    for (uint32_t i = 0; i < trace.works.size(); ++i) {
      const EagerWork& work = trace.works[i];
      for (const Access& access : trace.accesses.Of(work.accesses)) Add(access, {work.seq, i});
      if (work.kind == NodeKind::kKernel && !work.accesses_complete) unclear.push_back(work.seq);
    }
    for (const NodeId id : trace.graph_nodes) {
      const Node& node = trace[id];
      const GraphId root = facts.RootOf(id);
      for (const Access& access : trace.accesses.Of(node.accesses)) Add(access, {.root = root});
      if (!MayTouchAnything(trace, id)) continue;
      for (const uint32_t launch : facts.launches()[root.index()])
        unclear.push_back(trace.launches[launch].seq);
    }
    for (const auto& [i, launch] : Enumerate(trace.launches)) {
      if (!facts.ran()[i].valid()) unclear.push_back(launch.seq);
    }
    std::ranges::sort(unclear);
    uses.Sort();
  }
  void Add(const Access& access, CopyUse use) {
    if (access.block.index() >= trace.blocks.size()) return;
    use.reads = access.mode != AccessMode::kWrite;
    use.writes = access.mode != AccessMode::kRead;
    uses.Add(AddressesOf(access, trace[access.block]), use);
  }

  bool Restores(const PlainCopy& copy, uint32_t before, uint32_t work) const {
    const Interval<Seq> time{trace.works[before].seq + 1, trace.works[work].seq};
    const auto first = std::ranges::lower_bound(unclear, time.begin);
    if (first != unclear.end() && *first < time.end) return false;
    return WokeIn(copy.to, time) && !WokeIn(copy.from, time) && !WrittenIn(copy.to, time) &&
           !WrittenIn(copy.from, time) && Leads(work, copy.to);
  }
  // True if the copy has surely ended when anything later uses its bytes. Of launches of one graph
  // on one stream the first is asked.
  bool Leads(uint32_t work, Range bytes) const {
    const Seq at = trace.works[work].seq;
    bool leads = true;
    std::set<std::pair<GraphId, StreamId>> asked;
    const auto ask = [&](StreamId stream, Submission later) {
      leads = leads && stream.valid() && facts.launch_order().Before({work, true}, later);
    };
    uses.Visit(bytes, [&](Range, const CopyUse& use) {
      if (use.work != kNoUse && use.seq > at) ask(trace.works[use.work].stream, {use.work, true});
      if (use.work != kNoUse) return;
      for (const uint32_t launch : LaunchesAfter(facts, use.root, at)) {
        const StreamId stream = trace.launches[launch].stream;
        if (asked.emplace(use.root, stream).second) ask(stream, {launch, false});
      }
    });
    return leads && trace.works[work].stream.valid();
  }
  bool WrittenIn(Range bytes, Interval<Seq> time) const {
    bool written = false;
    uses.Visit(bytes, [&](Range, const CopyUse& use) {
      written = written || (use.writes && RanIn(use, time));
    });
    return written;
  }
  bool RanIn(const CopyUse& use, Interval<Seq> time) const {
    if (use.work != kNoUse) return time.contains(use.seq);
    const std::span<const uint32_t> launches = LaunchesAfter(facts, use.root, time.begin - 1);
    return !launches.empty() && trace.launches[launches[0]].seq < time.end;
  }

  // From a save on, until the same work or another writes there again.
  bool OnlyRestored(Range copy, uint32_t save, const std::vector<bool>& restores) const {
    Seq end = kNever;
    const Seq begin = trace.works[save].seq;
    uses.Visit(copy, [&](Range, const CopyUse& use) {
      if (use.work != kNoUse && use.writes && use.seq > begin) end = std::min(end, use.seq);
    });
    bool only = true;
    uses.Visit(copy, [&](Range, const CopyUse& use) {
      const bool brings_back = use.work != kNoUse && restores[use.work];
      only = only && (!use.reads || brings_back || !RanIn(use, {begin + 1, end}));
    });
    return only;
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  RangeIndex<Seq> wakes = {};  // when
  RangeIndex<CopyUse> uses = {};
  std::vector<Seq> unclear = {};  // where anything may be written; in their order
};

}  // namespace

RestoredCopies FindRestoredCopies(const Facts& facts) { return RestoreFinder{facts}.Find(); }

}  // namespace graphkit
