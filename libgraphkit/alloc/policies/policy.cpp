#include "libgraphkit/alloc/policies/policy.h"

#include <algorithm>

#include "libgraphkit/alloc/policies/policy_by_order.h"
#include "libgraphkit/alloc/policies/policy_graph.h"
#include "libgraphkit/alloc/policies/policy_pytorch.h"
#include "libgraphkit/alloc/policies/policy_pytorch_v1.h"
#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {
namespace {

template <typename Policy>
std::unique_ptr<ReusePolicy> Make(const PolicyView& view, PolicySearch search) {
  return std::make_unique<Policy>(view, search);
}

template <bool any_stream>
std::unique_ptr<ReusePolicy> MakeByOrder(const PolicyView& view, PolicySearch search) {
  return std::make_unique<OrderPolicy>(view, search, any_stream);
}

bool HaveStreams(const Trace& trace, std::span<const BlockId> blocks, bool) {
  return std::ranges::all_of(blocks, [&](BlockId block) { return trace[block].stream.valid(); });
}

bool ArePlain(const Trace&, std::span<const BlockId>, bool plain) { return plain; }

// And none is of a graph inside of their graph.
bool ArePlainOfOneGraph(const Trace& trace, std::span<const BlockId> blocks, bool plain) {
  return plain && std::ranges::all_of(blocks, [&](BlockId block) {
           return trace[block].graph == trace[blocks.front()].graph;
         });
}

constexpr PolicyInfo kPolicies[] = {
    {.kind = PolicyKind::kDefer,
     .name = "defer",
     .can_index = HaveStreams,
     .make = Make<DeferPolicy>,
     .by_frontiers = false},
    {.kind = PolicyKind::kPyTorchV1,
     .name = "pytorch-v1",
     .can_index = HaveStreams,
     .make = Make<PyTorchV1Policy>},
    {.kind = PolicyKind::kPyTorch,
     .name = "pytorch",
     .can_index = HaveStreams,
     .make = Make<PyTorchPolicy>},
    {.kind = PolicyKind::kGraph,
     .name = "graph",
     .can_index = ArePlainOfOneGraph,
     .make = Make<GraphPolicy>,
     .own_then_all = true},
    {.kind = PolicyKind::kXStream,
     .name = "xstream",
     .can_index = ArePlain,
     .make = MakeByOrder<true>,
     .any_stream = true},
    {.kind = PolicyKind::kLastUse,
     .name = "last-use",
     .can_index = ArePlain,
     .make = MakeByOrder<false>,
     .rule = MarkerRule::kLastUse,
     .assumes = Assumption::kArguments},
    {.kind = PolicyKind::kReuse,
     .name = "reuse",
     .can_index = ArePlain,
     .make = MakeByOrder<true>,
     .rule = MarkerRule::kLastUse,
     .assumes = Assumption::kArguments,
     .any_stream = true,
     .misses = false},
    {.kind = PolicyKind::kOptimal,
     .name = "optimal",
     .can_index = ArePlain,
     .make = MakeByOrder<true>,
     .rule = MarkerRule::kLastUse,
     .assumes = Assumption::kArguments,
     .any_stream = true,
     .misses = false,
     .offline = true},
};

}  // namespace

std::span<const PolicyInfo> Policies() { return kPolicies; }

const PolicyInfo& InfoOf(PolicyKind kind) { return kPolicies[static_cast<size_t>(kind)]; }

std::vector<std::vector<StreamId>> OtherStreams(const Trace& trace, const Lifetimes* lives) {
  std::vector<std::vector<StreamId>> streams(trace.blocks.size());
  const auto add = [&](size_t block, StreamId stream) {
    if (!stream.valid() || stream == trace.blocks[block].stream) return;
    if (std::ranges::find(streams[block], stream) == streams[block].end()) {
      streams[block].push_back(stream);
    }
  };
  for (const BlockStream& use : trace.block_streams) {
    if (use.seq < trace[use.block].free_requested) add(use.block.index(), use.stream);
  }
  for (size_t i = 0; i < trace.blocks.size(); ++i) add(i, trace.blocks[i].free_stream);
  if (lives == nullptr) return streams;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (!Deferred(block) || !block.graph.valid() || !streams[i].empty()) continue;
    for (const Touch& touch : lives->Touches(BlockId(i))) add(i, trace[touch.node].stream);
    if (streams[i].empty()) streams[i].emplace_back();
  }
  return streams;
}

const std::vector<BlockId>& ReusePolicy::BeforeMalloc(BlockId block) {
  completed_.clear();
  offers_.clear();
  looks_ += pending_;
  Prepare(block);
  if (indexed()) {
    Find(block);
  } else {
    Scan(block);
  }
  return completed_;
}

void ReusePolicy::Scan(BlockId block) {
  std::erase_if(scanned_, [&](BlockId pending) {
    if (!Completes(pending, block)) return false;
    Complete(pending);
    return true;
  });
}

void ReusePolicy::Complete(BlockId block) {
  state_[Number(block)] = State::kComplete;
  completed_.push_back(block);
  --pending_;
}

bool ReusePolicy::Free(BlockId block) {
  offers_.clear();
  const bool at_once = AtOnce(block);
  state_[Number(block)] = at_once ? State::kComplete : State::kPending;
  if (!at_once) ++pending_;
  if (indexed()) {
    Freed(block);
  } else if (!at_once) {
    scanned_.push_back(block);
  }
  return at_once;
}

std::vector<BlockId> ReusePolicy::Pending() const {
  std::vector<BlockId> blocks;
  for (size_t i = 0; i < state_.size(); ++i) {
    if (state_[i] == State::kPending) blocks.push_back(BlockId(view_.slice.blocks[i]));
  }
  return blocks;
}

}  // namespace graphkit
