#include "libgraphkit/alloc/policies/policy.h"

#include <algorithm>
#include <array>

#include "libgraphkit/alloc/policies/policy_by_order.h"
#include "libgraphkit/alloc/policies/policy_pytorch.h"
#include "libgraphkit/alloc/policies/policy_pytorch_v1.h"

namespace graphkit {
namespace {

constexpr std::array<PolicyInfo, 8> kPolicies = {{
    {PolicyKind::kDefer, "defer", MarkerRule::kAtFree},
    {PolicyKind::kPyTorchV1, "pytorch-v1", MarkerRule::kAtFree},
    {PolicyKind::kPyTorch, "pytorch", MarkerRule::kAtFree},
    {PolicyKind::kGraph, "graph", MarkerRule::kAtFree},
    {PolicyKind::kXStream, "xstream", MarkerRule::kAtFree},
    {PolicyKind::kLastUse, "last-use", MarkerRule::kLastUse},
    {PolicyKind::kReuse, "reuse", MarkerRule::kLastUse},
    {PolicyKind::kOptimal, "optimal", MarkerRule::kLastUse},
}};

}  // namespace

std::span<const PolicyInfo> Policies() { return kPolicies; }

const PolicyInfo& InfoOf(PolicyKind kind) { return kPolicies[static_cast<size_t>(kind)]; }

std::optional<PolicyKind> FindPolicy(std::string_view name) {
  for (const PolicyInfo& policy : kPolicies) {
    if (name == policy.name) return policy.kind;
  }
  return std::nullopt;
}

std::vector<std::vector<StreamId>> OtherStreams(const Trace& trace) {
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
  state_[block.index()] = State::kComplete;
  completed_.push_back(block);
  --pending_;
}

bool ReusePolicy::Free(BlockId block) {
  offers_.clear();
  const bool at_once = AtOnce(block);
  state_[block.index()] = at_once ? State::kComplete : State::kPending;
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
    if (state_[i] == State::kPending) blocks.push_back(BlockId(i));
  }
  return blocks;
}

bool CanIndex(PolicyKind kind, const BlockOrder& order, GraphId graph,
              std::span<const BlockId> blocks) {
  switch (kind) {
    case PolicyKind::kDefer:
    case PolicyKind::kPyTorch:
    case PolicyKind::kPyTorchV1:
      return std::ranges::all_of(
          blocks, [&](BlockId block) { return order.trace()[block].stream.valid(); });
    case PolicyKind::kGraph:
      return false;
    default:
      return PlainBlocks(order, graph, blocks);
  }
}

std::unique_ptr<ReusePolicy> MakePolicy(PolicyKind kind, const PolicyView& view,
                                        PolicySearch search) {
  switch (kind) {
    case PolicyKind::kDefer:
      return std::make_unique<DeferPolicy>(view, search);
    case PolicyKind::kPyTorch:
      return std::make_unique<PyTorchPolicy>(view, search);
    case PolicyKind::kPyTorchV1:
      return std::make_unique<PyTorchV1Policy>(view, search);
    case PolicyKind::kGraph:
      return std::make_unique<GraphPolicy>(view, PolicySearch::kScan);
    case PolicyKind::kXStream:
    case PolicyKind::kReuse:
    case PolicyKind::kOptimal:
      return std::make_unique<OrderPolicy>(view, search, /*any_stream=*/true);
    case PolicyKind::kLastUse:
      return std::make_unique<OrderPolicy>(view, search, /*any_stream=*/false);
  }
  return nullptr;
}

}  // namespace graphkit
