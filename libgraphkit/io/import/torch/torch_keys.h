// The keys of one kind of dict in PyTorch's snapshots, as a table.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "libgraphkit/io/pickle/pickle.h"

namespace graphkit {

// A key, and what takes its value: false when it isn't as expected.
template <typename Reader, typename T>
struct TorchKey {
  std::string_view name;
  bool (Reader::*take)(T& to, const PickleValue& value);
};

// Dicts of one kind mostly have the same keys in the same order, and the pickle shares the key
// strings: the key at a place is known by its address before its text is looked at.
template <typename Key>
class TorchKeys {
 public:
  explicit TorchKeys(std::span<const Key> keys) : keys_(keys) {}

  // Null: a key that isn't known, or isn't needed.
  const Key* At(size_t place, const PickleValue& key) {
    if (place >= known_.size()) return Find(key);
    auto& [chars, found] = known_[place];
    if (chars != key.chars) {
      found = Find(key);
      chars = key.chars;
    }
    return found;
  }

 private:
  const Key* Find(const PickleValue& key) const {
    const auto at = std::ranges::find(keys_, key.text(), &Key::name);
    return at == keys_.end() ? nullptr : &*at;
  }

  std::span<const Key> keys_;
  std::array<std::pair<const char*, const Key*>, 64> known_{};
};

}  // namespace graphkit
