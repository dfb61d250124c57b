#include "libgraphkit/analysis/memory/timeline.h"

#include <algorithm>
#include <utility>

#include "libgraphkit/group_by.h"
#include "libgraphkit/interval.h"

namespace graphkit {
namespace {

using Range = Interval<Address>;

Bytes Extent(const Ran& trace, std::span<const uint32_t> blocks, std::vector<Range>* segments) {
  std::vector<Range> outside;
  std::vector<uint32_t> used;
  for (const uint32_t id : blocks) {
    const Block& block = trace.blocks[id];
    const Range range{block.address, block.address + RoundedSize(block)};
    if (block.segment.index() >= segments->size()) {
      outside.push_back(range);
      continue;
    }
    Range& segment = (*segments)[block.segment.index()];
    if (segment.end == 0) {
      segment = range;
      used.push_back(block.segment.value);
    }
    segment = {std::min(segment.begin, range.begin), std::max(segment.end, range.end)};
  }
  Bytes extent = 0;
  for (const Range& range : Union(std::move(outside))) extent += range.size();
  for (const uint32_t segment : used) {
    extent += (*segments)[segment].end - (*segments)[segment].begin;
    (*segments)[segment] = {};
  }
  return extent;
}

DeviceIndex DeviceOf(const Ran& trace, StreamId stream) {
  return stream ? std::max<DeviceIndex>(trace[stream].device, 0) : DeviceIndex{0};
}

void Add(const MemoryAt& share, bool less, MemoryAt* now) {
  for (const auto member :
       {&MemoryAt::reserved, &MemoryAt::segments, &MemoryAt::in_use, &MemoryAt::allocated,
        &MemoryAt::requested, &MemoryAt::blocks, &MemoryAt::of_graphs}) {
    now->*member += less ? 0 - share.*member : share.*member;
  }
}

// Segments of which no driver allocation is known count for themselves.
struct SegmentChange {
  Seq seq = 0;
  uint32_t segment = 0;
  bool less = false;
};

std::vector<SegmentChange> ChangesOfSegments(const Ran& trace) {
  std::vector<SegmentChange> changes;
  for (const auto& [i, segment] : Enumerate<uint32_t>(trace.segments)) {
    if (segment.block) continue;
    changes.push_back({segment.allocated, i, false});
    if (segment.freed != kNever) changes.push_back({segment.freed, i, true});
  }
  std::ranges::stable_sort(changes, {}, &SegmentChange::seq);
  return changes;
}

// Blocks in the order of one of their three places.
class BlockSteps {
 public:
  BlockSteps(const Ran& trace, Seq Block::*place)
      : trace_(trace), place_(place), blocks_(BlocksBySeq(trace, place)) {
    FindNext();
  }

  Seq next() const { return next_; }
  uint32_t Take() {
    const uint32_t block = blocks_[at_++];
    FindNext();
    return block;
  }

 private:
  void FindNext() { next_ = at_ < blocks_.size() ? trace_.blocks[blocks_[at_]].*place_ : kNever; }

  const Ran& trace_;
  Seq Block::*place_;
  std::vector<uint32_t> blocks_;
  size_t at_ = 0;
  Seq next_ = kNever;
};

void AddIdle(Bytes bytes, bool empty, bool is_private, IdleMemory* idle) {
  (empty ? idle->empty_bytes : idle->gap_bytes) += bytes;
  ++(empty ? idle->empty_segments : idle->gaps);
  idle->largest_bytes = std::max(idle->largest_bytes, bytes);
  if (is_private) idle->private_bytes += bytes;
}

// Adds the sums that don't depend on time. `usage`: by graph.
void AddTotals(const Ran& trace, const Lifetimes& lives, std::vector<Usage>* by_graph) {
  std::vector<Usage>& usage = *by_graph;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const GraphId root = lives.blocks[i].root;
    if (!root.valid()) continue;
    Usage& graph = usage[root.index()];
    const Bytes size = RoundedSize(trace.blocks[i]);
    ++graph.blocks;
    graph.total += size;
    if (trace.blocks[i].freed()) continue;
    ++graph.never_freed_blocks;
    graph.never_freed += size;
  }
  const Grouped by =
      Group(lives.blocks, usage.size(), [](const BlockLife& life) { return life.root; });
  std::vector<Range> segments(trace.segments.size());
  for (size_t i = 0; i < usage.size(); ++i) usage[i].extent = Extent(trace, by.Of(i), &segments);
}

// The driver gave it, and it isn't handed out of a segment. Memory of another process or API is
// that one's.
bool FromDriver(const Ran& trace, const Block& block) {
  if (IsImported(trace, block)) return false;
  const PoolKind kind = KindOf(trace, block.pool);
  return !block.segment && (kind == PoolKind::kDevice || kind == PoolKind::kStream ||
                            kind == PoolKind::kGraph || kind == PoolKind::kManaged);
}

}  // namespace

Bytes RoundedSize(const Block& block) { return RoundUp(block.size, kBlockGranularity); }

Bytes AllocatedSize(const Block& block) { return RoundedSize(block) + block.slack; }

bool Deferred(const Block& block) {
  return block.freed() && block.free_completed != block.free_requested;
}

Bytes PeakLive(const Ran& trace, std::span<const BlockId> blocks, std::span<const Seq> ends) {
  const std::vector<uint32_t> by_end = SortBySeq(blocks.size(), [&](size_t i) { return ends[i]; });
  auto end = by_end.begin();
  Bytes live = 0, peak = 0;
  for (const BlockId id : blocks) {
    const Block& block = trace[id];
    for (; end != by_end.end() && ends[*end] < block.allocated; ++end)
      live -= RoundedSize(trace[blocks[*end]]);
    peak = std::max(peak, live += RoundedSize(block));
  }
  return peak;
}

// Blocks are merged from their sorted columns: there may be millions.
class MemoryTimeline::Sweep {
  // The sums of one device, or of all, while the sweep goes on.
  struct Running {
    MemoryMoments moments = {};
    MemoryAt now = {};

    void Change(Seq seq, const MemoryAt& share, bool less) {
      if (seq != now.seq) Settle();  // changes of one record count together
      Add(share, less, &now);
      now.seq = seq;
    }
    void Settle() {
      const MemoryAt& reserved = moments.peak_reserved;
      if (std::pair(now.reserved, now.in_use) > std::pair(reserved.reserved, reserved.in_use)) {
        moments.peak_reserved = now;
      }
      if (now.in_use > moments.peak_in_use.in_use) moments.peak_in_use = now;
      if (now.allocated > moments.peak_allocated.allocated) moments.peak_allocated = now;
      if (now.requested > moments.peak_requested.requested) moments.peak_requested = now;
      const Bytes outside = now.reserved - now.of_graphs;
      moments.peak_outside_graphs = std::max(moments.peak_outside_graphs, outside);
    }
    MemoryMoments End(Seq records) {
      Settle();
      moments.end = now;
      moments.end.seq = records;
      return moments;
    }
  };

 public:
  Sweep(MemoryTimeline* timeline, const Lifetimes& lives)
      : to_(*timeline), trace_(timeline->trace_), lives_(lives), live_(trace_.graphs.size()) {
    DeviceIndex last = to_.devices_.empty() ? DeviceIndex{0} : to_.devices_.back();
    for (const Segment& at : trace_.segments) last = std::max(last, DeviceOf(trace_, at.stream));
    devices_.resize(static_cast<size_t>(last) + 1);
    to_.usage_.resize(trace_.graphs.size());
  }

  void Run() {
    const std::vector<SegmentChange> segments = ChangesOfSegments(trace_);
    auto segment = segments.begin();
    BlockSteps allocated(trace_, &Block::allocated), requested(trace_, &Block::free_requested),
        completed(trace_, &Block::free_completed);
    while (true) {
      const Seq in_segments = segment == segments.end() ? kNever : segment->seq;
      const Seq seq = std::min({allocated.next(), requested.next(), completed.next(), in_segments});
      if (seq == kNever) break;
      if (seq == in_segments) {
        Take(*segment++);
      } else if (seq == allocated.next()) {
        Allocate(seq, allocated.Take());
      } else if (seq == requested.next()) {
        RequestFree(seq, requested.Take());
      } else {
        CompleteFree(seq, completed.Take());
      }
    }
    for (Running& device : devices_) to_.by_device_.push_back(device.End(trace_.records));
    to_.all_ = devices_.size() == 1 ? to_.by_device_[0] : all_.End(trace_.records);
  }

 private:
  struct Live {
    Bytes live = 0;
    Bytes deferred = 0;
  };

  void Take(const SegmentChange& change) {
    const Segment& segment = trace_.segments[change.segment];
    Change(change.seq, DeviceOf(trace_, segment.stream), {.reserved = segment.size, .segments = 1},
           change.less);
  }

  void Allocate(Seq seq, uint32_t block) {
    ChangeBlock(seq, block, to_.ShareOf(block), false);
    const GraphId root = lives_.blocks[block].root;
    if (!root.valid()) return;
    Usage& graph = to_.usage_[root.index()];
    Live& now = live_[root.index()];
    now.live += RoundedSize(trace_.blocks[block]);
    graph.peak_held = std::max(graph.peak_held, now.live + now.deferred);
    if (now.live <= graph.peak_live) return;
    graph.peak_live = now.live;
    graph.peak_at = seq;
  }

  void RequestFree(Seq seq, uint32_t block) {
    ChangeBlock(seq, block,
                {.allocated = to_.segments_[block] ? 0 : AllocatedSize(trace_.blocks[block])},
                true);
    const GraphId root = lives_.blocks[block].root;
    if (!root.valid()) return;
    const Bytes size = RoundedSize(trace_.blocks[block]);
    Usage& graph = to_.usage_[root.index()];
    Live& now = live_[root.index()];
    now.live -= size;
    if (Deferred(trace_.blocks[block]))
      graph.deferred = std::max(graph.deferred, now.deferred += size);
  }

  void CompleteFree(Seq seq, uint32_t block) {
    MemoryAt share = to_.ShareOf(block);
    share.allocated = 0;
    ChangeBlock(seq, block, share, true);
    const GraphId root = lives_.blocks[block].root;
    if (!root.valid() || !Deferred(trace_.blocks[block])) return;
    live_[root.index()].deferred -= RoundedSize(trace_.blocks[block]);
  }

  void ChangeBlock(Seq seq, uint32_t block, const MemoryAt& share, bool less) {
    if (KindOf(trace_, trace_.blocks[block].pool) == PoolKind::kHost) return;
    Change(seq, to_.device_of_[block], share, less);
  }

  void Change(Seq seq, DeviceIndex device, const MemoryAt& share, bool less) {
    devices_[static_cast<size_t>(device)].Change(seq, share, less);
    if (devices_.size() > 1) all_.Change(seq, share, less);
  }

  MemoryTimeline& to_;
  const Ran& trace_;
  const Lifetimes& lives_;
  std::vector<Running> devices_;
  Running all_;
  std::vector<Live> live_;  // by graph
};

MemoryTimeline::MemoryTimeline(const Ran& trace, const Lifetimes& lives)
    : trace_(trace),
      segments_(SegmentsOfBlocks(trace)),
      device_of_(DevicesOfBlocks(trace)),
      devices_(device_of_) {
  SortUnique(&devices_);
  Sweep(this, lives).Run();
  AddTotals(trace, lives, &usage_);
}

bool MemoryTimeline::OnDevice(size_t block, DeviceIndex device) const {
  return device_of_[block] == device &&
         KindOf(trace_, trace_.blocks[block].pool) != PoolKind::kHost;
}

MemoryAt MemoryTimeline::ShareOf(size_t id) const {
  const Block& block = trace_.blocks[id];
  const Bytes size = AllocatedSize(block);
  MemoryAt share{.reserved = FromDriver(trace_, block) ? size : 0};
  if (KindOf(trace_, block.pool) == PoolKind::kGraph) share.of_graphs = share.reserved;
  if (const SegmentId segment = segments_[id]) {
    share.segments = trace_[segment].address == block.address;  // not its further pieces
    return share;
  }
  share.in_use = share.allocated = size;
  share.requested = block.size;
  share.blocks = 1;
  return share;
}

MemoryAt MemoryTimeline::After(DeviceIndex device, Seq seq) const {
  MemoryAt now{.seq = seq};
  for (const Segment& segment : trace_.segments) {
    if (segment.block || DeviceOf(trace_, segment.stream) != device) continue;
    if (segment.allocated > seq || segment.freed <= seq) continue;
    Add({.reserved = segment.size, .segments = 1}, false, &now);
  }
  for (const auto& [i, block] : Enumerate(trace_.blocks)) {
    if (block.allocated > seq || block.free_completed <= seq || !OnDevice(i, device)) continue;
    MemoryAt share = ShareOf(i);
    if (block.free_requested <= seq) share.allocated = 0;
    Add(share, false, &now);
  }
  return now;
}

std::vector<BlockId> MemoryTimeline::InUse(DeviceIndex device, Seq seq) const {
  std::vector<BlockId> blocks;
  for (const auto& [i, block] : Enumerate(trace_.blocks)) {
    const bool alive = block.allocated <= seq && seq < block.free_completed;
    if (alive && !segments_[i] && OnDevice(i, device)) blocks.emplace_back(i);
  }
  return blocks;
}

IdleMemory MemoryTimeline::IdleAfter(DeviceIndex device, Seq seq) const {
  std::vector<Segment> segments;
  for (const Segment& segment : trace_.segments) {
    const bool alive = segment.allocated <= seq && seq < segment.freed;
    if (alive && DeviceOf(trace_, segment.stream) == device) segments.push_back(segment);
  }
  std::ranges::sort(segments, {}, &Segment::address);
  std::vector<BlockId> blocks = InUse(device, seq);
  std::ranges::sort(blocks, {}, [&](BlockId id) { return trace_[id].address; });
  IdleMemory idle;
  size_t next = 0;
  Address covered = 0;  // a block may lie in several stretches of pages
  for (const Segment& segment : segments) {
    const Address end = segment.address + segment.size;
    const bool is_private = KindOf(trace_, segment.pool) == PoolKind::kPrivate;
    while (next < blocks.size() && trace_[blocks[next]].address < segment.address) ++next;
    Address at = std::max(segment.address, covered);
    const bool empty =
        at == segment.address && (next == blocks.size() || trace_[blocks[next]].address >= end);
    for (; next < blocks.size() && trace_[blocks[next]].address < end; ++next) {
      const Block& block = trace_[blocks[next]];
      if (block.address > at) AddIdle(block.address - at, false, is_private, &idle);
      at = std::max(at, block.address + AllocatedSize(block));
    }
    if (at < end) AddIdle(end - at, empty, is_private, &idle);
    covered = at;
  }
  return idle;
}

std::vector<DeviceIndex> DevicesOfBlocks(const Ran& trace) {
  std::vector<DeviceIndex> devices;
  devices.reserve(trace.blocks.size());
  const std::vector<SegmentId> segments = SegmentsOfBlocks(trace);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const StreamId own = trace.blocks[i].stream;
    devices.push_back(DeviceOf(trace, segments[i] ? trace[segments[i]].stream : own));
  }
  return devices;
}

AskedMemory FindAskedMemory(const Ran& trace, const MemoryTimeline& timeline,
                            const Lifetimes& lives) {
  const MemoryAt& peak = timeline.all().peak_reserved;
  AskedMemory memory{.asked_bytes = peak.reserved};
  Bytes in_segments = peak.reserved;
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    const bool alive = block.allocated <= peak.seq && peak.seq < block.free_completed;
    if (!alive || lives.backs_segment[i]) continue;
    const Bytes size = AllocatedSize(block);
    if (block.segment) memory.segment_used_bytes += size;
    if (!FromDriver(trace, block)) continue;
    in_segments -= size;
    if (block.alloc_node.valid()) {
      memory.graph_node_bytes += size;
    } else if (!lives.Touches(BlockId(i)).empty()) {
      memory.input_bytes += size;
    } else {
      memory.not_attributed_bytes += size;
    }
  }
  memory.segment_used_bytes = std::min(memory.segment_used_bytes, in_segments);
  memory.segment_free_bytes = in_segments - memory.segment_used_bytes;
  return memory;
}

}  // namespace graphkit
