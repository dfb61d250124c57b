#include "libgraphkit/analysis/checks/staging.h"

#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Another transfer that used the memory of a captured copy, and the launch after it.
struct OtherTransfer {
  uint32_t work = 0;
  uint32_t launch = 0;
  bool writes = false;  // the memory; else it reads it
  BlockId to = {};      // that it sends to
  bool same_bytes = true;
};

struct StagingFinder {
  std::vector<Finding> FindAll() {
    for (uint32_t i = 0; i < trace.works.size(); ++i) {
      if (trace.works[i].kind != NodeKind::kMemcpy) continue;
      for (const Access& access : trace.accesses.Of(trace.works[i].accesses)) {
        if (KindOf(trace, trace[access.block].pool) != PoolKind::kHost) continue;
        std::vector<uint32_t>& of_block = works[access.block];
        if (of_block.empty() || of_block.back() != i) of_block.push_back(i);
      }
    }
    for (const auto& [block, users] : works) {
      const std::span<const NodeId> touches = facts.lives().Touches(block);
      const auto writes = [&, block = block](NodeId node) { return Writes(node, block); };
      if (std::ranges::any_of(touches, writes)) continue;  // graphs may fill it for both
      for (const NodeId node : touches) {
        if (Copies(node)) Judge(node, block, users);
      }
    }
    return TakeValues(&found);
  }

  bool Writes(NodeId node, BlockId block) const {
    return std::ranges::any_of(trace.accesses.Of(trace[node].accesses), [&](const Access& access) {
      return access.block == block && access.mode != AccessMode::kRead;
    });
  }
  bool Copies(NodeId node) const {
    const ChangedNode* changed = FindChanged(trace, node);
    return trace[node].kind == NodeKind::kMemcpy && trace.graph_nodes.Has(node) &&
           (changed == nullptr || !changed->varies);
  }

  // The bytes of the block that it reads, all in one piece; empty: none.
  Interval<Bytes> ReadBy(Slice accesses, BlockId block) const {
    for (const Access& access : trace.accesses.Of(accesses)) {
      const bool plain = access.length != kLengthUnknown && access.rows == AccessRows();
      if (access.block == block && access.mode == AccessMode::kRead && plain)
        return BytesOf(access, trace[block].size);
    }
    return {};
  }

  // The last place in between where other bytes of the block were seen; 0: none.
  Seq LastChange(BlockId block, Interval<Bytes> bytes, Seq after, Seq before) const {
    auto row = std::ranges::lower_bound(trace.host_changes, before, {}, &HostChange::seq);
    while (row != trace.host_changes.begin() && (--row)->seq > after) {
      const Interval<Bytes> changed{row->offset, row->offset + row->length};
      if (row->block == block && !Common(changed, bytes).empty()) return row->seq;
    }
    return 0;
  }

  // A node, the launches of its graph, and the work on the block between each two of them.
  void Judge(NodeId node, BlockId block, const std::vector<uint32_t>& users) {
    const Interval<Bytes> bytes = ReadBy(trace[node].accesses, block);
    if (bytes.empty()) return;
    const GraphId root = facts.RootOf(node);
    Seq before = trace[node].seq;
    bool all_written = true;  // before each launch so far: by design
    for (const uint32_t launch : facts.launches()[root.index()]) {
      const Seq at = trace.launches[launch].seq;
      if (at < before) continue;
      const auto seq = [&](uint32_t work) { return trace.works[work].seq; };
      const auto end = std::ranges::lower_bound(users, at, {}, seq);
      std::optional<OtherTransfer> last;
      for (auto work = std::ranges::upper_bound(users, before, {}, seq); work < end; ++work) {
        if (const auto other = OtherOf(node, block, bytes, *work)) last = other;
      }
      const bool written = last && last->writes;
      all_written = all_written && written;
      if (last && !(written && all_written) && IsLeft(*last, block, bytes, before, at)) {
        last->launch = launch;
        Add(node, block, *last);
      }
      before = at;
    }
  }

  // None: it doesn't use the bytes, or does what the node does.
  std::optional<OtherTransfer> OtherOf(NodeId node, BlockId block, Interval<Bytes> bytes,
                                       uint32_t index) const {
    OtherTransfer other{.work = index};
    const EagerWork& work = trace.works[index];
    bool uses = false;
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      const bool writes = access.mode != AccessMode::kRead;
      if (access.block == block) {
        const Interval<Bytes> own = BytesOf(access, trace[block].size);
        uses = uses || !Common(own, bytes).empty();
        other.writes = other.writes || writes;
        other.same_bytes = own == bytes;
      } else if (writes) {
        other.to = access.block;
        for (const Access& of_node : trace.accesses.Of(trace[node].accesses)) {
          const bool same = of_node.block == access.block && of_node.mode == AccessMode::kWrite;
          if (same && Overlap(of_node, access) != Ternary::kNo) return std::nullopt;
        }
      }
    }
    return uses ? std::optional(other) : std::nullopt;
  }

  // True if the launch surely found the bytes that the transfer sent, or wrote, and others than the
  // launch before. A transfer's own bytes may arrive as late as at the host's next wait.
  bool IsLeft(const OtherTransfer& other, BlockId block, Interval<Bytes> bytes, Seq before,
              Seq at) const {
    const Seq used = trace.works[other.work].seq;
    if (!other.writes)
      return LastChange(block, bytes, before, used) != 0 && LastChange(block, bytes, used, at) == 0;
    auto wait = std::ranges::upper_bound(trace.stream_ops, used, {}, &StreamOp::seq);
    while (wait != trace.stream_ops.end() && (*wait).kind < StreamOpKind::kStreamSync) ++wait;
    const Seq waited = wait != trace.stream_ops.end() ? (*wait).seq : kNever;
    const Seq changed = LastChange(block, bytes, before, at);
    return changed != 0 && changed < waited;
  }

  using Key = std::tuple<GraphId, bool, std::string>;

  void Add(NodeId node, BlockId block, const OtherTransfer& other) {
    const EagerWork& work = trace.works[other.work];
    const GraphId graph = facts.RootOf(node);
    const bool sized = !other.writes && !other.same_bytes;
    const auto [place, fresh] =
        found.try_emplace({graph, other.writes, OwnPlace(trace, work.stack)});
    Finding& finding = place->second;
    AddBlockOnce(trace, block, &finding);
    AddOnce(node, &finding.nodes);
    if (sized) finding.severity = Severity::kWarning;
    if (!fresh) return;
    if (!sized) finding.severity = Severity::kNote;
    finding.graph = graph;
    if (work.stream.valid()) finding.streams = {work.stream};
    finding.message = Say(trace, "{} copies what another transfer {} page-locked memory: {}", graph,
                          other.writes ? "left in" : "sent from", block);
    std::string did =
        Say(trace, "{} outside of graphs {} {}", work, other.writes ? "wrote" : "sent", block);
    if (other.to.valid() && !other.writes) did += Say(trace, " to {}", other.to);
    if (sized) did += ", and not the same part of it";
    AddEvidence(&finding, did, work.stack, {}, {block});
    finding.evidence.push_back(LaunchedThere(
        trace, other.launch, graph, Say(trace, " runs {} and finds the same bytes", node)));
    finding.evidence.push_back(CapturedThere(trace, node));
    finding.evidence.push_back(AllocatedThere(facts, block));
    AddEvidence(&finding,
                "an earlier look found other bytes there: either the memory was given back to a "
                "pool and used again, or the program refills it for both");
    finding.advice =
        "keep the memory that a captured copy reads for that copy alone, as long as the graph is "
        "launched; nothing is wrong if both are meant to have the same data";
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  std::map<BlockId, std::vector<uint32_t>> works = {};  // copies of page-locked memory
  std::map<Key, Finding> found = {};
};

}  // namespace

std::vector<Finding> FindReusedStaging(const Facts& facts) {
  if (facts.trace.host_changes.empty() || facts.trace.launches.empty()) return {};
  return StagingFinder{facts}.FindAll();
}

}  // namespace graphkit
