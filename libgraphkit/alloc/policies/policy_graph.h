// graph: the rule that pytorch-v1 was derived from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libgraphkit/alloc/chunks/chain_waits.h"
#include "libgraphkit/alloc/policies/policy_pytorch.h"
#include "libgraphkit/random.h"

namespace graphkit {

// Which freed blocks every stream of a capture is behind: each is found once, by the first malloc
// at which that is so.
//
// A stream moves forwards, so that a block that one stream isn't behind waits for that stream
// alone, for one of its markers; when the stream has reached it, another stream is looked for, at
// random, so that a block that all streams pass one by one waits for few of them. A node that all
// of them are behind saves asking each.
//
// It holds as long as every stream stays behind what it was behind, and one that joins the capture
// is behind what was found. Otherwise all is lost, and only a look at every pair can tell.
class BehindAll {
 public:
  // For a graph all of whose blocks are plain (PlainBlocks).
  explicit BehindAll(const PolicyView& view)
      : view_(view), order_(view.order.order()), streams_(view.slice.streams.size()) {}

  void Free(BlockId block);
  void BeforeMalloc(BlockId block, std::vector<BlockId>* found);
  bool lost() const { return lost_; }

 private:
  static constexpr size_t kFew = 8;  // nodes that are looked at one by one

  struct Stream {
    bool in = false;  // the capture
    uint32_t version = 0;
    size_t place = 0;          // in open_
    std::vector<NodeId> ends;  // it is behind their ends
    OrderPoint point;          // where it is so behind one only
    ChainWaits waits;
  };

  void TakeMoves();
  void Move(size_t number);
  void Leave(Stream* stream);
  void LookAgain(Stream* stream);
  bool MayJoin(std::span<const NodeId> ends) const;
  bool Behind(std::span<const NodeId> ends, NodeId node) const;
  bool Behind(std::span<const NodeId> ends, std::span<const NodeId> nodes) const;
  std::span<const NodeId> MarkersOf(BlockId block) const {
    return view_.order.lives().Markers(block, view_.order.rule());
  }
  bool Waits(BlockId block, size_t number);
  bool WaitsForSome(BlockId block);
  void RaiseFloor();
  void NoteFound(BlockId block);

  const PolicyView& view_;
  const Order& order_;
  std::vector<Stream> streams_;  // by stream of the graph
  std::vector<size_t> open_;     // those in the capture
  std::vector<BlockId> again_;   // freed, and waiting for no stream
  std::vector<NodeId> floor_;    // every stream is behind these
  bool floor_known_ = false;     // no stream has moved since
  size_t last_ = 0;              // the stream that a block waited for last
  // What was found: of each chain so many nodes, and what a stream was behind then.
  std::unordered_map<uint32_t, uint32_t> found_;
  std::vector<NodeId> behind_found_;
  std::vector<NodeId> ends_;
  Random random_{0};
  bool lost_ = false;
};

// A block comes back for all once what its streams stood at when it was freed is before where every
// stream of the capture stands; one that stayed on its stream comes back to that stream at once.
class GraphPolicy final : public DeferPolicy {
 public:
  GraphPolicy(const PolicyView& view, PolicySearch search) : DeferPolicy(view, search) {
    if (indexed()) behind_.emplace(view);
  }
  bool OffersFresh(StreamId, BlockId) const override { return true; }
  bool lost() const override { return behind_ && behind_->lost(); }

 protected:
  void Find(BlockId block) override;
  void Freed(BlockId block) override;
  bool Completes(BlockId pending, BlockId) const override { return BeforeAllStreams(pending); }
  bool MayTake(BlockId last, BlockId block) const override {
    return DeferPolicy::MayTake(last, block) ||
           (view_.order.Before(last, block) && BeforeAllStreams(last));
  }

 private:
  bool BeforeAllStreams(BlockId block) const;

  std::optional<BehindAll> behind_;
  std::vector<BlockId> found_;
};

}  // namespace graphkit
