// Regions of memory cut into chunks: what coalescing best-fit allocators have in common. A free
// chunk is in one list (of a stream, say); free neighbours of one region and list are one chunk.
//
//     region   | held | free, list 0 | free, list 1 | held |
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "libgraphkit/alloc/chunks/sorted_chunks.h"
#include "libgraphkit/units.h"

namespace graphkit {

class ChunkList {
 public:
  using Chunk = uint32_t;
  static constexpr Chunk kNone = 0xffffffffu;

  // A new region, free in `list`.
  Chunk AddRegion(Address address, Bytes size, uint32_t list);
  // The smallest free chunk of the list that holds `size` and that is accepted, the lowest of
  // equals; kNone.
  using Accept = std::function<bool(Chunk)>;
  Chunk Find(uint32_t list, Bytes size, const Accept& accept = nullptr) const;
  void Hold(Chunk chunk);
  // The end of a held chunk beyond `size` becomes free in `list`.
  void Trim(Chunk chunk, Bytes size, uint32_t list);
  // `mark`: kept with the chunk, the later one wins where chunks become one.
  Chunk Free(Chunk chunk, uint32_t list, uint64_t mark = 0);
  // All free chunks of one list go to another.
  void Move(uint32_t from, uint32_t to);
  // Gives back regions that are free as a whole while `more()`; the largest first.
  using Release = std::function<void(Address, Bytes)>;
  void ReleaseRegions(const std::function<bool()>& more, const Release& release);

  Address address(Chunk chunk) const { return chunks_[chunk].address; }
  Bytes size(Chunk chunk) const { return chunks_[chunk].size; }
  uint32_t list(Chunk chunk) const { return chunks_[chunk].list; }
  uint64_t mark(Chunk chunk) const { return chunks_[chunk].mark; }
  // That there ever was a chunk of, by number.
  std::vector<uint32_t> Lists() const;

 private:
  struct Entry {
    Address address = 0;
    Bytes size = 0;
    Chunk prev = kNone;
    Chunk next = kNone;
    uint32_t list = 0;
    uint64_t mark = 0;
    bool free = false;
  };
  struct Key {
    Bytes size = 0;
    Address address = 0;
    Chunk chunk = kNone;
    bool operator<(const Key& o) const {
      return size != o.size ? size < o.size : address < o.address;
    }
  };

  Chunk NewChunk(const Entry& entry);
  void Insert(Chunk chunk) { free_[chunks_[chunk].list].Insert(KeyOf(chunk)); }
  void Erase(Chunk chunk) { free_[chunks_[chunk].list].Erase(KeyOf(chunk)); }
  Key KeyOf(Chunk chunk) const { return {chunks_[chunk].size, chunks_[chunk].address, chunk}; }
  bool Joins(Chunk chunk, uint32_t list) const {
    return chunk != kNone && chunks_[chunk].free && chunks_[chunk].list == list;
  }
  void Append(Chunk chunk, Chunk next);

  std::vector<Entry> chunks_;
  std::vector<Chunk> spare_;
  std::map<uint32_t, SortedChunks<Key>> free_;  // by list
};

}  // namespace graphkit
