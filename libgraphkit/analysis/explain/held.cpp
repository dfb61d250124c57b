#include "libgraphkit/analysis/explain/held.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {
namespace {

using Key = std::tuple<HeldGroup::Kind, std::string, PoolId>;

struct Building {
  HeldGroup group;
  Bytes largest = 0;
  std::map<std::string, Bytes> operations;
};

HeldGroup::Kind KindOf(const Trace& trace, const Block& block, const StackName& name,
                       Seq first_event, bool any_is_named) {
  if (trace.stacks.empty()) return HeldGroup::Kind::kPool;
  if (name.frame) return HeldGroup::Kind::kLine;
  if (!name.operation.empty()) return HeldGroup::Kind::kOperation;
  if (block.allocated < first_event) return HeldGroup::Kind::kBeforeRecording;
  return any_is_named ? HeldGroup::Kind::kNoStack : HeldGroup::Kind::kPool;
}

void Take(const Trace& trace, const Block& block, const StackName& name, Building* building) {
  const Bytes bytes = AllocatedSize(block);
  HeldGroup& group = building->group;
  group.bytes += bytes;
  ++group.blocks;
  if (!name.operation.empty()) building->operations[name.operation] += bytes;
  if (bytes <= building->largest) return;
  building->largest = bytes;
  group.stack = block.stack;
  group.role = name.role;
  if (!name.frame) return;
  const StackFrame& frame = trace.stack_frames[*name.frame];
  group.file = trace[frame.file];
  group.function = trace[frame.function];
  group.line = frame.line;
}

HeldGroup Finished(Building building) {
  std::vector<std::pair<Bytes, std::string>> operations;
  for (auto& [name, bytes] : building.operations) operations.emplace_back(bytes, name);
  std::ranges::stable_sort(operations, std::greater(), &std::pair<Bytes, std::string>::first);
  for (auto& [bytes, name] : operations) building.group.operations.push_back(std::move(name));
  return std::move(building.group);
}

}  // namespace

std::vector<StackName> NamesOfStacks(const Trace& trace) {
  std::vector<StackName> names;
  names.reserve(trace.stacks.size());
  for (size_t i = 0; i < trace.stacks.size(); ++i) names.push_back(NameOfStack(trace, StackId(i)));
  return names;
}

std::vector<HeldGroup> GroupHeld(const Trace& trace, std::span<const StackName> names,
                                 std::span<const BlockId> blocks, Seq first_event) {
  static const StackName kNoName;
  const auto name_of = [&](BlockId id) -> const StackName& {
    const StackId stack = trace[id].stack;
    return stack ? names[stack.index()] : kNoName;
  };
  const bool any_is_named = std::ranges::any_of(
      blocks, [&](BlockId id) { return name_of(id).frame || !name_of(id).operation.empty(); });
  std::map<Key, Building> by_key;
  for (const BlockId id : blocks) {
    const Block& block = trace[id];
    const StackName& name = name_of(id);
    const HeldGroup::Kind kind = KindOf(trace, block, name, first_event, any_is_named);
    std::string place = name.frame ? ShortPlaceOfFrame(trace, *name.frame) : name.operation;
    const PoolId pool = kind == HeldGroup::Kind::kPool ? block.pool : PoolId();
    // A place without a line is a program: its functions are told apart.
    std::string key = place;
    if (name.frame && trace.stack_frames[*name.frame].line == 0) {
      key.append(" ").append(trace[trace.stack_frames[*name.frame].function]);
    }
    Building& building = by_key[{kind, std::move(key), pool}];
    building.group.pool = pool;
    building.group.kind = kind;
    building.group.place = std::move(place);
    Take(trace, block, name, &building);
  }
  std::vector<HeldGroup> groups;
  for (auto& [key, building] : by_key) groups.push_back(Finished(std::move(building)));
  std::ranges::stable_sort(groups, std::greater(), &HeldGroup::bytes);
  return groups;
}

}  // namespace graphkit
