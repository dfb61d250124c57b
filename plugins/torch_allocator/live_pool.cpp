#include "plugins/torch_allocator/live_pool.h"

namespace graphkit {
namespace {

constexpr GraphId kGraph{0u};

}  // namespace

LivePool::LivePool(const CachingConfig& config, DriverMemory* driver)
    : config_(config), driver_(driver), map_(MapOptions(config), 0) {}

IndexedMap::Options LivePool::MapOptions(const CachingConfig& config) {
  return {.config = config, .views = kViews, .shared = true, .own_first = true};
}

LivePool::Capture& LivePool::CaptureOf(const LiveAsker& asker) {
  const auto at = std::ranges::find(captures_, asker.capture, &Capture::id);
  if (at != captures_.end()) return *at;
  return captures_.emplace_back(Capture{asker.capture, asker.order});
}

LivePool::View& LivePool::ViewOf(Capture* capture, uint64_t stream) {
  const auto at = std::ranges::find(capture->views, stream, &View::stream);
  if (at != capture->views.end()) return *at;
  const uint32_t number = std::min(views_++, kNoOffers);
  return capture->views.emplace_back(View{stream, number});
}

std::optional<BlockId> LivePool::Malloc(Bytes size, const LiveAsker& asker) {
  const Bytes rounded = RoundRequest(config_, size);
  const View& view = Offer(asker);
  const bool fits = map_.Fits(rounded, view.number);
  if (!fits && !Grow(rounded)) return {};
  const BlockId block = NewBlock(rounded, asker);
  const Bytes offset = map_.Place(block, rounded, view.number);
  blocks_[block.index()].address = AddressOf(offset);
  return block;
}

std::optional<BlockId> LivePool::MallocAt(PlanArena* arena, Bytes offset, Bytes size,
                                          const LiveAsker& asker, bool trusted) {
  const Bytes rounded = RoundRequest(config_, size);
  Offer(asker);
  std::vector<BlockId> followed;
  const bool taken = arena->Take(offset, rounded, BlockId(blocks_.size()), [&](BlockId last) {
    followed.push_back(last);
    return MayFollow(blocks_[last.index()], asker, trusted);
  });
  if (!taken) return {};
  const BlockId block = NewBlock(rounded, asker);
  for (const BlockId last : followed) {
    if (!blocks_[last.index()].completed) ++figures_.found;
    Complete(last);
  }
  blocks_[block.index()].address = arena->address() + offset;
  blocks_[block.index()].in_arena = true;
  return block;
}

bool LivePool::MayFollow(const Block& last, const LiveAsker& asker, bool trusted) const {
  if (last.state == State::kUsed) return false;
  if (last.state == State::kFree || trusted) return true;
  if (last.capture != asker.capture || !asker.point || last.unproven) return false;
  return std::ranges::all_of(last.markers, [&](NodeId marker) {
    return asker.order->order().Before(marker, *asker.point);
  });
}

void LivePool::LetGo(BlockId block) { figures_.used -= blocks_[block.index()].size; }

void LivePool::Free(BlockId block, uint64_t capture, std::span<const NodeId> markers) {
  const auto at = std::ranges::find(captures_, capture, &Capture::id);
  if (at == captures_.end()) return FreeNow(block);
  LetGo(block);
  Block& freed = blocks_[block.index()];
  freed.state = State::kWaiting;
  freed.outlived = freed.made != capture;
  freed.capture = capture;
  freed.markers.assign(markers.begin(), markers.end());
  at->freed.push_back(block);
}

void LivePool::FreeAtEnd(BlockId block, uint64_t capture) {
  const auto at = std::ranges::find(captures_, capture, &Capture::id);
  if (at == captures_.end()) return FreeNow(block);
  LetGo(block);
  Block& freed = blocks_[block.index()];
  freed.state = State::kWaiting;
  freed.unproven = true;
  freed.outlived = true;  // a stream outside of the capture may use it still
  freed.capture = capture;
  at->at_end.push_back(block);
}

void LivePool::FreeNow(BlockId block) {
  LetGo(block);
  blocks_[block.index()].outlived = true;
  MakeFree(block);
}

void LivePool::EndCapture(uint64_t capture) {
  const auto at = std::ranges::find(captures_, capture, &Capture::id);
  if (at == captures_.end()) return;
  for (const std::vector<BlockId>& list : {at->freed, at->at_end}) {
    for (const BlockId block : list) {
      const Block& freed = blocks_[block.index()];
      if (!freed.completed) {
        ++figures_.deferred;
        figures_.deferred_bytes += freed.size;
      }
      MakeFree(block);
    }
  }
  captures_.erase(at);
  if (captures_.empty()) views_ = 0;
}

// Free for every stream.
void LivePool::MakeFree(BlockId block) {
  Complete(block);
  Block& freed = blocks_[block.index()];
  freed.state = State::kFree;
  freed.markers = {};
  if (freed.in_arena) return;
  map_.ShowToAll(block);
}

void LivePool::Complete(BlockId block) {
  if (blocks_[block.index()].completed) return;
  blocks_[block.index()].completed = true;
  completed_.push_back(block);
}

std::vector<BlockId> LivePool::TakeCompleted() { return std::exchange(completed_, {}); }

void LivePool::Progress(const LiveAsker& asker) { Offer(asker); }

// Finds the memory that the stream may take from here on.
LivePool::View& LivePool::Offer(const LiveAsker& asker) {
  Capture& capture = CaptureOf(asker);
  View& view = ViewOf(&capture, asker.stream);
  if (!asker.point || view.number == kNoOffers) return view;
  const Order& order = asker.order->order();
  // A stream that was set back would have to prove all again: it gets no more offers. So does one
  // after a programmatic launch: that its kernel has ended doesn't prove that the one before has.
  if (view.frees.point.graph.valid() && !order.Covers(*asker.point, view.frees.point)) {
    view.number = kNoOffers;
    return view;
  }
  view.frees.MoveTo(order, *asker.point, capture.freed.size(),
                    [&](uint32_t freed) { Look(capture, freed, &view); });
  return view;
}

// The view may take the block if it is after all its markers; otherwise it waits for one.
void LivePool::Look(const Capture& capture, uint32_t number, View* view) {
  const BlockId block = capture.freed[number];
  const Order& order = capture.order->order();
  for (const NodeId marker : blocks_[block.index()].markers) {
    if (order.Before(marker, view->frees.point)) continue;
    return view->frees.waits.Wait(order.PlaceOf(marker), number);
  }
  if (!blocks_[block.index()].completed) ++figures_.found;
  Complete(block);
  const Block& freed = blocks_[block.index()];
  if (freed.in_arena) return;
  if (freed.stream == view->stream) {
    map_.ShowOwn(block, view->number);
  } else {
    map_.Show(block, view->number);
  }
}

BlockId LivePool::NewBlock(Bytes size, const LiveAsker& asker) {
  const BlockId block(blocks_.size());
  blocks_.push_back({.size = size, .stream = asker.stream, .made = asker.capture});
  map_.AddBlock();
  ++figures_.mallocs;
  figures_.used += size;
  figures_.peak_used = std::max(figures_.peak_used, figures_.used);
  return block;
}

bool LivePool::Grow(Bytes size) {
  const Bytes segment = SegmentSize(config_, size);
  const std::optional<Address> address = driver_->Allocate(segment);
  if (!address) return false;
  segments_.push_back({map_.next_segment(), *address, segment});
  lendable_.push_back({*address, *address + segment});
  figures_.reserved += segment;
  return true;
}

Address LivePool::AddressOf(Bytes offset) const {
  const auto after = std::ranges::upper_bound(segments_, offset, {}, &Segment::offset);
  const Segment& segment = *std::prev(after);
  return segment.address + (offset - segment.offset);
}

PlanArena* LivePool::AddArena(Bytes size,
                              const std::optional<std::vector<Interval<Bytes>>>& lendable) {
  const std::optional<Address> address = driver_->Allocate(size);
  if (!address) return nullptr;
  figures_.reserved += size;
  if (!lendable) lendable_.push_back({*address, *address + size});
  for (const Interval<Bytes>& range : lendable.value_or(std::vector<Interval<Bytes>>())) {
    lendable_.push_back({*address + range.begin, *address + range.end});
  }
  return arenas_.emplace_back(std::make_unique<PlanArena>(*address, size)).get();
}

std::vector<Interval<Address>> LivePool::Lendable() const {
  using Range = Interval<Address>;
  std::vector<Range> held;
  for (const Block& block : blocks_) {
    if (block.state == State::kFree && !block.outlived) continue;
    held.push_back({block.address, block.address + block.size});
  }
  const std::vector<Range> apart =
      Union(std::move(held));  // where several lay in turn there is one
  std::vector<Range> ranges = lendable_;
  std::ranges::sort(ranges, {}, &Range::begin);
  std::vector<Range> free;
  for (const Range& range : ranges) {
    const auto first = std::ranges::upper_bound(apart, range.begin, {}, &Range::end);
    Subtract(range, std::span(first, apart.end()), &free);
  }
  return free;
}

void LivePool::Release() {
  for (const Segment& segment : segments_) driver_->Free(segment.address, segment.size);
  for (const auto& arena : arenas_) driver_->Free(arena->address(), arena->size());
  segments_.clear();
  arenas_.clear();
  lendable_.clear();
  captures_.clear();
  blocks_.clear();
  views_ = 0;
  map_ = IndexedMap(MapOptions(config_), 0);
  figures_.reserved = 0;
}

bool LiveOrder::Enter(uint64_t node) {
  Open open{node, {}, 0};
  if (!edges_into_(node, &open.in)) return false;
  open_.push_back(std::move(open));
  return true;
}

// Mostly at the end: the node before is one of the last.
void LiveOrder::AddLoose(NodeId node) {
  const auto at = std::ranges::lower_bound(loose_, node);
  if (at == loose_.end() || *at != node) loose_.insert(at, node);
}

void LiveOrder::Add(const Open& open) {
  const NodeId id(order_.nodes());
  std::vector<InEdge> in;
  for (const LiveEdge& edge : open.in) {
    const NodeId from = ids_.at(edge.node);
    in.push_back({from, edge.full()});
    if (!edge.full() && order_.rule() == EdgeRule::kCompletion) AddLoose(from);
  }
  order_.Add(id, kGraph, {}, Ternary::kUnknown, in);
  ids_.emplace(open.node, id);
}

// Adds the node after all that it follows.
bool LiveOrder::Learn(uint64_t node) {
  if (ids_.contains(node)) return true;
  open_.clear();
  if (!Enter(node)) return false;
  while (!open_.empty()) {
    Open& top = open_.back();
    if (top.next < top.in.size()) {
      const uint64_t from = top.in[top.next++].node;
      if (!ids_.contains(from) && !Enter(from)) return false;
      continue;
    }
    if (!ids_.contains(top.node)) Add(top);
    open_.pop_back();
  }
  return true;
}

std::optional<OrderPoint> LiveOrder::PointAfter(std::span<const LiveEdge> frontier) {
  if (broken_) return {};
  if (!last_frontier_.empty() && std::ranges::equal(frontier, last_frontier_)) return last_point_;
  std::vector<FrontierEntry> entries;
  for (const LiveEdge& entry : frontier) {
    broken_ = !Learn(entry.node);
    if (broken_) return {};
    entries.push_back({ids_.at(entry.node), entry.from_port, entry.type});
  }
  last_frontier_.assign(frontier.begin(), frontier.end());
  last_point_ = order_.PointAfter(kGraph, entries);
  return last_point_;
}

// True if a loose node may still run when all of `ends` have ended.
bool LiveOrder::IsMarker(NodeId node, std::span<const NodeId> ends) const {
  return std::ranges::none_of(ends, [&](NodeId end) { return order_.EndsBefore(node, end); });
}

bool LiveOrder::AddMarkers(std::span<const LiveEdge> frontier, size_t since,
                           std::vector<NodeId>* markers) {
  if (!PointAfter(frontier)) return false;
  const auto add = [&](NodeId node) {
    if (std::ranges::find(*markers, node) == markers->end()) markers->push_back(node);
  };
  for (const LiveEdge& entry : frontier) add(ids_.at(entry.node));
  for (auto at = std::ranges::lower_bound(loose_, NodeId(since)); at != loose_.end(); ++at) {
    if (!IsMarker(*at, *markers)) continue;
    add(*at);
    if (markers->size() > kMostMarkers) return false;
  }
  return true;
}

}  // namespace graphkit
