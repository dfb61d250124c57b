// When a block's memory may be used again: the rules that replays of a trace compare. A policy sees
// the trace in capture order, decides at each malloc, and never gives away a block before its free
// was requested. docs/policies.md.
//
//     defer       a block used on other streams waits for the end of the capture
//     pytorch     graph_capture_record_stream_reuse: markers at the free, looked at by the next
//                 malloc of the same stream
//     pytorch-v1  its first version: the markers are nodes of their own
//     graph       markers at the free; any stream, once every stream is behind them
//     xstream     markers at the free; any stream that is ordered after them
//     last-use    markers at the last use; the block's own stream
//     reuse       markers at the last use; any stream that is ordered after them
//     optimal     offline: the plan of capture_planner.h; frees complete as with reuse
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libgraphkit/alloc/policies/malloc_views.h"
#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/order/frontier.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

enum class PolicyKind : uint8_t {
  kDefer,
  kPyTorchV1,
  kPyTorch,
  kGraph,
  kXStream,
  kLastUse,
  kReuse,
  kOptimal
};

// What a policy may look at. All of it must outlive the policy.
struct PolicyView {
  const Trace& trace;
  const InEdges& in_edges;
  const BlockOrder& order;                            // by the policy's rule
  const FrontierReplay& frontiers;                    // as they stand at the event
  const std::vector<std::vector<StreamId>>& streams;  // by block: what it is used on beside its own
  const GraphSlice& slice;                            // of the graph
  const MallocViews* views = nullptr;                 // with kIndex
  // The graph's streams that moved, added by `frontiers`; who reads it clears it.
  std::vector<size_t>* moved = nullptr;
};

// The streams that each block was recorded or freed on, other than its own. With `lives` also those
// of the nodes that touch it, where its free was deferred and no use on another stream was
// recorded: PyTorch's memory history has no record_stream, but shows what came of it. None: it
// isn't known which stream.
std::vector<std::vector<StreamId>> OtherStreams(const Trace& trace,
                                                const Lifetimes* lives = nullptr);

// A block's memory may go to the mallocs of a view from here on: those that see what `like` sees.
struct Offer {
  BlockId block;
  BlockId like;  // none: to all mallocs
  bool operator==(const Offer&) const = default;
};

// How a policy finds what a malloc completes.
enum class PolicySearch : uint8_t {
  kScan,   // it looks at every pending block: slow, and plain to see
  kIndex,  // by what each of them waits for
};

class ReusePolicy {
 public:
  ReusePolicy(const PolicyView& view, PolicySearch search)
      : view_(view), search_(search), state_(view.slice.blocks.size()) {}
  virtual ~ReusePolicy() = default;

  // `block` is about to be allocated: completes the frees that this malloc finds complete. The
  // result holds them until the next call.
  const std::vector<BlockId>& BeforeMalloc(BlockId block);
  // The block's free is requested; whether it is complete at once.
  bool Free(BlockId block);
  // What the last of these calls found that may be taken, by whom; only with kIndex. All that
  // Offers says then follows from it: a block that was offered to a view stays so.
  const std::vector<Offer>& offers() const { return offers_; }
  // With kIndex: something came that the index can't tell. Only kScan can, from the beginning.
  virtual bool lost() const { return false; }

  // Whether `block` may take memory where `last` lay last.
  bool Offers(BlockId last, BlockId block) const { return freed(last) && MayTake(last, block); }
  // Whether it may take memory of a segment of `owner` where no block lay so far.
  virtual bool OffersFresh(StreamId owner, BlockId block) const {
    return view_.trace[block].stream == owner;
  }
  bool freed(BlockId block) const { return state_[Number(block)] != State::kUsed; }
  // Freed, and found by no malloc so far; by id.
  std::vector<BlockId> Pending() const;
  // How often a malloc that scans has looked at a pending block so far.
  uint64_t looks() const { return looks_; }

 protected:
  enum class State : uint8_t { kUsed, kPending, kComplete };

  virtual void Prepare(BlockId) {}         // before the pending ones are looked at
  virtual bool AtOnce(BlockId block) = 0;  // complete when freed
  // With kIndex: completes and offers what this malloc finds; and takes note of a free.
  virtual void Find(BlockId block) = 0;
  virtual void Freed(BlockId block) = 0;
  virtual bool Completes(BlockId pending, BlockId block) const = 0;  // found by this malloc
  virtual bool MayTake(BlockId last, BlockId block) const = 0;
  bool complete(BlockId block) const { return state_[Number(block)] == State::kComplete; }
  bool SameStream(BlockId a, BlockId b) const {
    return view_.trace[a].stream.valid() && view_.trace[a].stream == view_.trace[b].stream;
  }

  bool pending(BlockId block) const { return state_[Number(block)] == State::kPending; }
  size_t Number(BlockId block) const { return view_.slice.blocks.NumberOf(block.index()); }
  bool indexed() const { return search_ == PolicySearch::kIndex; }
  void Complete(BlockId block);
  void AddOffer(BlockId block, BlockId like) { offers_.push_back({block, like}); }

  const PolicyView& view_;

 private:
  void Scan(BlockId block);

  PolicySearch search_;
  std::vector<State> state_;      // by block of the graph
  std::vector<BlockId> scanned_;  // with kScan: those that are pending
  uint64_t pending_ = 0;
  uint64_t looks_ = 0;
  std::vector<BlockId> completed_;
  std::vector<Offer> offers_;
};

// All that a replay needs to know of a policy.
struct PolicyInfo {
  PolicyKind kind;
  const char* name;
  // Whether it can be asked for offers for these blocks of a graph; `plain`: PlainBlocks of them.
  bool (*can_index)(const Trace& trace, std::span<const BlockId> blocks, bool plain);
  std::unique_ptr<ReusePolicy> (*make)(const PolicyView& view, PolicySearch search);
  MarkerRule rule = MarkerRule::kAtFree;           // by which its placements are judged
  Assumption assumes = Assumption::kTorchStreams;  // what its reuse rests on
  bool any_stream = false;                         // segments belong to no stream
  bool own_then_all = false;  // neither; a block may come back to its own stream before any other
  bool misses = true;         // last use may prove reuse safe that it doesn't offer
  bool offline = false;       // places by a plan of the whole graph
  bool by_frontiers = true;   // looks at where the streams stand
};
// Every policy, from the one that reuses least to the one that reuses most.
std::span<const PolicyInfo> Policies();
const PolicyInfo& InfoOf(PolicyKind kind);

// By whose rule a plan that is given is replayed.
inline constexpr PolicyKind kPolicyOfPlans = PolicyKind::kOptimal;

}  // namespace graphkit
