#include "libgraphkit/alloc/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "libgraphkit/checked_number.h"

namespace graphkit {
namespace {

double AsDouble(uint64_t value) { return static_cast<double>(value); }

Bytes ErrorOf(const std::vector<SizePoint>& points, double offset, double slope) {
  double most = 0;
  for (const SizePoint& point : points)
    most = std::max(most, std::abs(offset + slope * AsDouble(point.size) - AsDouble(point.bytes)));
  return NearestBytes(std::ceil(most - 1e-6));
}

// The line with the least squares; of two points the one through both.
void FitLine(BlockGrowth* growth) {
  const double count = AsDouble(growth->points.size());
  double x = 0, y = 0;  // means: around them large sizes that lie close lose no digits
  for (const SizePoint& point : growth->points) {
    x += AsDouble(point.size) / count;
    y += AsDouble(point.bytes) / count;
  }
  double xx = 0, xy = 0;
  for (const SizePoint& point : growth->points) {
    const double off = AsDouble(point.size) - x;
    xx += off * off;
    xy += off * (AsDouble(point.bytes) - y);
  }
  growth->slope = xx > 0 ? xy / xx : 0;
  growth->offset = y - growth->slope * x;
}

// A line that goes through the last point and the origin, or is flat.
bool TryRule(BlockGrowth* growth, BlockGrowth::Rule rule) {
  const SizePoint& last = growth->points.back();
  const bool flat = rule == BlockGrowth::Rule::kConstant;
  const double offset = flat ? AsDouble(last.bytes) : 0;
  const double slope = flat ? 0 : AsDouble(last.bytes) / AsDouble(last.size);
  const Bytes error = ErrorOf(growth->points, offset, slope);
  if (error > (flat ? 0 : kBlockGranularity)) return false;
  growth->rule = rule;
  growth->offset = offset;
  growth->slope = slope;
  growth->error = error;
  return true;
}

void FitUnsure(BlockGrowth* growth) {
  growth->rule = BlockGrowth::Rule::kUnsure;
  const SizePoint& only = growth->points.front();
  if (growth->points.size() > 1) {
    FitLine(growth);
    growth->error = ErrorOf(growth->points, growth->offset, growth->slope);
  } else if (only.bytes % only.size == 0) {  // so many elements for each
    growth->slope = AsDouble(only.bytes) / AsDouble(only.size);
  } else {
    growth->offset = AsDouble(only.bytes);
  }
}

// The range that the captures around a size leave open.
ByteRange Around(const BlockGrowth& growth, uint64_t size) {
  const auto above = std::ranges::upper_bound(growth.points, size, {}, &SizePoint::size);
  const bool has_above = above != growth.points.end(), has_below = above != growth.points.begin();
  const SizePoint& high = has_above ? *above : growth.points.back();
  const SizePoint& low = has_below ? *(above - 1) : growth.points.front();
  if (has_above && has_below) {
    return {.low = std::min(low.bytes, high.bytes), .high = std::max(low.bytes, high.bytes)};
  }
  const SizePoint& nearest = has_above ? high : low;
  const Bytes scaled =
      NearestBytes(AsDouble(nearest.bytes) * AsDouble(size) / AsDouble(nearest.size));
  return {.low = std::min(nearest.bytes, scaled), .high = std::max(nearest.bytes, scaled)};
}

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

BlockGrowth FitGrowth(std::vector<SizePoint> points) {
  BlockGrowth growth;
  std::ranges::sort(points, [](const SizePoint& a, const SizePoint& b) {
    return a.size != b.size ? a.size < b.size : a.bytes > b.bytes;
  });
  for (const SizePoint& point : points) {
    if (growth.points.empty() || growth.points.back().size != point.size)
      growth.points.push_back(point);
  }
  if (growth.points.size() > 1 && (TryRule(&growth, BlockGrowth::Rule::kConstant) ||
                                   TryRule(&growth, BlockGrowth::Rule::kProportional))) {
    return growth;
  }
  FitUnsure(&growth);
  const bool line = growth.points.size() > 2 && growth.error <= kBlockGranularity;
  if (line) growth.rule = BlockGrowth::Rule::kLinear;
  return growth;
}

ByteRange BytesAt(const BlockGrowth& growth, uint64_t size) {
  const auto point = std::ranges::find(growth.points, size, &SizePoint::size);
  if (point != growth.points.end()) return {point->bytes, point->bytes, point->bytes};
  const Bytes likely = NearestBytes(growth.offset + growth.slope * AsDouble(size));
  // Further out the error of a line grows with the distance.
  const double reach = std::max(1.0, AsDouble(size) / AsDouble(growth.points.back().size));
  const Bytes error = NearestBytes(2 * AsDouble(growth.error) * reach);
  ByteRange range = {likely, likely, likely};
  if (growth.rule == BlockGrowth::Rule::kUnsure) {
    const ByteRange around = Around(growth, size);
    range.low = std::min(likely, around.low);
    range.high = std::max(likely, around.high);
  }
  range.low = range.low > error ? range.low - error : 0;
  range.high += error;
  return range;
}

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
