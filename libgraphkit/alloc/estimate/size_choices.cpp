#include "libgraphkit/alloc/estimate/size_choices.h"

#include <map>
#include <random>

namespace graphkit {
namespace {

constexpr size_t kAllMixtures = 4;  // groups of which every mixture is taken
constexpr uint64_t kMixtures = 16;  // of more
constexpr uint64_t kSeed = 20240811;

using GroupOf = std::map<std::vector<Bytes>, size_t>;

std::vector<Bytes> BytesOf(const BlockGrowth& growth) {
  std::vector<Bytes> bytes;
  for (const SizePoint& point : growth.points) bytes.push_back(point.bytes);
  return bytes;
}

GroupOf FindGroups(const CapturedSizes& captured) {
  GroupOf groups;
  for (const auto& kind : captured.growth) {
    for (const BlockGrowth& growth : kind) {
      if (growth.rule == BlockGrowth::Rule::kUnsure) groups.emplace(BytesOf(growth), groups.size());
    }
  }
  return groups;
}

template <typename EndOf>
SizeChoice Choose(const CapturedSizes& captured, bool late, EndOf end_of) {
  SizeChoice choice{.ends = {}, .late = late};
  for (const auto& kind : captured.growth) {
    auto& ends = choice.ends.emplace_back();
    for (const BlockGrowth& growth : kind) ends.push_back(end_of(growth));
  }
  return choice;
}

}  // namespace

std::vector<SizeChoice> ChooseSizes(const CapturedSizes& captured) {
  const auto all = [&](Bytes ByteRange::*end, bool late) {
    return Choose(captured, late, [end](const BlockGrowth&) { return end; });
  };
  std::vector<SizeChoice> choices = {all(&ByteRange::bytes, false), all(&ByteRange::bytes, true),
                                     all(&ByteRange::low, false), all(&ByteRange::high, true)};
  const GroupOf groups = FindGroups(captured);
  if (groups.size() < 2) return choices;
  const bool every = groups.size() <= kAllMixtures;
  std::mt19937_64 random(kSeed);
  for (uint64_t mixture = 1; mixture < (every ? (uint64_t{1} << groups.size()) - 1 : kMixtures);
       ++mixture) {
    std::vector<bool> high(groups.size());
    for (size_t i = 0; i < high.size(); ++i) high[i] = ((every ? mixture >> i : random()) & 1) != 0;
    choices.push_back(Choose(captured, mixture % 2 != 0, [&](const BlockGrowth& growth) {
      const auto group = groups.find(BytesOf(growth));
      if (growth.rule != BlockGrowth::Rule::kUnsure || group == groups.end())
        return &ByteRange::bytes;
      return high[group->second] ? &ByteRange::high : &ByteRange::low;
    }));
  }
  return choices;
}

}  // namespace graphkit
