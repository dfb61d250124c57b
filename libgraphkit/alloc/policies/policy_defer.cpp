#include "libgraphkit/alloc/policies/policy_defer.h"

namespace graphkit {

std::unique_ptr<ReusePolicy> MakeDefer(const PolicyView& view) {
  return std::make_unique<DeferPolicy>(view);
}

// None: they aren't all in one.
GraphId MarkerPolicy::CaptureOf(std::span<const StreamId> streams) const {
  const GraphId graph = frontiers_.Of(streams.front()).graph;
  const bool all = std::ranges::all_of(
      streams, [&](StreamId stream) { return frontiers_.Of(stream).graph == graph; });
  return all ? graph : GraphId();
}

bool MarkerPolicy::AtOnce(BlockId block) {
  AdvanceTo(view_.trace[block].free_requested);
  if (DeferPolicy::AtOnce(block)) return true;
  std::vector<StreamId> streams = view_.streams[block.index()];
  streams.push_back(view_.trace[block].stream);
  const GraphId graph = CaptureOf(streams);
  if (!graph.valid()) return false;
  std::vector<NodeId>& markers = markers_[Number(block)];
  for (const StreamId stream : streams) Mark(stream, graph, &markers);
  if (!markers.empty()) streams_[{graph, streams.back()}].freed.push_back(block);
  return false;
}

void MarkerPolicy::Find(BlockId block) {
  AdvanceTo(view_.trace[block].allocated);
  const StreamId stream = view_.trace[block].stream;
  const StreamFrontier& frontier = frontiers_.Of(stream);
  if (!frontier.capturing() || frontier.entries.empty()) return;
  Stream& own = streams_[{frontier.graph, stream}];
  if (own.version != frontier.version) {
    own.version = frontier.version;
    Move(frontier.entries, &own);
    for (const uint32_t number : std::exchange(own.view.again, {})) Look(number, &own);
  }
  while (own.view.seen < own.freed.size()) Look(static_cast<uint32_t>(own.view.seen++), &own);
}

void MarkerPolicy::Advance(const OrderPoint& point, Stream* own) {
  const OrderPoint before = std::exchange(own->view.point, point);
  own->view.waits.Advance(order_, before, point, [&](uint32_t number) { Look(number, own); });
}

// The block comes back, or waits for the first of its markers that the stream hasn't passed.
void MarkerPolicy::Look(uint32_t number, Stream* own) {
  const BlockId block = own->freed[number];
  const std::vector<NodeId>& markers = markers_[Number(block)];
  const auto missing =
      std::ranges::find_if(markers, [&](NodeId marker) { return !Passed(*own, marker); });
  if (missing == markers.end()) {
    Complete(block);
    OfferToItsStream(block);
    return;
  }
  const ChainPlace place = order_.PlaceOf(*missing);
  if (place.chain == OrderPoint::kNoChain) return;  // it was taken out of its graph
  if (order_.Before(*missing, own->view.point)) {
    own->view.again.push_back(number);
  } else {
    own->view.waits.Wait(place, number);
  }
}

}  // namespace graphkit
