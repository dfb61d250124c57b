// A graph and its placement, ready to be executed: what each node waits for, and which canaries it
// reads and writes.
//
// A node starts and ends. A full edge a→b: b starts after a has ended. A partial one: b starts
// after a has started, and, if b is known to wait for its grid dependencies, ends after a has
// ended. What a node holds (a child graph, the body that is taken) runs between its start and its
// end.
//
// Memory is cut at every address where some block begins or ends; one canary stands for each
// stretch, since a placement treats all its bytes alike.
//
//     block x   |---------------|
//     block y           |----------------|
//     canaries  |   0   |   1   |    2   |
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/order/slice.h"

namespace graphkit {

struct ProgramTouch {
  static constexpr uint32_t kNoWriter = 0xffffffffu;

  uint32_t block = 0;           // in Program::blocks
  bool writes = false;          // otherwise it reads
  uint32_t writer = kNoWriter;  // the step that wrote before it in every order; none: unknown
  bool operator==(const ProgramTouch&) const = default;
};

// Something else that waits for a step's start or end.
struct ProgramWait {
  uint32_t step = 0;
  bool start = true;  // its start waits; otherwise its end
  bool operator==(const ProgramWait&) const = default;
};

struct ProgramStep {
  NodeId node;
  uint32_t start_needs = 0;  // how many starts and ends must come before its start
  uint32_t end_needs = 0;    // and its end
  Slice touches;             // in Program::touches
  Slice on_start;            // in Program::waits: who waits for its start
  Slice on_end;              // and for its end
  // A conditional: its bodies, of which one runs.
  std::vector<uint32_t> bodies;  // in Program::bodies
};

struct ProgramBlock {
  BlockId block;
  Slice canaries;     // first and count
  uint32_t uses = 0;  // steps that touch it
  bool dies = false;  // otherwise none may take its bytes afterwards
};

// The bytes that a canary stands for.
struct ProgramStretch {
  Bytes offset = 0;  // pools lie one after the other
  Bytes size = 0;    // 0: behind a pool's last block
  bool operator==(const ProgramStretch&) const = default;
};

struct Program {
  std::vector<ProgramStep> steps;
  std::vector<ProgramTouch> touches;
  std::vector<ProgramWait> waits;
  std::vector<std::vector<uint32_t>> bodies;  // steps of each body, what they hold included
  std::vector<ProgramBlock> blocks;
  uint32_t canaries = 0;
  std::vector<ProgramStretch> stretches;  // by canary
  size_t looks = 0;                       // nodes gone through to make it
};

// The places at which memory is cut.
class MemoryCuts {
 public:
  void Add(Bytes begin, Bytes end) {
    places_.push_back(begin);
    places_.push_back(end);
  }
  // After the last Add.
  void Finish() {
    std::ranges::sort(places_);
    const auto twice = std::unique(places_.begin(), places_.end());
    places_.erase(twice, places_.end());
  }
  // The stretches of a range that was added, where the lowest of all has the number `first`.
  Slice Of(Bytes begin, Bytes end, uint32_t first) const {
    const auto from = std::ranges::lower_bound(places_, begin);
    const auto to = std::ranges::lower_bound(places_, end);
    return {first + static_cast<uint32_t>(from - places_.begin()),
            static_cast<uint32_t>(to - from)};
  }
  const std::vector<Bytes>& places() const { return places_; }

 private:
  std::vector<Bytes> places_;
};

// A graph's placement: by pool, in capture order.
using PlacedPools = std::span<const std::vector<PlacedBlock>>;

Program MakeProgram(const Facts& facts, const GraphSlice& slice, const BlockOrder& order,
                    PlacedPools pools);

}  // namespace graphkit
