// Differences between the memory of two runs, device by device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/units.h"

namespace graphkit {

// One figure, by its name in JSON. Nothing: unknown.
struct FigureChange {
  std::string figure;
  std::optional<uint64_t> before = 0;
  std::optional<uint64_t> after = 0;
  bool operator==(const FigureChange&) const = default;
};

// Who holds memory, as indices in the holders of the two accounts. Nothing: held nothing there.
struct HolderPair {
  std::optional<size_t> before = {};
  std::optional<size_t> after = {};
  bool operator==(const HolderPair&) const = default;
};

struct HolderChange {
  HolderPair holder = {};
  Bytes before = 0;
  Bytes after = 0;
  bool operator==(const HolderChange&) const = default;

  bool more() const { return after > before; }
  Bytes change() const { return more() ? after - before : before - after; }
};

// A remark on one of the runs, or on both with other bytes.
struct RemarkChange {
  std::string kind;
  std::optional<Bytes> before = {};
  std::optional<Bytes> after = {};
  std::string text = {};  // of the run after, where it has it
  std::string advice = {};
  bool operator==(const RemarkChange&) const = default;
};

struct MemoryDiff {
  // As indices in the accounts of the two runs. Nothing: the run has no memory there.
  std::optional<size_t> before = {};
  std::optional<size_t> after = {};
  std::vector<FigureChange> figures = {};  // equal ones too
  // The largest change first, equal ones at the end; none where only one run has call stacks.
  std::vector<HolderChange> holders = {};
  std::vector<RemarkChange> remarks = {};  // only those that differ; out of memory first
  bool operator==(const MemoryDiff&) const = default;

  bool equal() const {
    for (const FigureChange& figure : figures) {
      if (figure.before && figure.after && figure.before != figure.after) return false;
    }
    return (holders.empty() || holders.front().change() == 0) && remarks.empty();
  }
};

}  // namespace graphkit
