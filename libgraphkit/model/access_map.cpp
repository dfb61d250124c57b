#include "libgraphkit/model/access_map.h"

#include <algorithm>

#include "libgraphkit/group_by.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {
namespace {

// Places of blocks, as time goes on: those that are handed out of segments, and all others.
class LiveBlocks {
 public:
  explicit LiveBlocks(const Trace& trace) : trace_(trace) {
    for (const auto& [i, block] : Enumerate(trace.blocks)) {
      if (block.address == 0) continue;
      changes_.push_back({block.allocated, BlockId(i), true});
      if (block.free_completed != kNever)
        changes_.push_back({block.free_completed, BlockId(i), false});
    }
    std::ranges::stable_sort(changes_, {}, &Change::seq);
  }

  void AdvanceTo(Seq seq) {
    for (; next_ < changes_.size() && changes_[next_].seq < seq; ++next_) {
      const auto& [at, id, begins] = changes_[next_];
      const Block& block = trace_[id];
      const Interval<Address> range{block.address, block.address + std::max<Bytes>(block.size, 1)};
      IntervalMap<BlockId>& live = block.segment ? handed_out_ : others_;
      const BlockId* there = live.Find(block.address);
      if (begins) live.Add(range, id);
      if (!begins && there && *there == id) live.Remove(range);
    }
  }
  const IntervalMap<BlockId>& handed_out() const { return handed_out_; }
  const IntervalMap<BlockId>& others() const { return others_; }

 private:
  struct Change {
    Seq seq;
    BlockId block;
    bool begins;
  };
  const Trace& trace_;
  std::vector<Change> changes_;
  size_t next_ = 0;
  IntervalMap<BlockId> handed_out_, others_;
};

// Of those that lie over each other the first.
IntervalMap<SegmentId> FirstSegments(const Trace& trace) {
  IntervalMap<SegmentId> segments;
  for (const auto& [i, segment] : Enumerate(trace.segments)) {
    if (!segments.Find(segment.address)) segments.Add(AddressesOf(segment), SegmentId(i));
  }
  return segments;
}

// By block: the memory of a segment, or of a part of it: an expandable one is mapped page by page,
// and a snapshot has pages that were mapped at once as one.
std::vector<bool> MemoryOfSegments(const Trace& trace) {
  std::vector<bool> memory(trace.blocks.size());
  for (const Segment& segment : trace.segments) {
    if (segment.block) memory[segment.block.index()] = true;
  }
  IntervalMap<SegmentId> segments;
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    const bool driver = block.pool && trace[block.pool].kind == PoolKind::kDevice;
    if (!driver || block.segment || memory[i]) continue;
    if (segments.all().empty()) segments = FirstSegments(trace);
    if (segments.Find(block.address)) memory[i] = true;
  }
  return memory;
}

// The part of an access in some of its bytes; its offset is an address. Of rows that is what is
// left of the first one, of the first layer, and the others.
void AddPart(const Access& access, Interval<Address> bytes, std::vector<Access>* parts) {
  const AccessRows& rows = access.rows;
  const Bytes layer = rows.height == 0 ? 0 : Bytes{rows.layer} * rows.pitch;
  for (Address at = bytes.begin; at < bytes.end;) {
    Access& part = parts->emplace_back(access);
    Address end = bytes.end;
    if (rows.width != 0) {
      const Bytes inside = layer == 0 ? at - access.offset : (at - access.offset) % layer;
      const Bytes column = inside % rows.pitch, row = inside / rows.pitch;
      const bool above = layer != 0 && row >= rows.height;
      if (above || column >= rows.width) {  // between rows, or layers
        parts->pop_back();
        at += above ? layer - inside : rows.pitch - column;
        continue;
      }
      if (column != 0) {
        end = std::min(end, at - column + rows.width);
        part.rows = {};
      } else if (row != 0 && layer != 0) {
        end = std::min(end, at - inside + Bytes{rows.height - 1} * rows.pitch + rows.width);
        part.rows.height = part.rows.layer = 0;
      }
    }
    part.offset = at;
    part.length = end - at;
    at = end;
  }
}

class AccessMapper {
 public:
  explicit AccessMapper(Trace* trace) : trace_(*trace), backs_(MemoryOfSegments(*trace)) {}

  void Run() {
    if (std::ranges::none_of(trace_.accesses, [this](const Access& a) { return Leaves(a); }))
      return;
    for (const auto& [i, node] : Enumerate(trace_.nodes)) Add(node, Kind::kNode, i);
    for (const auto& [i, change] : Enumerate(trace_.node_changes)) Add(change, Kind::kChange, i);
    for (const auto& [i, work] : Enumerate(trace_.works)) Add(work, Kind::kWork, i);
    std::ranges::stable_sort(touchers_, {}, &Toucher::seq);
    LiveBlocks live(trace_);
    AccessColumn mapped;
    for (const Toucher& by : touchers_) {
      parts_.clear();
      for (const Access& access : trace_.accesses.Of(by.accesses)) {
        if (!Leaves(access)) {
          parts_.push_back(access);
          continue;
        }
        live.AdvanceTo(by.seq);
        Map(access, live);
      }
      Set(by, mapped.Append(parts_));
    }
    trace_.accesses = std::move(mapped);
  }

 private:
  enum class Kind : uint8_t { kNode, kChange, kWork };
  struct Toucher {
    Seq seq;
    Slice accesses;
    Kind kind;
    size_t row;
  };

  template <typename Row>
  void Add(const Row& row, Kind kind, size_t at) {
    if (row.accesses.count != 0) touchers_.push_back({row.seq, row.accesses, kind, at});
  }
  void Set(const Toucher& by, Slice accesses) {
    if (by.kind == Kind::kNode)
      trace_.nodes.Change(by.row, [&](Node& node) { node.accesses = accesses; });
    if (by.kind == Kind::kChange) trace_.node_changes[by.row].accesses = accesses;
    if (by.kind == Kind::kWork) trace_.works[by.row].accesses = accesses;
  }

  // True if other blocks than the one that was recorded may have some of its bytes.
  bool Leaves(const Access& access) const {
    if (access.block.index() >= backs_.size()) return false;
    if (backs_[access.block.index()]) return true;
    if (access.length == kLengthUnknown) return false;
    const Block& block = trace_[access.block];
    const bool inside = block.address != 0 && access.offset < block.size;
    return inside && access.length > block.size - access.offset;
  }

  // An access of unknown length is one to the block at its first byte.
  void Map(const Access& access, const LiveBlocks& live) {
    const Block& block = trace_[access.block];
    const Access whole = At(access, block.address);
    const bool backs = backs_[access.block.index()];
    const BlockId* first = backs ? live.handed_out().Find(whole.offset) : nullptr;
    if (access.length == kLengthUnknown) {
      parts_.push_back(access);
      if (first == nullptr) return;
      parts_.back().block = *first;
      parts_.back().offset = whole.offset - trace_[*first].address;
      return;
    }
    const Interval<Address> own = AddressesOf(block);
    const Bytes most = ~Address{0} - whole.offset;
    Interval<Address> left{whole.offset, whole.offset + std::min(whole.length, most)};
    if (!backs) left.begin = AddTo(access.block, whole, {left.begin, std::min(left.end, own.end)});
    live.handed_out().Visit(left, [&](const auto& entry) {
      const Interval<Address> both = Common(entry.range, left);
      AddOutside(access.block, whole, {left.begin, both.begin}, live);
      left.begin = AddTo(entry.value, whole, both);
      return true;
    });
    AddOutside(access.block, whole, left, live);
  }

  // Of bytes that are in no block that was handed out of a segment.
  void AddOutside(BlockId recorded, const Access& whole, Interval<Address> bytes,
                  const LiveBlocks& live) {
    const Interval<Address> own = Common(bytes, AddressesOf(trace_[recorded]));
    if (!own.empty()) bytes.begin = AddTo(recorded, whole, own);
    live.others().Visit(bytes, [&](const auto& entry) {
      AddTo(entry.value, whole, Common(entry.range, bytes));
      return true;
    });
  }

  // Where the bytes end.
  Address AddTo(BlockId block, const Access& whole, Interval<Address> bytes) {
    const size_t before = parts_.size();
    AddPart(whole, bytes, &parts_);
    for (size_t i = before; i < parts_.size(); ++i) {
      parts_[i].block = block;
      parts_[i].offset -= trace_[block].address;
    }
    return bytes.end;
  }

  Trace& trace_;
  const std::vector<bool> backs_;
  std::vector<Toucher> touchers_;
  std::vector<Access> parts_;  // of the toucher that is looked at
};

}  // namespace

void MapAccesses(Trace* trace) { AccessMapper(trace).Run(); }

}  // namespace graphkit
