#include "libgraphkit/alloc/freed_by_order.h"

#include <algorithm>

namespace graphkit {

namespace {

constexpr uint32_t kNoRow = 0xffffffffu;
constexpr uint32_t kNoMarker = 0xffffffffu;
// A block comes into its row at most so far from the end.
constexpr size_t kMostBack = 32;
// More heaps than these are dropped when nothing waits in them.
constexpr size_t kKeptHeaps = 16;

}  // namespace

FreedByOrder::FreedByOrder(const BlockOrder& order, bool shared)
    : order_(order),
      shared_(shared),
      streams_(order.trace().streams.size()),
      lists_(shared ? 1 : order.trace().streams.size()) {}

void FreedByOrder::Free(BlockId block) {
  if (!order_.Dies(block)) return;
  const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
  const bool counts = markers.empty() || order_.lives().ByStreams(block, order_.rule());
  const bool alloc = counts && !ImpliesAlloc(markers, block);
  List& list = lists_[ListOf(order_.trace()[block].stream)];
  const auto freed = static_cast<uint32_t>(list.freed.size());
  const auto first = static_cast<uint32_t>(places_.size());
  list.freed.push_back({block, first, static_cast<uint32_t>(markers.size()), alloc});
  for (auto marker = markers.rbegin(); marker != markers.rend(); ++marker) {
    places_.push_back(order_.order().PlaceOf(*marker));
  }
  if (markers.empty() || !PutInRow(freed, places_[first], &list)) list.apart.push_back(freed);
}

// Whether who is after the markers is after the block's allocation in any case.
bool FreedByOrder::ImpliesAlloc(std::span<const NodeId> markers, BlockId block) const {
  const OrderPoint& alloc = order_.lives()[block].alloc;
  return std::ranges::any_of(markers, [&](NodeId marker) {
    return order_.order().Covers(order_.order().StartOf(marker), alloc);
  });
}

uint32_t FreedByOrder::RowOf(uint32_t chain, List* list) {
  if (list->row_of.size() <= chain) list->row_of.resize(chain + 1, kNoRow);
  uint32_t& row = list->row_of[chain];
  if (row != kNoRow) return row;
  row = static_cast<uint32_t>(list->rows.size());
  list->rows.push_back({chain, {}});
  for (const StreamId reader : list->readers) streams_[reader.index()].passed.push_back(0);
  return row;
}

bool FreedByOrder::PutInRow(uint32_t freed, const ChainPlace& place, List* list) {
  const uint32_t row = RowOf(place.chain, list);
  const std::vector<InRow>& blocks = list->rows[row].blocks;
  size_t at = blocks.size();
  const size_t least = at - std::min(at, kMostBack);
  while (at > least && blocks[at - 1].place > place.seq) --at;
  if (at > 0 && blocks[at - 1].place > place.seq) return false;
  Insert(row, at, {place.seq, freed}, list);
  return true;
}

void FreedByOrder::Insert(uint32_t row, size_t at, const InRow& block, List* list) {
  std::vector<InRow>& blocks = list->rows[row].blocks;
  for (const StreamId reader : list->readers) {
    Stream& stream = streams_[reader.index()];
    uint32_t& passed = stream.passed[row];
    if (passed > at) {
      ++passed;
      stream.late.push_back(block.freed);
    } else if (passed == blocks.size()) {
      stream.ahead.push_back(row);
    }
  }
  blocks.insert(blocks.begin() + static_cast<ptrdiff_t>(at), block);
}

void FreedByOrder::StartReading(StreamId id, Stream* stream, List* list) {
  stream->reads = true;
  list->readers.push_back(id);
  stream->passed.assign(list->rows.size(), 0);
  for (uint32_t row = 0; row < list->rows.size(); ++row) {
    if (!list->rows[row].blocks.empty()) stream->ahead.push_back(row);
  }
}

void FreedByOrder::BeforeMalloc(BlockId block, std::vector<BlockId>* found) {
  const StreamId id = order_.trace()[block].stream;
  const OrderPoint& point = order_.lives()[block].alloc;
  Stream& stream = streams_[id.index()];
  List& list = lists_[ListOf(id)];
  if (!stream.reads) StartReading(id, &stream, &list);
  if (!(stream.point == point)) LookAgain(list, point, &stream, found);
  GoAlong(list, point, &stream, found);
  for (; stream.apart < list.apart.size(); ++stream.apart) {
    const uint32_t freed = list.apart[stream.apart];
    if (Found(list, freed, 0, point, &stream)) found->push_back(list.freed[freed].block);
  }
}

void FreedByOrder::GoAlong(const List& list, const OrderPoint& point, Stream* stream,
                           std::vector<BlockId>* found) {
  for (size_t i = 0; i < stream->ahead.size();) {
    const uint32_t row = stream->ahead[i];
    const std::vector<InRow>& blocks = list.rows[row].blocks;
    const uint32_t count = order_.order().CountAt(point, list.rows[row].chain);
    uint32_t& passed = stream->passed[row];
    for (; passed < blocks.size() && blocks[passed].place < count; ++passed) {
      const uint32_t freed = blocks[passed].freed;
      if (Found(list, freed, 1, point, stream)) found->push_back(list.freed[freed].block);
    }
    if (passed < blocks.size()) {
      ++i;
    } else {
      stream->ahead[i] = stream->ahead.back();
      stream->ahead.pop_back();
    }
  }
  for (const uint32_t freed : stream->late) {
    if (Found(list, freed, 1, point, stream)) found->push_back(list.freed[freed].block);
  }
  stream->late.clear();
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

// A stream's mallocs never go back, so what one of them is after the next one is after as well.
bool FreedByOrder::Found(const List& list, uint32_t freed, uint32_t marker, const OrderPoint& point,
                         Stream* stream) {
  const Freed& f = list.freed[freed];
  for (; marker < f.count; ++marker) {
    const ChainPlace& place = places_[f.first + marker];
    if (order_.order().CountAt(point, place.chain) > place.seq) continue;
    Wait(place, freed, marker, stream);
    return false;
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
