// The life of content: what becomes of each byte that graphs touch between their launches, over the
// launches and the work outside of graphs in their order.
//
//     work       copy x                copy x                     read z
//     launches          └─ graph 0 ─┐         └─ graph 0 ─┐         │
//     x                    reads x  ╎            reads x  ╎                  input
//     w                    reads w  ╎            reads w  ╎                  constant
//     k                 reads, writes k       reads, writes k                state
//     t                  writes t, reads it    writes t, reads it            scratch
//     z                    writes z ╎            writes z ╎                  output
//                                  cut                   cut
//
// A cut is the end of a launch: memory may be given away there. A byte is needed at a cut if the
// next access after it may read it before it is surely written (memory/first_writes.h). Scratch and
// input are needed at no cut. What can't be told is unknown, and has to be kept. Host and managed
// memory, which the host may write, isn't looked at.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/launches/borrow.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/units.h"

namespace graphkit {

enum class ContentClass : uint8_t {
  kScratch,   // each launch that touches it writes it before it reads it, and nothing else reads it
  kInput,     // launches find it, and the program surely rewrites it before each of them
  kConstant,  // launches find it, and from the first one on nothing writes it
  kState,     // launches find it, and launches, or the program at times, write it
  kOutput,    // no launch finds it, but one leaves it: the program may read it
  kUnknown,
};
GRAPHKIT_NAMES(ContentClass, "scratch", "input", "constant", "state", "output", "unknown")

enum class UnknownContent : uint8_t {
  kNone,      // it is known
  kKernel,    // a kernel of a graph is given the address, and may read it, write it or both
  kWork,      // work outside of graphs may write it, or a part of it
  kUnseen,    // work outside of graphs isn't recorded
  kAnything,  // kernels whose arguments weren't read may touch it
};
GRAPHKIT_NAMES(UnknownContent, "none", "kernel", "work outside", "work not recorded", "any kernel")

// Bytes of one class, for the same reasons.
struct ContentRange {
  Interval<Address> bytes;
  ContentClass what = ContentClass::kUnknown;
  UnknownContent why = UnknownContent::kNone;
  BlockId block;  // that lies there, as the nodes name it
  NodeId reader;  // of found bytes, a node that reads them, or may
  NodeId writer;  // a node that writes them, or may; none: no launch does, or scratch
  uint32_t work =
      kNoUse;  // in Trace::works: what wrote them last, of a constant before its launches
  uint32_t launch = kNoUse;  // in Trace::launches: the first one that finds them
  bool restored = false;     // a copy brought them back after a sleep (restored_copies.h)
  bool operator==(const ContentRange&) const = default;

  // The same, but for the bytes.
  bool Continues(const ContentRange& before) const;
};

// By graph: it was launched, or an exec of it is left.
std::vector<bool> GraphsThatRun(const Facts& facts);

// Of these graphs; by address. A byte is in one range.
std::vector<ContentRange> FindContent(const Facts& facts, MarkerRule rule);

// By block, the class that most of its bytes have; "untouched": no such graph touches it.
std::vector<std::string_view> ClassesOfBlocks(const Ran& trace,
                                              std::span<const ContentRange> content);

// What graphs need when their memory is given away and taken back: ranges of one class by pool and
// line, summed up.
struct ContentRow {
  ContentClass what = ContentClass::kUnknown;
  UnknownContent why = UnknownContent::kNone;
  PoolId pool;           // none: the driver's
  std::string line;      // that wrote constants and inputs, else that allocated them; may be empty
  bool written = false;  // the line is the one that wrote them
  ContentRange first;    // the one with the lowest address
  uint64_t ranges = 0;
  Bytes bytes = 0;
  bool operator==(const ContentRow&) const = default;
};

struct ContentBill {
  std::vector<ContentRow> rows;     // by class, then the largest first
  std::array<Bytes, 6> bytes = {};  // by class: of its rows
  Bytes touched = 0;                // of all rows, and kept
  Bytes kept = 0;                   // of pools that keep their memory: in no row
  Bytes idle = 0;  // in segments of pools that captures allocate in, and touched by nothing
  Bytes restored_in_vain = 0;  // scratch and inputs that were saved and copied back
  uint64_t graphs = 0;
  uint64_t launches = 0;
  bool operator==(const ContentBill&) const = default;

  Bytes of(ContentClass what) const { return bytes[static_cast<size_t>(what)]; }
};
// `keep`: pools that keep their memory.
ContentBill BillContent(const Facts& facts, std::span<const ContentRange> ranges,
                        std::span<const PoolBorrow> pools, std::span<const PoolId> keep = {});

}  // namespace graphkit
