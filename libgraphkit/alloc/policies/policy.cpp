#include "libgraphkit/alloc/policies/policy.h"

#include "libgraphkit/analysis/memory/timeline.h"

namespace graphkit {
namespace {

constexpr PolicyInfo kPolicies[] = {
    {.kind = PolicyKind::kDefer, .name = "defer", .make = MakeDefer},
    {.kind = PolicyKind::kPyTorchV1, .name = "pytorch-v1", .make = MakePyTorchV1},
    {.kind = PolicyKind::kPyTorch, .name = "pytorch", .make = MakePyTorch},
    {.kind = PolicyKind::kXStream,
     .name = "xstream",
     .make = MakeByOrder,
     .by_order = true,
     .any_stream = true},
    {.kind = PolicyKind::kLastUse,
     .name = "last-use",
     .make = MakeByOrderOfStream,
     .rule = MarkerRule::kLastUse,
     .assumes = Assumption::kArguments,
     .by_order = true},
    {.kind = PolicyKind::kReuse,
     .name = "reuse",
     .make = MakeByOrder,
     .rule = MarkerRule::kLastUse,
     .assumes = Assumption::kArguments,
     .by_order = true,
     .any_stream = true,
     .misses = false},
    {.kind = PolicyKind::kOptimal,
     .name = "optimal",
     .make = MakeByOrder,
     .rule = MarkerRule::kLastUse,
     .assumes = Assumption::kArguments,
     .by_order = true,
     .any_stream = true,
     .misses = false,
     .offline = true},
};

// When the last of the captures ends that are under way at `seq`, chained: one that begins before
// another one ends goes on holding. 0: none is.
Seq HeldUntil(const Ran& trace, Seq seq) {
  Seq until = 0;
  for (bool longer = true; longer;) {
    longer = false;
    const Seq at = std::max(until, seq);
    for (const Capture& capture : trace.captures) {
      if (capture.begin > at || capture.end <= at) continue;
      until = capture.end;
      longer = true;
    }
  }
  return until;
}

}  // namespace

std::span<const PolicyInfo> Policies() { return kPolicies; }

const PolicyInfo& InfoOf(PolicyKind kind) { return kPolicies[static_cast<size_t>(kind)]; }

std::string_view ReplacementFor(std::string_view name) { return name == "graph" ? "xstream" : ""; }

std::vector<std::vector<StreamId>> OtherStreams(const Ran& trace, const Lifetimes* lives) {
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
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    if (!Deferred(block) || !block.graph.valid() || !streams[i].empty()) continue;
    for (const NodeId touch : lives->Touches(BlockId(i))) add(i, trace[touch].stream);
    if (streams[i].empty()) streams[i].emplace_back();
  }
  return streams;
}

Collateral FindCollateral(const Ran& trace) {
  const std::vector<std::vector<StreamId>> streams = OtherStreams(trace);
  Collateral collateral;
  std::vector<std::pair<Seq, std::pair<bool, Bytes>>> changes;  // ends come before begins
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (block.graph.valid() || !block.freed() || streams[i].empty()) continue;
    if (block.pool.index() >= trace.pools.size()) continue;
    const Pool& pool = trace[block.pool];
    if (pool.kind != PoolKind::kAllocator && pool.kind != PoolKind::kPrivate) continue;
    const Seq until = HeldUntil(trace, block.free_requested);
    if (until == 0) continue;
    const Bytes size = RoundedSize(block);
    ++collateral.blocks;
    collateral.bytes += size;
    changes.push_back({block.free_requested, {true, size}});
    changes.push_back({until, {false, size}});
  }
  std::ranges::sort(changes);
  Bytes held = 0;
  for (const auto& [seq, change] : changes) {
    held = change.first ? held + change.second : held - change.second;
    collateral.peak = std::max(collateral.peak, held);
  }
  return collateral;
}

const std::vector<BlockId>& ReusePolicy::BeforeMalloc(BlockId block) {
  completed_.clear();
  offers_.clear();
  looks_ += pending_;
  Find(block);
  return completed_;
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
  Freed(block);
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
