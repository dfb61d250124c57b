#include "libgraphkit/alloc/chunks/chunk_list.h"

#include <algorithm>

namespace graphkit {

ChunkList::Chunk ChunkList::NewChunk(const Entry& entry) {
  if (spare_.empty()) {
    chunks_.push_back(entry);
    return static_cast<Chunk>(chunks_.size() - 1);
  }
  const Chunk chunk = spare_.back();
  spare_.pop_back();
  chunks_[chunk] = entry;
  return chunk;
}

ChunkList::Chunk ChunkList::AddRegion(Address address, Bytes size, uint32_t list) {
  const Chunk chunk = NewChunk({address, size, kNone, kNone, list, 0, true});
  Insert(chunk);
  return chunk;
}

ChunkList::Chunk ChunkList::Find(uint32_t list, Bytes size, const Accept& accept) const {
  const auto found = free_.find(list);
  if (found == free_.end()) return kNone;
  const SortedChunks<Key>& keys = found->second;
  for (auto at = keys.LowerBound({size, 0, 0}); at != keys.end(); at = keys.next(at)) {
    if (!accept || accept(keys[at].chunk)) return keys[at].chunk;
  }
  return kNone;
}

void ChunkList::Hold(Chunk chunk) {
  Erase(chunk);
  chunks_[chunk].free = false;
}

void ChunkList::Trim(Chunk chunk, Bytes size, uint32_t list) {
  if (chunks_[chunk].size == size) return;
  const Entry whole = chunks_[chunk];
  const Chunk rest = NewChunk(
      {whole.address + size, whole.size - size, chunk, whole.next, list, whole.mark, false});
  if (whole.next != kNone) chunks_[whole.next].prev = rest;
  chunks_[chunk].next = rest;
  chunks_[chunk].size = size;
  Free(rest, list, whole.mark);
}

// The neighbour's memory becomes the chunk's.
void ChunkList::Append(Chunk chunk, Chunk next) {
  Entry& entry = chunks_[chunk];
  entry.size += chunks_[next].size;
  entry.mark = std::max(entry.mark, chunks_[next].mark);
  entry.next = chunks_[next].next;
  if (entry.next != kNone) chunks_[entry.next].prev = chunk;
  spare_.push_back(next);
}

ChunkList::Chunk ChunkList::Free(Chunk chunk, uint32_t list, uint64_t mark) {
  chunks_[chunk].free = true;
  chunks_[chunk].list = list;
  chunks_[chunk].mark = mark;
  if (const Chunk next = chunks_[chunk].next; Joins(next, list)) {
    Erase(next);
    Append(chunk, next);
  }
  if (const Chunk prev = chunks_[chunk].prev; Joins(prev, list)) {
    Erase(prev);
    Append(prev, chunk);
    chunk = prev;
  }
  Insert(chunk);
  return chunk;
}

void ChunkList::Move(uint32_t from, uint32_t to) {
  std::vector<Chunk> moved;
  SortedChunks<Key>& keys = free_[from];
  for (auto at = keys.begin(); at != keys.end(); at = keys.next(at))
    moved.push_back(keys[at].chunk);
  for (const Chunk chunk : moved) Hold(chunk);
  for (const Chunk chunk : moved) Free(chunk, to, chunks_[chunk].mark);
}

void ChunkList::ReleaseRegions(const std::function<bool()>& more, const Release& release) {
  std::vector<Key> whole;
  for (const auto& [list, keys] : free_) {
    for (auto at = keys.begin(); at != keys.end(); at = keys.next(at)) {
      const Entry& entry = chunks_[keys[at].chunk];
      if (entry.prev == kNone && entry.next == kNone) whole.push_back(keys[at]);
    }
  }
  std::ranges::sort(whole, [](const Key& a, const Key& b) { return b < a; });
  for (const Key& key : whole) {
    if (!more()) return;
    Erase(key.chunk);
    spare_.push_back(key.chunk);
    release(key.address, key.size);
  }
}

std::vector<uint32_t> ChunkList::Lists() const {
  std::vector<uint32_t> lists;
  for (const auto& [list, keys] : free_) lists.push_back(list);
  return lists;
}

}  // namespace graphkit
