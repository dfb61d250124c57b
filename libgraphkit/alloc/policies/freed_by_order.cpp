#include "libgraphkit/alloc/policies/freed_by_order.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace graphkit {

namespace {

constexpr uint32_t kNoMarker = 0xffffffffu;
// More heaps than these are dropped when nothing waits in them.
constexpr size_t kKeptHeaps = 16;

// Without a branch on what is in them.
template <size_t kColumns, typename Counts>
bool Within(const Counts& needs, const Counts& counts) {
  uint32_t above = 0;
  for (size_t i = 0; i < kColumns; ++i) above |= needs[i] > counts[i] ? 1 : 0;
  return above == 0;
}

}  // namespace

FreedByOrder::FreedByOrder(const BlockOrder& order, bool shared, ViewSlots* slots)
    : order_(order),
      shared_(shared),
      slots_(slots),
      streams_(order.trace().streams.size()),
      lists_(shared ? 1 : order.trace().streams.size()) {}

void FreedByOrder::ClearChanges() {
  changes_.left.clear();
  changes_.found = 0;
  changes_.first = 0;
  changes_.fresh.clear();
}

void FreedByOrder::Free(BlockId block) {
  ClearChanges();
  if (!order_.Dies(block)) return;
  const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
  const bool counts = markers.empty() || order_.lives().ByStreams(block, order_.rule());
  const bool alloc = counts && !ImpliesAlloc(markers, block);
  List& list = lists_[ListOf(order_.trace()[block].stream)];
  const auto freed = static_cast<uint32_t>(list.freed.size());
  list.freed.push_back({block, alloc});
  if (list.readers.empty() || PutInSlot(freed, &list)) return;
  for (const StreamId reader : list.readers) streams_[reader.index()].outside.push_back(freed);
}

// Whether who is after the markers is after the block's allocation in any case.
bool FreedByOrder::ImpliesAlloc(std::span<const NodeId> markers, BlockId block) const {
  const OrderPoint& alloc = order_.lives()[block].alloc;
  return std::ranges::any_of(markers, [&](NodeId marker) {
    return order_.order().Covers(order_.order().StartOf(marker), alloc);
  });
}

uint8_t FreedByOrder::ColumnOf(uint32_t chain, List* list) {
  if (list->column_of.size() <= chain) list->column_of.resize(chain + 1, kNoColumn);
  uint8_t& column = list->column_of[chain];
  if (column == kNoColumn && list->chains.size() < kColumns) {
    column = static_cast<uint8_t>(list->chains.size());
    list->chains.push_back(chain);
  }
  return column;
}

// False: there are too many chains, or markers aren't all that counts.
bool FreedByOrder::FindNeeds(const Freed& freed, List* list, Counts* needs) const {
  needs->fill(0);
  for (const NodeId marker : order_.lives().Markers(freed.block, order_.rule())) {
    const ChainPlace place = order_.order().PlaceOf(marker);
    const uint8_t column = ColumnOf(place.chain, list);
    if (column == kNoColumn) return false;
    (*needs)[column] = std::max((*needs)[column], static_cast<int32_t>(place.seq + 1));
  }
  return !freed.alloc;
}

FreedByOrder::Counts FreedByOrder::CountsAt(const OrderPoint& point, const List& list) const {
  Counts counts{};
  for (size_t i = 0; i < list.chains.size(); ++i) {
    counts[i] = static_cast<int32_t>(order_.order().CountAt(point, list.chains[i]));
  }
  return counts;
}

bool FreedByOrder::PutInSlot(uint32_t freed, List* list) {
  Counts needs;
  if (!FindNeeds(list->freed[freed], list, &needs)) return false;
  if (list->used == ~SlotMask{0}) MakeRoom(list);
  const auto slot = static_cast<uint32_t>(std::countr_one(list->used));
  const SlotMask bit = SlotMask{1} << slot;
  list->used |= bit;
  list->in_slot[slot] = freed;
  list->needs[slot] = needs;
  list->lacking[slot] = static_cast<uint32_t>(list->readers.size());
  for (const StreamId reader : list->readers) {
    streams_[reader.index()].unfound |= bit;
    streams_[reader.index()].fresh |= bit;
  }
  if (slots_ != nullptr) {
    slots_->views[slot] = 0;
    slots_->blocks[slot] = list->freed[freed].block;
  }
  return true;
}

// No stream looks at the slot any more.
void FreedByOrder::Leave(uint32_t slot, List* list) {
  list->used &= ~(SlotMask{1} << slot);
  if (slots_ == nullptr) return;
  changes_.left.push_back({slots_->blocks[slot], slots_->views[slot]});
  slots_->views[slot] = 0;
}

void FreedByOrder::MakeRoom(List* list) {
  const SlotMask bit = SlotMask{1} << list->next_out;
  for (const StreamId reader : list->readers) {
    Stream& stream = streams_[reader.index()];
    if ((stream.unfound & bit) != 0) stream.outside.push_back(list->in_slot[list->next_out]);
    stream.unfound &= ~bit;
    stream.fresh &= ~bit;
  }
  Leave(list->next_out, list);
  list->next_out = (list->next_out + 1) % kSlots;
}

void FreedByOrder::StartReading(StreamId id, Stream* stream, List* list) {
  stream->reads = true;
  stream->view = static_cast<uint32_t>(list->readers.size());
  list->readers.push_back(id);
  stream->outside.resize(list->freed.size());
  std::iota(stream->outside.begin(), stream->outside.end(), 0u);
}

void FreedByOrder::BeforeMalloc(BlockId block, std::vector<BlockId>* found) {
  ClearChanges();
  const StreamId id = order_.trace()[block].stream;
  const OrderPoint& point = order_.lives()[block].alloc;
  Stream& stream = streams_[id.index()];
  List& list = lists_[ListOf(id)];
  if (!stream.reads) StartReading(id, &stream, &list);
  if (!(stream.point == point)) {
    stream.fresh = stream.unfound;
    LookAgain(list, point, &stream, found);
  }
  LookAtSlots(point, &stream, &list, found);
  for (const uint32_t freed : stream.outside) {
    if (Found(list, freed, 0, point, &stream)) found->push_back(list.freed[freed].block);
  }
  stream.outside.clear();
}

template <size_t kUsed>
SlotMask FreedByOrder::Passed(const List& list, SlotMask slots, const Counts& counts) {
  SlotMask passed = 0;
  for (SlotMask left = slots; left != 0; left &= left - 1) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(left));
    passed |= SlotMask{Within<kUsed>(list.needs[slot], counts)} << slot;
  }
  return passed;
}

void FreedByOrder::LookAtSlots(const OrderPoint& point, Stream* stream, List* list,
                               std::vector<BlockId>* found) {
  if (stream->fresh == 0) return;
  const Counts counts = CountsAt(point, *list);
  const SlotMask passed = list->chains.size() <= kColumns / 2
                              ? Passed<kColumns / 2>(*list, stream->fresh, counts)
                              : Passed<kColumns>(*list, stream->fresh, counts);
  stream->fresh = 0;
  stream->unfound &= ~passed;
  for (SlotMask left = passed; left != 0; left &= left - 1) {
    FindInSlot(static_cast<uint32_t>(std::countr_zero(left)), *stream, list, found);
  }
  if (slots_ == nullptr) return;
  changes_.found = passed & list->used;
  changes_.first &= list->used;
}

void FreedByOrder::FindInSlot(uint32_t slot, const Stream& stream, List* list,
                              std::vector<BlockId>* found) {
  if (slots_ == nullptr) {
    found->push_back(list->freed[list->in_slot[slot]].block);
  } else {
    if (slots_->views[slot] == 0) {
      changes_.first |= SlotMask{1} << slot;
      changes_.fresh.push_back(slots_->blocks[slot]);
    }
    slots_->views[slot] |= ViewMask{1} << stream.view;
  }
  if (--list->lacking[slot] == 0) Leave(slot, list);
}

// The stream has moved on.
void FreedByOrder::LookAgain(const List& list, const OrderPoint& point, Stream* stream,
                             std::vector<BlockId>* found) {
  stream->point = point;
  for (size_t i = 0; i < stream->heaps.size(); ++i) {
    if (!stream->heaps[i].waiting.empty()) PopFrom(i, list, point, stream, found);
  }
  if (stream->heaps.size() > kKeptHeaps) {
    std::erase_if(stream->heaps, [](const Heap& heap) { return heap.waiting.empty(); });
  }
  std::vector<uint32_t> again;
  std::swap(again, stream->again);
  for (const uint32_t freed : again) {
    const BlockId block = list.freed[freed].block;
    if (AfterAlloc(freed, block, point, stream)) found->push_back(block);
  }
}

// What waits there may wait for another marker next, in a heap that may be new.
void FreedByOrder::PopFrom(size_t heap, const List& list, const OrderPoint& point, Stream* stream,
                           std::vector<BlockId>* found) {
  const uint32_t count = order_.order().CountAt(point, stream->heaps[heap].chain);
  while (true) {
    std::vector<Waiting>& waiting = stream->heaps[heap].waiting;
    if (waiting.empty() || waiting.front().place >= count) return;
    const Waiting next = waiting.front();
    std::pop_heap(waiting.begin(), waiting.end());
    waiting.pop_back();
    if (Found(list, next.freed, next.marker, point, stream)) {
      found->push_back(list.freed[next.freed].block);
    }
  }
}

ChainPlace FreedByOrder::PlaceOf(BlockId block, uint32_t marker) const {
  const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
  return order_.order().PlaceOf(markers[markers.size() - 1 - marker]);
}

uint32_t FreedByOrder::FirstMissing(BlockId block, uint32_t marker, const OrderPoint& point) const {
  const size_t count = order_.lives().Markers(block, order_.rule()).size();
  for (; marker < count; ++marker) {
    const ChainPlace place = PlaceOf(block, marker);
    if (order_.order().CountAt(point, place.chain) <= place.seq) break;
  }
  return marker;
}

// A stream's mallocs never go back, so what one of them is after the next one is after as well.
bool FreedByOrder::Found(const List& list, uint32_t freed, uint32_t marker, const OrderPoint& point,
                         Stream* stream) {
  const Freed& f = list.freed[freed];
  if (marker != kNoMarker) {
    marker = FirstMissing(f.block, marker, point);
    if (marker < order_.lives().Markers(f.block, order_.rule()).size()) {
      Wait(PlaceOf(f.block, marker), freed, marker, stream);
      return false;
    }
  }
  return !f.alloc || AfterAlloc(freed, f.block, point, stream);
}

bool FreedByOrder::AfterAlloc(uint32_t freed, BlockId block, const OrderPoint& point,
                              Stream* stream) {
  const Order& order = order_.order();
  const OrderPoint& alloc = order_.lives()[block].alloc;
  if (order.Covers(point, alloc)) return true;
  if (alloc.chain != OrderPoint::kNoChain && order.CountAt(point, alloc.chain) < alloc.count) {
    Wait({alloc.chain, alloc.count - 1}, freed, kNoMarker, stream);
  } else {
    stream->again.push_back(freed);
  }
  return false;
}

void FreedByOrder::Wait(const ChainPlace& place, uint32_t freed, uint32_t marker, Stream* stream) {
  const auto at = std::ranges::find(stream->heaps, place.chain, &Heap::chain);
  Heap& heap = at != stream->heaps.end() ? *at : stream->heaps.emplace_back(Heap{place.chain, {}});
  heap.waiting.push_back({place.seq, freed, marker});
  std::push_heap(heap.waiting.begin(), heap.waiting.end());
}

namespace {

bool Plain(const BlockOrder& order, GraphId graph, BlockId block) {
  const BlockLife& life = order.lives()[block];
  if (life.root != graph || life.alloc.graph != graph || life.early.count != 0) return false;
  if (order.lives().ByStreams(block, order.rule()) && life.unordered.count != 0) return false;
  const std::span<const NodeId> markers = order.lives().Markers(block, order.rule());
  return std::ranges::all_of(markers, [&](NodeId marker) {
    const uint32_t chain = order.order().PlaceOf(marker).chain;
    return chain != OrderPoint::kNoChain && order.order().ChainGraph(chain) == graph;
  });
}

}  // namespace

bool PlainBlocks(const BlockOrder& order, GraphId graph, std::span<const BlockId> blocks) {
  const Trace& trace = order.trace();
  std::vector<BlockId> latest(trace.streams.size());
  for (const BlockId block : blocks) {
    const StreamId stream = trace[block].stream;
    if (stream.index() >= trace.streams.size() || !Plain(order, graph, block)) return false;
    BlockId& before = latest[stream.index()];
    const auto& lives = order.lives();
    if (before.valid() && !order.order().Covers(lives[block].alloc, lives[before].alloc)) {
      return false;
    }
    before = block;
  }
  return true;
}

}  // namespace graphkit
