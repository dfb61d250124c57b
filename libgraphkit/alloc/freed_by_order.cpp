#include "libgraphkit/alloc/freed_by_order.h"

#include <algorithm>

namespace graphkit {

FreedByOrder::FreedByOrder(const BlockOrder& order, bool shared)
    : order_(order),
      shared_(shared),
      streams_(order.trace().streams.size()),
      freed_(shared ? 1 : order.trace().streams.size()) {}

void FreedByOrder::Free(BlockId block) {
  if (!order_.Dies(block)) return;
  const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
  const bool alloc = markers.empty() || order_.lives().ByStreams(block, order_.rule());
  freed_[ListOf(order_.trace()[block].stream)].push_back(
      {block, static_cast<uint32_t>(places_.size()), static_cast<uint32_t>(markers.size()), alloc});
  for (const NodeId marker : markers) places_.push_back(order_.order().PlaceOf(marker));
}

void FreedByOrder::BeforeMalloc(BlockId block, std::vector<BlockId>* found) {
  const StreamId id = order_.trace()[block].stream;
  const OrderPoint& point = order_.lives()[block].alloc;
  Stream& stream = streams_[id.index()];
  const std::vector<Freed>& list = freed_[ListOf(id)];
  if (!(stream.point == point)) LookAgain(list, point, &stream, found);
  for (; stream.seen < list.size(); ++stream.seen) {
    if (Found(list, static_cast<uint32_t>(stream.seen), 0, point, &stream)) {
      found->push_back(list[stream.seen].block);
    }
  }
}

// The stream has moved on.
void FreedByOrder::LookAgain(const std::vector<Freed>& list, const OrderPoint& point,
                             Stream* stream, std::vector<BlockId>* found) {
  stream->point = point;
  for (size_t i = 0; i < stream->heaps.size(); ++i) {
    if (stream->heaps[i].waiting.empty()) continue;
    const uint32_t count = order_.order().CountAt(point, stream->heaps[i].chain);
    while (true) {
      std::vector<Waiting>& waiting = stream->heaps[i].waiting;
      if (waiting.empty() || waiting.front().place >= count) break;
      const Waiting next = waiting.front();
      std::pop_heap(waiting.begin(), waiting.end());
      waiting.pop_back();
      if (Found(list, next.freed, next.marker, point, stream)) {
        found->push_back(list[next.freed].block);
      }
    }
  }
  std::vector<uint32_t> again;
  std::swap(again, stream->again);
  for (const uint32_t freed : again) {
    if (AfterAlloc(freed, list[freed].block, point, stream)) found->push_back(list[freed].block);
  }
}

// A stream's mallocs never go back, so what one of them is after the next one is after as well.
bool FreedByOrder::Found(const std::vector<Freed>& list, uint32_t freed, uint32_t marker,
                         const OrderPoint& point, Stream* stream) {
  const Freed& f = list[freed];
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
    constexpr uint32_t kNoMarker = 0xffffffffu;
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
