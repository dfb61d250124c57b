// Frontiers that grow as their stream waits for one stream after another: each entry is added once,
// in a step or two, however many there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libgraphkit/model/stream.h"

namespace graphkit {

class WideFrontiers {
 public:
  // `entries`, of a stream, ∪= `more`.
  void Add(size_t stream, std::span<const FrontierEntry> more,
           std::vector<FrontierEntry>* entries) {
    for (const FrontierEntry& entry : more) {
      if (entries->size() < kWide) {
        if (std::ranges::find(*entries, entry) == entries->end()) entries->push_back(entry);
        continue;
      }
      Known& known = known_[stream];
      for (; known.entries < entries->size(); ++known.entries) {
        known.keys.insert(KeyOf((*entries)[known.entries]));
      }
      if (known.keys.insert(KeyOf(entry)).second) {
        entries->push_back(entry);
        ++known.entries;
      }
    }
  }

  // To be called before entries of a stream are taken away.
  void Forget(size_t stream, std::span<const FrontierEntry> entries) {
    if (entries.size() >= kWide) known_.erase(stream);
  }

 private:
  static constexpr size_t kWide = 32;

  struct Known {
    size_t entries = 0;  // how many of the frontier's
    std::unordered_set<uint64_t> keys;
  };

  static uint64_t KeyOf(const FrontierEntry& entry) {
    return uint64_t{entry.node.value} << 16 | uint64_t{entry.from_port} << 8 | entry.edge_type;
  }

  std::unordered_map<size_t, Known> known_;  // by stream
};

}  // namespace graphkit
