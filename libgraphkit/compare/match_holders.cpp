#include "libgraphkit/compare/match_holders.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

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
OptionalKey PlaceKey(const Trace& trace, const HeldGroup& group, const Shifts* shifts) {
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
  std::vector<size_t> before, after;
};

std::vector<size_t> InOrder(std::span<const HeldGroup> holders) {
  std::vector<size_t> order(holders.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](size_t i) { return std::tuple(holders[i].line, holders[i].pool.value); });
  return order;
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

}  // namespace graphkit
