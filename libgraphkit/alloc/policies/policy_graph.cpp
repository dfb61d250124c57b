#include "libgraphkit/alloc/policies/policy_graph.h"

#include <algorithm>
#include <utility>

namespace graphkit {

bool BehindAll::Behind(std::span<const NodeId> ends, NodeId node) const {
  return std::ranges::any_of(ends, [&](NodeId end) { return order_.EndsBefore(node, end); });
}

bool BehindAll::Behind(std::span<const NodeId> ends, std::span<const NodeId> nodes) const {
  if (nodes.size() <= ends.size() && std::ranges::equal(nodes, ends.first(nodes.size()))) {
    return true;
  }
  return std::ranges::all_of(nodes, [&](NodeId node) { return Behind(ends, node); });
}

void BehindAll::TakeMoves() {
  for (const size_t stream : *view_.moved) Move(stream);
  if (!view_.moved->empty()) floor_known_ = false;
  view_.moved->clear();
}

void BehindAll::Move(size_t number) {
  const StreamFrontier& frontier = view_.frontiers.Of(StreamId(view_.slice.streams[number]));
  Stream& stream = streams_[number];
  if (stream.version == frontier.version) return;
  stream.version = frontier.version;
  if (frontier.graph != view_.slice.root) {
    if (stream.in) Leave(&stream);
    return;
  }
  ends_.clear();
  for (const FrontierEntry& entry : frontier.entries) {
    if (entry.from_port == kPortDefault) ends_.push_back(entry.node);
  }
  if (stream.in) {
    if (!Behind(ends_, stream.ends)) lost_ = true;
  } else {
    if (!MayJoin(ends_)) lost_ = true;
    if (!Behind(ends_, floor_)) floor_.clear();
    stream.in = true;
    stream.place = open_.size();
    open_.push_back(number);
  }
  std::swap(stream.ends, ends_);
  LookAgain(&stream);
}

void BehindAll::Leave(Stream* stream) {
  streams_[open_.back()].place = stream->place;
  open_[stream->place] = open_.back();
  open_.pop_back();
  stream->in = false;
  stream->ends.clear();
  stream->point = {};
  stream->waits.TakeAll([&](uint32_t block) { again_.emplace_back(block); });
}

// Looks again at the blocks that wait for the stream: at those that its new place is behind, or at
// all of them where it is behind many nodes.
void BehindAll::LookAgain(Stream* stream) {
  const auto reached = [&](uint32_t block) { again_.emplace_back(block); };
  const OrderPoint before = std::exchange(stream->point, {});
  if (stream->ends.size() > kFew) {
    stream->waits.TakeAll(reached);
    return;
  }
  for (const NodeId end : stream->ends) {
    const OrderPoint point = order_.EndOf(end);
    stream->waits.Advance(order_, before, point, reached);
    if (stream->ends.size() == 1) stream->point = point;
  }
}

bool BehindAll::MayJoin(std::span<const NodeId> ends) const {
  if (found_.empty() || (!behind_found_.empty() && Behind(ends, behind_found_))) return true;
  return std::ranges::all_of(found_, [&](const auto& found) {
    return std::ranges::any_of(ends, [&](NodeId end) {
      return order_.CountAt(order_.EndOf(end), found.first) >= found.second;
    });
  });
}

void BehindAll::NoteFound(BlockId block) {
  for (const NodeId marker : MarkersOf(block)) {
    const ChainPlace place = order_.PlaceOf(marker);
    uint32_t& count = found_[place.chain];
    count = std::max(count, place.seq + 1);
  }
}

// Who is behind all markers must be behind the block's allocation: so it is where the streams that
// the block was freed on are the markers.
void BehindAll::Free(BlockId id) {
  TakeMoves();
  if (!view_.order.Dies(id)) return;
  const Block& block = view_.trace[id];
  const OrderPoint& alloc = view_.order.lives()[id].alloc;
  const std::span<const NodeId> markers = MarkersOf(id);
  const bool by_nodes = block.alloc_node.valid() || block.free_node.valid();
  const bool nothing = alloc.chain == OrderPoint::kNoChain && alloc.row == ClockRows::kEmpty;
  if (!nothing && (by_nodes || markers.empty()) && std::ranges::none_of(markers, [&](NodeId node) {
        return order_.Covers(order_.StartOf(node), alloc);
      })) {
    lost_ = true;
  }
  again_.push_back(id);
}

void BehindAll::BeforeMalloc(BlockId id, std::vector<BlockId>* found) {
  TakeMoves();
  const Block& block = view_.trace[id];
  const Stream& own = streams_[view_.slice.streams.NumberOf(block.stream.index())];
  // It must come after what its stream is behind.
  const OrderPoint& alloc = view_.order.lives()[id].alloc;
  if (!own.in || (block.alloc_node.valid() && !std::ranges::all_of(own.ends, [&](NodeId end) {
                    return end == block.alloc_node || order_.Before(end, alloc);
                  }))) {
    lost_ = true;
    return;
  }
  const size_t known = found->size();
  for (const BlockId freed : std::exchange(again_, {})) {
    if (WaitsForSome(freed)) continue;
    found->push_back(freed);
    NoteFound(freed);
    const auto markers = MarkersOf(freed);
    if (std::ranges::find(markers, block.alloc_node) != markers.end()) lost_ = true;
  }
  if (found->size() == known) return;
  const std::vector<NodeId>& first = streams_[open_.front()].ends;
  behind_found_.assign(first.begin(), first.size() > kFew ? first.begin() : first.end());
}

// Whether the stream isn't behind the block: then it waits for it.
bool BehindAll::Waits(BlockId block, size_t number) {
  Stream& stream = streams_[number];
  if (!stream.in) return false;
  const std::span<const NodeId> markers = MarkersOf(block);
  const auto missing =
      std::ranges::find_if(markers, [&](NodeId node) { return !Behind(stream.ends, node); });
  if (missing == markers.end()) return false;
  stream.waits.Wait(order_.PlaceOf(*missing), block.value);
  last_ = number;
  return true;
}

bool BehindAll::WaitsForSome(BlockId block) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries && !open_.empty(); ++i) {
    const size_t some = open_[random_.Below(open_.size())];
    if (streams_[some].ends.size() <= kFew && Waits(block, some)) return true;
  }
  if (Waits(block, last_)) return true;
  const auto markers = MarkersOf(block);
  if (Behind(floor_, markers)) return false;
  if (!std::exchange(floor_known_, true)) {
    RaiseFloor();
    if (Behind(floor_, markers)) return false;
  }
  return std::ranges::any_of(open_, [&](size_t number) { return Waits(block, number); });
}

// To where the stream stands whose last node was captured first.
void BehindAll::RaiseFloor() {
  const auto last = [&](size_t number) {
    const std::vector<NodeId>& ends = streams_[number].ends;
    return ends.empty() ? 0 : std::ranges::max_element(ends, {}, &NodeId::value)->value;
  };
  const auto least = std::ranges::min_element(open_, {}, last);
  if (least == open_.end() || streams_[*least].ends.size() > kFew) return;
  floor_ = streams_[*least].ends;
  std::erase_if(floor_, [&](NodeId node) {
    return !std::ranges::all_of(open_,
                                [&](size_t number) { return Behind(streams_[number].ends, node); });
  });
}

void GraphPolicy::Find(BlockId block) {
  found_.clear();
  behind_->BeforeMalloc(block, &found_);
  for (const BlockId found : found_) {
    if (pending(found)) Complete(found);
    AddOffer(found, BlockId());
  }
}

void GraphPolicy::Freed(BlockId block) {
  DeferPolicy::Freed(block);
  behind_->Free(block);
}

bool GraphPolicy::BeforeAllStreams(BlockId block) const {
  const BlockOrder& order = view_.order;
  if (!order.Dies(block)) return false;
  const GraphId graph = view_.trace[block].graph;
  const auto passed = [&](const StreamFrontier& frontier, NodeId marker) {
    return std::ranges::any_of(frontier.entries, [&](const FrontierEntry& entry) {
      return entry.from_port == kPortDefault && order.order().EndsBefore(marker, entry.node);
    });
  };
  for (size_t i = 0; i < view_.slice.streams.size(); ++i) {
    const StreamFrontier& frontier = view_.frontiers.Of(StreamId(view_.slice.streams[i]));
    if (frontier.graph != graph || !frontier.capturing()) continue;
    for (const NodeId marker : order.lives().Markers(block, order.rule())) {
      if (!passed(frontier, marker)) return false;
    }
  }
  return true;
}

}  // namespace graphkit
