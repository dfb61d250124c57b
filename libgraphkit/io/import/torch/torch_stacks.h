// Strings, frames and stacks that a snapshot repeats, kept once.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/io/pickle/pickle.h"
#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {

// A flat hash table of dense ids, for interning: the things themselves lie in the caller's column,
// the table holds their hashes and ids. Open addressing, at most half full.
class IdTable {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // The id whose thing has this hash and for which equal(id) holds, else kNone.
  template <typename Equal>
  uint32_t Find(uint64_t hash, Equal equal) const {
    if (slots_.empty()) return kNone;
    const size_t mask = slots_.size() - 1;
    for (size_t at = Mix(hash) & mask;; at = (at + 1) & mask) {
      const auto& [tag, id] = slots_[at];
      if (id == kNone) return kNone;
      if (tag == static_cast<uint32_t>(hash) && equal(id)) return id;
    }
  }

  void Insert(uint64_t hash, uint32_t id) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Put(slots_, hash, id);
    ++count_;
  }

  // The id of such a thing; none is there: `next`, which it keeps.
  template <typename Equal>
  uint32_t FindOrInsert(uint64_t hash, uint32_t next, Equal equal) {
    const uint32_t found = Find(hash, equal);
    if (found == kNone) Insert(hash, next);
    return found == kNone ? next : found;
  }

  // For chaining values into a hash.
  static uint64_t Combine(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
  }

 private:
  using Slots = std::vector<std::pair<uint32_t, uint32_t>>;

  // Only the low 32 bits of a hash are kept, so only they may place it.
  static size_t Mix(uint64_t hash) {
    return static_cast<size_t>((static_cast<uint32_t>(hash) * 0x9e3779b97f4a7c15u) >> 20);
  }
  static void Put(Slots& slots, uint64_t hash, uint32_t id) {
    const size_t mask = slots.size() - 1;
    size_t at = Mix(hash) & mask;
    while (slots[at].second != kNone) at = (at + 1) & mask;
    slots[at] = {static_cast<uint32_t>(hash), id};
  }
  void Grow() {
    Slots bigger(slots_.empty() ? 64 : 2 * slots_.size(), {0, kNone});
    for (const auto& [tag, id] : slots_) {
      if (id != kNone) Put(bigger, tag, id);
    }
    slots_ = std::move(bigger);
  }

  Slots slots_;
  size_t count_ = 0;
};

// Gathers the stack frames of a snapshot without repeats. A snapshot says the same few thousand
// stacks millions of times, mostly as references to the same list.
class TorchStacks {
 public:
  explicit TorchStacks(TorchSnapshot* out) : out_(out) {}

  StringId Intern(std::string_view text);
  // The stack of a "frames" list; invalid for an empty list and for what isn't a list of frames.
  StackId Stack(const PickleValue& list);

 private:
  struct Seen {
    const PickleContainer* container;
    uint32_t id;
  };
  // The id that a container was read as, by identity.
  class ByIdentity {
   public:
    const uint32_t* Find(const PickleContainer* container) const;
    void Add(const PickleContainer* container, uint32_t id);

   private:
    IdTable table_;
    std::vector<Seen> seen_;
  };

  uint32_t Frame(const PickleValue& dict);
  StackId InternStack(const std::vector<uint32_t>& frames);

  TorchSnapshot* out_;
  IdTable strings_;
  IdTable frames_;
  IdTable stacks_;
  ByIdentity frames_seen_;
  ByIdentity stacks_seen_;
  std::vector<uint32_t> scratch_;
};

}  // namespace graphkit
