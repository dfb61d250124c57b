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
  freed_[shared_ ? 0 : order_.trace()[block].stream.index()].push_back(block);
}

void FreedByOrder::BeforeMalloc(BlockId block, std::vector<BlockId>* found) {
  const StreamId id = order_.trace()[block].stream;
  const OrderPoint& point = order_.lives()[block].alloc;
  Stream& stream = streams_[id.index()];
  if (!(stream.point == point)) LookAgain(point, &stream, found);
  const std::vector<BlockId>& freed = freed_[shared_ ? 0 : id.index()];
  for (; stream.seen < freed.size(); ++stream.seen) {
    if (Found(freed[stream.seen], point, &stream)) found->push_back(freed[stream.seen]);
  }
}

// The stream has moved on.
void FreedByOrder::LookAgain(const OrderPoint& point, Stream* stream, std::vector<BlockId>* found) {
  stream->point = point;
  for (size_t i = 0; i < stream->heaps.size(); ++i) {
    const uint32_t chain = stream->heaps[i].chain;
    if (stream->heaps[i].waiting.empty()) continue;
    const uint32_t count = order_.order().CountAt(point, chain);
    while (true) {
      std::vector<Waiting>& waiting = stream->heaps[i].waiting;
      if (waiting.empty() || waiting.front().place >= count) break;
      const BlockId block = waiting.front().block;
      std::pop_heap(waiting.begin(), waiting.end());
      waiting.pop_back();
      if (Found(block, point, stream)) found->push_back(block);
    }
  }
  std::vector<BlockId> again;
  std::swap(again, stream->again);
  for (const BlockId block : again) {
    if (Found(block, point, stream)) found->push_back(block);
  }
}

bool FreedByOrder::Found(BlockId block, const OrderPoint& point, Stream* stream) {
  const Order& order = order_.order();
  const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
  for (const NodeId marker : markers) {
    if (order.Before(marker, point)) continue;
    Wait(block, order.PlaceOf(marker), stream);
    return false;
  }
  if (!markers.empty() && !order_.lives().ByStreams(block, order_.rule())) return true;
  const OrderPoint& alloc = order_.lives()[block].alloc;
  if (order.Covers(point, alloc)) return true;
  if (alloc.chain != OrderPoint::kNoChain && order.CountAt(point, alloc.chain) < alloc.count) {
    Wait(block, {alloc.chain, alloc.count - 1}, stream);
  } else {
    stream->again.push_back(block);
  }
  return false;
}

void FreedByOrder::Wait(BlockId block, const ChainPlace& place, Stream* stream) {
  const auto at = std::ranges::find(stream->heaps, place.chain, &Heap::chain);
  Heap& heap = at != stream->heaps.end() ? *at : stream->heaps.emplace_back(Heap{place.chain, {}});
  heap.waiting.push_back({place.seq, block});
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
