// When a block's memory may be used again: the rules that replays of a trace compare. A policy sees
// the trace in capture order, decides at each malloc, and never gives away a block before its free
// was requested. docs/replay.md.
//
//     defer       a block used on other streams waits for the end of the capture
//     pytorch     graph_capture_record_stream_reuse: markers at the free, looked at by the next
//                 malloc of the same stream
//     pytorch-v1  its first version: the markers are nodes of their own
//     xstream     markers at the free; any stream that is ordered after them
//     last-use    markers at the last use; the block's own stream
//     reuse       markers at the last use; any stream that is ordered after them
//     optimal     offline: the plan of capture_planner.h; frees complete as with reuse
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/alloc/policies/freed_by_order.h"
#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/order/frontier.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

enum class PolicyKind : uint8_t {
  kDefer,
  kPyTorchV1,
  kPyTorch,
  kXStream,
  kLastUse,
  kReuse,
  kOptimal
};

// The input of a policy. All of it must outlive the policy.
struct PolicyView {
  const Ran& trace;
  const InEdges& in_edges;
  const BlockOrder& order;                            // by the policy's rule
  const Order& walks;                                 // in which every edge is a full one
  FrontierReplay& frontiers;                          // the policy takes them to where it is
  const std::vector<std::vector<StreamId>>& streams;  // by block: what it is used on beside its own
  const GraphSlice& slice;                            // of the graph
  const MallocViews* views = nullptr;                 // none: what is freed is found pair by pair
};

// The streams that each block was recorded or freed on, other than its own. With `lives` also those
// of the nodes that touch it, where its free was deferred and no use on another stream was
// recorded: PyTorch's memory history has no record_stream, but shows what came of it. None: it
// isn't known which stream.
std::vector<std::vector<StreamId>> OtherStreams(const Ran& trace, const Lifetimes* lives = nullptr);

// Blocks outside of every graph that PyTorch's allocator holds back because a capture is under way
// somewhere in the process: their free finds uses on other streams, and events can't be asked then
// (c10/cuda/CUDACachingAllocator.cpp, December 2025).
struct Collateral {
  uint64_t blocks = 0;
  Bytes bytes = 0;  // of all of them
  Bytes peak = 0;   // most of them held back at once
  bool operator==(const Collateral&) const = default;
};
Collateral FindCollateral(const Ran& trace);

// A block's memory may go to the mallocs of a view from here on: those that see what `like` sees.
struct Offer {
  BlockId block;
  BlockId like;
};

class ReusePolicy {
 public:
  explicit ReusePolicy(const PolicyView& view) : view_(view), state_(view.slice.blocks.size()) {}
  virtual ~ReusePolicy() = default;

  // `block` is about to be allocated: completes the frees that this malloc finds complete. The
  // result holds them until the next call.
  const std::vector<BlockId>& BeforeMalloc(BlockId block);
  // The block's free is requested; whether it is complete at once.
  bool Free(BlockId block);
  // The blocks that the last of these calls found, and who may take them; not without views. All
  // that Offers says follows from it: a block that was offered to a view stays so.
  const std::vector<Offer>& offers() const { return offers_; }

  // True if `block` may take memory where `last` lay last.
  bool Offers(BlockId last, BlockId block) const { return freed(last) && MayTake(last, block); }
  // True if it may take memory of a segment of `owner` where no block lay so far.
  virtual bool OffersFresh(StreamId owner, BlockId block) const {
    return view_.trace[block].stream == owner;
  }
  bool freed(BlockId block) const { return state_[Number(block)] != State::kUsed; }
  // Freed, and found by no malloc so far; by id.
  std::vector<BlockId> Pending() const;
  // How often a malloc that looks at every pending block would have looked at one so far.
  uint64_t looks() const { return looks_; }

 protected:
  enum class State : uint8_t { kUsed, kPending, kComplete };

  virtual bool AtOnce(BlockId block) = 0;  // complete when freed
  virtual void Freed(BlockId block) = 0;
  // Completes and offers what this malloc finds.
  virtual void Find(BlockId block) = 0;
  virtual bool MayTake(BlockId last, BlockId block) const = 0;
  bool complete(BlockId block) const { return state_[Number(block)] == State::kComplete; }
  bool SameStream(BlockId a, BlockId b) const {
    return view_.trace[a].stream.valid() && view_.trace[a].stream == view_.trace[b].stream;
  }

  bool pending(BlockId block) const { return state_[Number(block)] == State::kPending; }
  size_t Number(BlockId block) const { return view_.slice.blocks.NumberOf(block.index()); }
  void Complete(BlockId block);
  void AddOffer(BlockId block, BlockId like) { offers_.push_back({block, like}); }

  const PolicyView& view_;

 private:
  std::vector<State> state_;  // by block of the graph
  uint64_t pending_ = 0;
  uint64_t looks_ = 0;
  std::vector<BlockId> completed_;
  std::vector<Offer> offers_;
};

// All that a replay needs to know of a policy.
struct PolicyInfo {
  PolicyKind kind;
  const char* name;
  std::unique_ptr<ReusePolicy> (*make)(const PolicyView& view);
  MarkerRule rule = MarkerRule::kAtFree;           // by which its placements are judged
  Assumption assumes = Assumption::kTorchStreams;  // what its reuse rests on
  bool by_order = false;    // has offers only for plain blocks (PlainBlocks, freed_by_order.h)
  bool any_stream = false;  // segments belong to no stream
  bool misses = true;       // last use may prove reuse safe that it doesn't offer
  bool offline = false;     // places by a plan of the whole graph
};

// Each in a file of its own.
std::unique_ptr<ReusePolicy> MakeDefer(const PolicyView& view);
std::unique_ptr<ReusePolicy> MakePyTorch(const PolicyView& view);
std::unique_ptr<ReusePolicy> MakePyTorchV1(const PolicyView& view);
std::unique_ptr<ReusePolicy> MakeByOrder(const PolicyView& view);
std::unique_ptr<ReusePolicy> MakeByOrderOfStream(const PolicyView& view);

// Every policy, from the one that reuses least to the one that reuses most.
std::span<const PolicyInfo> Policies();
const PolicyInfo& InfoOf(PolicyKind kind);
// Names a policy to use in place of one that was taken out; empty: there never was one of the name.
std::string_view ReplacementFor(std::string_view name);

// By whose rule a plan that is given is replayed.
inline constexpr PolicyKind kPolicyOfPlans = PolicyKind::kOptimal;

}  // namespace graphkit
