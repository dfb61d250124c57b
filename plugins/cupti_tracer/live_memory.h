// Which block lies at an address, among those that are live. Two levels, as in programs: what the
// driver gave out, and what an allocator in the program gave out of that.
//
//     driver   |------------ block 3 ------------|       |-- block 9 --|
//     pieces      |- 4 -|        |--- 5 ---|
//                    ^ 4             ^ 5       ^ 3          ^ 9
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

class LiveMemory {
 public:
  struct Entry {
    Bytes size = 0;
    BlockId block;
    bool free_requested = false;
    StreamId freed_on;  // by the call that is freeing it
  };
  struct Place {
    BlockId block;
    Bytes offset = 0;
    Bytes size = 0;  // of the block
    bool operator==(const Place&) const = default;
  };
  enum Level { kDriver = 0, kPiece = 1 };

  void Insert(Level level, Address address, Bytes size, BlockId block);
  // The block that begins at the address.
  std::optional<Entry> At(Level level, Address address) const;
  // The same, to be changed; null when there is none.
  Entry* Edit(Level level, Address address);
  void Erase(Level level, Address address);

  // A block of this level that overlaps [address, address + size), if any.
  std::optional<std::pair<Address, Entry>> Overlapping(Level level, Address address,
                                                       Bytes size) const;

  size_t size() const { return blocks_[kDriver].size() + blocks_[kPiece].size(); }

  // The innermost block that holds the address.
  std::optional<Place> Find(Address address) const;

 private:
  std::optional<Place> FindIn(Level level, Address address) const;

  std::map<Address, Entry> blocks_[2];
  Address lowest_ = ~Address{0};  // nothing was ever live outside [lowest_, highest_)
  Address highest_ = 0;
};

}  // namespace graphkit
