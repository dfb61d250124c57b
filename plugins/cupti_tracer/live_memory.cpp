#include "plugins/cupti_tracer/live_memory.h"

#include <algorithm>

namespace graphkit {

void LiveMemory::Insert(Level level, Address address, Bytes size, BlockId block) {
  blocks_[level][address] = {.size = size, .block = block};
  lowest_ = std::min(lowest_, address);
  highest_ = std::max(highest_, address + size);
}

std::optional<LiveMemory::Entry> LiveMemory::At(Level level, Address address) const {
  auto found = blocks_[level].find(address);
  if (found == blocks_[level].end()) return {};
  return found->second;
}

LiveMemory::Entry* LiveMemory::Edit(Level level, Address address) {
  auto found = blocks_[level].find(address);
  return found == blocks_[level].end() ? nullptr : &found->second;
}

void LiveMemory::Erase(Level level, Address address) { blocks_[level].erase(address); }

std::optional<std::pair<Address, LiveMemory::Entry>> LiveMemory::Overlapping(Level level,
                                                                             Address address,
                                                                             Bytes size) const {
  const auto& blocks = blocks_[level];
  auto after = blocks.lower_bound(address + std::max<Bytes>(size, 1));
  if (after == blocks.begin()) return {};
  auto last = std::prev(after);
  if (last->first != address && last->first + last->second.size <= address) return {};
  return std::pair{last->first, last->second};
}

std::optional<LiveMemory::Place> LiveMemory::FindIn(Level level, Address address) const {
  const auto& blocks = blocks_[level];
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return {};
  auto at = std::prev(after);
  Bytes offset = address - at->first;
  if (offset >= at->second.size) return {};
  return Place{at->second.block, offset, at->second.size};
}

std::optional<LiveMemory::Place> LiveMemory::Find(Address address) const {
  if (address < lowest_ || address >= highest_) return {};
  if (auto piece = FindIn(kPiece, address)) return piece;
  return FindIn(kDriver, address);
}

}  // namespace graphkit
