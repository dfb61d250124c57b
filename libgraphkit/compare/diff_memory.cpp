#include "libgraphkit/compare/diff_memory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "libgraphkit/compare/match_holders.h"

namespace graphkit {
namespace {

using Pairs = std::vector<std::pair<std::optional<size_t>, std::optional<size_t>>>;

// Accounts come with the most in use first.
Pairs PairDevices(std::span<const MemoryAccount> before, std::span<const MemoryAccount> after) {
  std::map<DeviceIndex, size_t> from, to;
  for (size_t i = 0; i < before.size(); ++i) from[before[i].device] = i;
  for (size_t i = 0; i < after.size(); ++i) to[after[i].device] = i;
  Pairs pairs;
  if (std::ranges::equal(from, to, {}, &std::pair<const DeviceIndex, size_t>::first,
                         &std::pair<const DeviceIndex, size_t>::first)) {
    for (const auto& [device, index] : from) pairs.emplace_back(index, to[device]);
    return pairs;
  }
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    pairs.emplace_back(i < before.size() ? std::optional(i) : std::nullopt,
                       i < after.size() ? std::optional(i) : std::nullopt);
  }
  return pairs;
}

// Bytes of a moment; of no account 0.
using FigureOf = std::optional<Bytes> (*)(const MemoryAccount&);

struct FigureRow {
  const char* name;
  FigureOf of;
};

constexpr FigureRow kFigures[] = {
    {"peak_reserved_bytes",
     [](const MemoryAccount& account) {
       return account.has_history ? std::optional(account.moments.peak_reserved.reserved)
                                  : std::nullopt;
     }},
    {"peak_in_use_bytes",
     [](const MemoryAccount& account) {
       return account.has_history ? std::optional(account.moments.peak_in_use.in_use)
                                  : std::nullopt;
     }},
    {"reserved_at_end_bytes",
     [](const MemoryAccount& account) { return std::optional(account.moments.end.reserved); }},
    {"in_use_at_end_bytes",
     [](const MemoryAccount& account) { return std::optional(account.moments.end.in_use); }},
};

bool HasNames(const MemoryAccount& account) {
  return std::ranges::any_of(account.holders, [](const HeldGroup& group) {
    return group.kind == HeldGroup::Kind::kLine || group.kind == HeldGroup::Kind::kOperation;
  });
}

std::vector<HolderChange> DiffHolders(const MemorySide& before, const MemoryAccount& from,
                                      const MemorySide& after, const MemoryAccount& to) {
  // Lines say nothing of pools.
  const bool comparable =
      from.holders.empty() || to.holders.empty() || HasNames(from) == HasNames(to);
  if (!comparable) return {};
  std::vector<HolderChange> changes;
  for (const HolderPair& pair :
       MatchHolders({before.trace, from.holders}, {after.trace, to.holders})) {
    changes.push_back({.holder = pair,
                       .before = pair.before ? from.holders[*pair.before].bytes : 0,
                       .after = pair.after ? to.holders[*pair.after].bytes : 0});
  }
  std::ranges::stable_sort(changes, std::greater(), [](const HolderChange& change) {
    return std::tuple(change.change(), std::max(change.before, change.after));
  });
  return changes;
}

std::vector<RemarkChange> DiffRemarks(const MemoryAccount& from, const MemoryAccount& to) {
  std::vector<RemarkChange> changes;
  for (const MemoryRemark& remark : to.remarks) {
    changes.push_back({.kind = NameOf(remark.kind),
                       .after = remark.bytes,
                       .text = remark.text,
                       .advice = remark.advice});
  }
  for (const MemoryRemark& remark : from.remarks) {
    const auto same = std::ranges::find(changes, NameOf(remark.kind), &RemarkChange::kind);
    if (same != changes.end()) {
      same->before = remark.bytes;
      continue;
    }
    changes.push_back({.kind = NameOf(remark.kind),
                       .before = remark.bytes,
                       .text = remark.text,
                       .advice = remark.advice});
  }
  std::erase_if(changes, [](const RemarkChange& change) { return change.before == change.after; });
  std::stable_partition(changes.begin(), changes.end(), [](const RemarkChange& change) {
    return change.kind == NameOf(MemoryRemark::Kind::kOutOfMemory);
  });
  return changes;
}

}  // namespace

bool HoldsMemoryHistory(const Trace& trace) {
  return std::ranges::any_of(trace.blocks, [&](const Block& block) {
    return !block.graph && !(block.pool && trace[block.pool].kind == PoolKind::kHost);
  });
}

std::vector<MemoryDiff> DiffMemory(const MemorySide& before, const MemorySide& after) {
  static const MemoryAccount kNone;
  std::vector<MemoryDiff> diffs;
  for (const auto& [a, b] : PairDevices(before.accounts, after.accounts)) {
    const MemoryAccount& from = a ? before.accounts[*a] : kNone;
    const MemoryAccount& to = b ? after.accounts[*b] : kNone;
    MemoryDiff diff{.before = a, .after = b};
    for (const FigureRow& row : kFigures) {
      diff.figures.push_back({row.name, row.of(from), row.of(to)});
    }
    diff.holders = DiffHolders(before, from, after, to);
    diff.remarks = DiffRemarks(from, to);
    diffs.push_back(std::move(diff));
  }
  return diffs;
}

}  // namespace graphkit
