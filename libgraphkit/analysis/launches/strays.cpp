#include "libgraphkit/analysis/launches/strays.h"

#include <algorithm>

namespace graphkit {

StrayAccesses::StrayAccesses(const Facts& facts, const FirstWrites& writes)
    : facts_(facts), writes_(writes) {
  for (const auto& [i, block] : Enumerate(facts.trace.blocks)) {
    if (block.address != 0 && !facts.lives().backs_segment[i])
      blocks_.Add(AddressesOf(block), BlockId(i));
  }
  blocks_.Sort();
}

Interval<Address> StrayAccesses::BytesOf(const Access& access) const {
  const Block block = facts_.trace[access.block];
  Interval<Address> range = AddressesOf(access, block);
  const bool backs = facts_.lives().backs_segment[access.block.index()];
  if (access.length != kLengthUnknown || !backs) return range;
  Address end = range.begin;
  ForEachBlockIn({range.begin, range.begin + 1}, [&](BlockId id, Interval<Address>) {
    if (facts_.lives()[id].root.valid())
      end = std::max(end, AddressesOf(Block(facts_.trace[id])).end);
  });
  if (end > range.begin) range.end = end;
  return range;
}

std::vector<Interval<Address>> StrayAccesses::FoundBy(NodeId node, const Access& access) const {
  if (access.mode == AccessMode::kWrite) return {};
  std::vector<Interval<Address>> left = {BytesOf(access)};
  writes_.TakeOutWritten(facts_.RootOf(node), node, &left);
  return left;
}

}  // namespace graphkit
