// Finds the live block at an address. Two levels, as in programs: the driver's allocations, and the
// blocks that an allocator in the program hands out of them.
//
//     driver   |------------ block 3 ------------|       |-- block 9 --|
//     pieces      |- 4 -|        |--- 5 ---|
//                    ^ 4             ^ 5       ^ 3          ^ 9
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

// Ranges of addresses, by where they begin. A Range has a `size`.
template <typename Range>
class RangeMap {
 public:
  using Entry = std::pair<const Address, Range>;

  void Insert(Address address, const Range& range) { ranges_[address] = range; }
  void Erase(Address address) { ranges_.erase(address); }
  // The range that begins at the address; null: none.
  Range* Find(Address address) {
    auto found = ranges_.find(address);
    return found == ranges_.end() ? nullptr : &found->second;
  }
  // The range that holds the address.
  const Entry* Holding(Address address) const {
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return nullptr;
    const Entry& last = *std::prev(after);
    return address - last.first < last.second.size ? &last : nullptr;
  }
  Entry* Holding(Address address) {
    return const_cast<Entry*>(std::as_const(*this).Holding(address));
  }
  // One that overlaps [address, address + size).
  const Entry* Overlapping(Address address, Bytes size) const {
    auto after = ranges_.lower_bound(address + std::max<Bytes>(size, 1));
    if (after == ranges_.begin()) return nullptr;
    const Entry& last = *std::prev(after);
    return last.first == address || last.first + last.second.size > address ? &last : nullptr;
  }
  size_t size() const { return ranges_.size(); }

 private:
  std::map<Address, Range> ranges_;
};

class LiveMemory {
 public:
  struct Block {
    Bytes size = 0;
    BlockId id;
    bool free_requested = false;
    // Allocated in a capture, or holds or held what was; or nodes touch it.
    bool of_graphs = false;
    bool on_host = false;   // page-locked or managed
    bool readable = false;  // by the host, at no great cost: page-locked, not write-combined
    StreamId freed_on;      // by the call that is freeing it
    bool mapping = false;   // of physical memory
    uint64_t physical = 0;  // its handle
    bool shared = false;    // with other processes, by the block's address
    uint32_t opened = 0;    // another process's: times more than once
  };
  struct Place {
    BlockId block;
    Bytes offset = 0;
    bool of_graphs = false;
    bool on_host = false;
    bool readable = false;
    Bytes mapped = 0;  // of a mapping, where no block of an allocator's lies: the rest of it
    bool operator==(const Place&) const = default;
  };
  enum Level { kDriver = 0, kPiece = 1 };

  void Insert(Level level, Address address, Bytes size, BlockId block, bool of_graphs = false) {
    blocks_[level].Insert(address, {.size = size, .id = block, .of_graphs = of_graphs});
    lowest_ = std::min(lowest_, address);
    highest_ = std::max(highest_, address + size);
  }
  RangeMap<Block>& operator[](Level level) { return blocks_[level]; }

  // The innermost block that holds the address. `length`: from there on; where that is more than
  // the block has, it is of graphs if any of the memory around it is.
  std::optional<Place> Find(Address address, Bytes length = 0) const {
    if (address < lowest_ || address >= highest_) return {};
    const auto* found = blocks_[kPiece].Holding(address);
    const auto* around = found;
    if (found == nullptr || length > found->second.size - (address - found->first))
      around = blocks_[kDriver].Holding(address);
    if (found == nullptr) found = around;
    if (found == nullptr) return {};
    const bool of_graphs =
        found->second.of_graphs || (around != nullptr && around->second.of_graphs);
    const Bytes offset = address - found->first;
    const Bytes mapped = found->second.mapping ? found->second.size - offset : 0;
    return Place{found->second.id,       offset, of_graphs, found->second.on_host,
                 found->second.readable, mapped};
  }

  size_t size() const { return blocks_[kDriver].size() + blocks_[kPiece].size(); }

 private:
  RangeMap<Block> blocks_[2];
  Address lowest_ = ~Address{0};  // nothing was ever live outside [lowest_, highest_)
  Address highest_ = 0;
};

}  // namespace graphkit
