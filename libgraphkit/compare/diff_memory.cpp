#include "libgraphkit/compare/diff.h"

#include <cstdlib>
#include <map>
#include <set>

#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// The place without the line: "nn/modules.py".
std::string FileOf(const HeldGroup& group) {
  return group.line == 0 ? group.place : group.place.substr(0, group.place.rfind(':'));
}

using Function = std::pair<std::string_view, std::string_view>;  // and its file in full
using Lines = std::map<Function, std::set<int64_t>>;

// The lines that are known of the functions that hold memory.
Lines LinesOf(const HoldersOf& side) {
  Lines lines;
  for (const HeldGroup& group : side.holders) {
    if (group.line != 0) lines[{group.file, group.function}].insert(group.line);
  }
  for (const StackFrame& frame : side.trace.stack_frames) {
    const auto at = lines.find({side.trace[frame.file], side.trace[frame.function]});
    if (at != lines.end()) at->second.insert(frame.line);
  }
  return lines;
}

// By how many lines a function moved.
int64_t ShiftOf(const std::set<int64_t>& before, const std::set<int64_t>& after) {
  std::map<int64_t, size_t> agree;
  for (const int64_t from : before) {
    for (const int64_t to : after) ++agree[to - from];
  }
  int64_t best = 0;
  size_t most = agree[0];
  for (const auto& [shift, count] : agree) {
    const bool nearer = std::abs(shift) < std::abs(best) && best != 0;
    if (count < most || (count == most && !nearer)) continue;
    best = shift;
    most = count;
  }
  return best;
}

using Shifts = std::map<std::pair<std::string, std::string>, int64_t>;  // by short file, function

Shifts ShiftsBetween(const HoldersOf& before, const HoldersOf& after) {
  const auto by_name = [](const HoldersOf& side) {
    const Lines lines = LinesOf(side);
    std::map<std::pair<std::string, std::string>, std::set<int64_t>> named;
    for (const HeldGroup& group : side.holders) {
      if (group.line == 0) continue;
      const std::set<int64_t>& of_function = lines.at({group.file, group.function});
      named[{FileOf(group), group.function}].insert(of_function.begin(), of_function.end());
    }
    return named;
  };
  const auto from = by_name(before), to = by_name(after);
  Shifts shifts;
  for (const auto& [function, lines] : from) {
    const auto at = to.find(function);
    if (at != to.end()) shifts[function] = ShiftOf(lines, at->second);
  }
  return shifts;
}

using Key = std::tuple<HeldGroup::Kind, std::string, std::string, int64_t>;
using OptionalKey = std::optional<Key>;  // nothing: matches nothing

// `shifts`: null for the side after.
OptionalKey PlaceKey(const Ran& trace, const HeldGroup& group, const Shifts* shifts) {
  if (group.kind == HeldGroup::Kind::kPool) {
    if (!group.pool) return Key(group.kind, "", "", -1);
    const Pool& pool = trace[group.pool];
    return Key(group.kind, trace[pool.name], "", static_cast<int64_t>(pool.kind));
  }
  if (group.line == 0) return Key(group.kind, group.place, group.function, 0);
  int64_t line = group.line;
  if (shifts != nullptr) {
    const auto shift = shifts->find({FileOf(group), group.function});
    if (shift != shifts->end()) line += shift->second;
  }
  return Key(group.kind, FileOf(group), "", line);
}

OptionalKey OperatorKey(const HeldGroup& group) {
  if (group.line == 0) return {};
  const std::string first = group.operations.empty() ? "" : group.operations[0];
  return Key(group.kind, FileOf(group) + "\n" + group.function, first, 0);
}

// The holders of both sides that have no partner yet, in the order of their lines and pools.
struct Unmatched {
  std::vector<uint32_t> before, after;
};

std::vector<uint32_t> InOrder(std::span<const HeldGroup> holders) {
  return IndicesBy(holders.size(),
                   [&](uint32_t i) { return std::tuple(holders[i].line, holders[i].pool.value); });
}

// The n-th of a key with the n-th of it on the other side.
template <typename KeyBefore, typename KeyAfter>
void MatchBy(KeyBefore key_before, KeyAfter key_after, Unmatched* left,
             std::vector<HolderPair>* pairs) {
  std::map<OptionalKey, std::vector<size_t>> waiting;
  for (const size_t i : left->before) waiting[key_before(i)].push_back(i);
  waiting.erase(std::nullopt);
  std::map<OptionalKey, size_t> taken;
  std::set<size_t> matched;
  std::erase_if(left->after, [&](size_t i) {
    const OptionalKey key = key_after(i);
    const auto at = waiting.find(key);
    if (at == waiting.end() || taken[key] == at->second.size()) return false;
    const size_t partner = at->second[taken[key]++];
    matched.insert(partner);
    pairs->push_back({partner, i});
    return true;
  });
  std::erase_if(left->before, [&](size_t i) { return matched.contains(i); });
}

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

// Peaks are known of a history only. Of no account, bytes are 0.
std::vector<FigureChange> DiffFigures(const MemoryAccount& from, const MemoryAccount& to) {
  const auto peak = [](const MemoryAccount& account, Bytes bytes) {
    return account.has_history ? std::optional(bytes) : std::nullopt;
  };
  const MemoryMoments &was = from.moments, &is = to.moments;
  return {
      {"peak_reserved_bytes", peak(from, was.peak_reserved.reserved),
       peak(to, is.peak_reserved.reserved)},
      {"peak_in_use_bytes", peak(from, was.peak_in_use.in_use), peak(to, is.peak_in_use.in_use)},
      {"reserved_at_end_bytes", was.end.reserved, is.end.reserved},
      {"in_use_at_end_bytes", was.end.in_use, is.end.in_use}};
}

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
  const auto change_of = [&](const MemoryRemark& remark) -> RemarkChange& {
    const auto same = std::ranges::find(changes, NameOf(remark.kind), &RemarkChange::kind);
    if (same != changes.end()) return *same;
    changes.push_back(
        {.kind = std::string(NameOf(remark.kind)), .text = remark.text, .advice = remark.advice});
    return changes.back();
  };
  for (const MemoryRemark& remark : to.remarks) change_of(remark).after = remark.bytes;
  for (const MemoryRemark& remark : from.remarks) change_of(remark).before = remark.bytes;
  std::erase_if(changes, [](const RemarkChange& change) { return change.before == change.after; });
  std::stable_partition(changes.begin(), changes.end(), [](const RemarkChange& change) {
    return change.kind == NameOf(MemoryRemark::Kind::kOutOfMemory);
  });
  return changes;
}

}  // namespace

std::vector<HolderPair> MatchHolders(const HoldersOf& before, const HoldersOf& after) {
  const Shifts shifts = ShiftsBetween(before, after);
  Unmatched left{InOrder(before.holders), InOrder(after.holders)};
  std::vector<HolderPair> pairs;
  MatchBy([&](size_t i) { return PlaceKey(before.trace, before.holders[i], &shifts); },
          [&](size_t i) { return PlaceKey(after.trace, after.holders[i], nullptr); }, &left,
          &pairs);
  MatchBy([&](size_t i) { return OperatorKey(before.holders[i]); },
          [&](size_t i) { return OperatorKey(after.holders[i]); }, &left, &pairs);
  for (const size_t i : left.before) pairs.push_back({.before = i});
  for (const size_t i : left.after) pairs.push_back({.after = i});
  return pairs;
}

bool HoldsMemoryHistory(const Ran& trace) {
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
    MemoryDiff diff{.before = a, .after = b, .figures = DiffFigures(from, to)};
    diff.holders = DiffHolders(before, from, after, to);
    diff.remarks = DiffRemarks(from, to);
    diffs.push_back(std::move(diff));
  }
  return diffs;
}

}  // namespace graphkit
