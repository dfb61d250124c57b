#include <algorithm>
#include <utility>

#include "libgraphkit/alloc/estimate/estimate.h"

namespace graphkit {
namespace {

// Of requests larger than `above` that run in a size.
uint64_t PaddingOf(std::span<const SizeCount> requests, uint64_t above, uint64_t size) {
  uint64_t padding = 0;
  auto request = std::ranges::upper_bound(requests, above, {}, &SizeCount::size);
  for (; request != requests.end() && request->size <= size; ++request)
    padding += (size - request->size) * request->count;
  return padding;
}

// Fewest bytes first; of equal bytes the least padding alone.
std::pair<Bytes, uint64_t> CostOf(const LeastPadding& set) { return {set.bytes, set.padding}; }

// The sets for which no other has both fewer bytes and less padding; of these the least padding is
// the last.
void KeepFront(std::vector<LeastPadding>* sets) {
  std::ranges::stable_sort(*sets, {}, CostOf);
  uint64_t least = ~uint64_t{0};
  std::erase_if(*sets, [&](const LeastPadding& set) {
    const bool worse = set.padding >= least;
    least = std::min(least, set.padding);
    return worse;
  });
}

}  // namespace

std::optional<LeastPadding> FindLeastPadding(std::span<const SizeCount> requests,
                                             std::span<const SizeOption> options, Bytes budget) {
  std::vector<std::vector<LeastPadding>> fronts;  // by option: sets that it is the largest of
  std::vector<LeastPadding> whole;                // that hold the largest request
  for (const SizeOption& option : options) {
    const uint64_t size = option.size;
    const Bytes bytes = option.bytes;
    std::vector<LeastPadding> front;
    const auto add = [&](LeastPadding set) {
      if (bytes > budget || set.bytes > budget - bytes) return;
      set.padding += PaddingOf(requests, set.sizes.empty() ? 0 : set.sizes.back(), size);
      set.bytes += bytes;
      set.sizes.push_back(size);
      front.push_back(std::move(set));
    };
    add({});
    for (const std::vector<LeastPadding>& before : fronts) {
      for (const LeastPadding& set : before) add(set);
    }
    KeepFront(&front);
    if (requests.empty() || size >= requests.back().size)
      whole.insert(whole.end(), front.begin(), front.end());
    fronts.push_back(std::move(front));
  }
  KeepFront(&whole);
  return whole.empty() ? std::nullopt : std::optional(whole.back());
}

}  // namespace graphkit
