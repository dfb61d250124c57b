// Memory of a graph by its requesters: the bytes of its blocks, grouped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/names.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/result.h"

namespace graphkit {

enum class BillBy : uint8_t { kBlock, kStack, kStream, kPool, kContent };
GRAPHKIT_NAMES(BillBy, "block", "stack", "stream", "pool", "content")
// By block, the class of its content (launches/content.h); for kContent.
using BlockClasses = std::span<const std::string_view>;

struct BillLine {
  std::string name;  // "block 3", "train.py:120 forward", "stream 2", "pool 1 (graph)"
  uint64_t blocks = 0;
  Bytes bytes = 0;              // of all blocks, sizes rounded up to 512
  Bytes never_freed_bytes = 0;  // of those without a free
  Bytes reuse_bytes = 0;        // could lie where another block lay
  uint64_t graphs = 1;          // that have such blocks
  bool operator==(const BillLine&) const = default;
};

struct MemoryBill {
  GraphId graph;
  std::vector<BillLine> lines;  // the largest first, then by name
  bool operator==(const MemoryBill&) const = default;
};

// One bill for each graph of the report that has blocks. Blocks of embedded graphs are on the bill
// of the graph that holds them; the memory that segments are made of is on none.
std::vector<MemoryBill> BillMemory(const Ran& trace, const Report& report, BillBy by,
                                   BlockClasses classes = {});

// The same of all graphs together: of no graph.
MemoryBill SumBills(const std::vector<MemoryBill>& bills);

// Who holds memory at a moment: the allocators' segments, and what is handed out of them. Of a
// snapshot's state, all that it says.

// A moment, and its device.
struct HeldAt {
  std::string name = "end";            // as the user named it: "peak", "end", a number
  std::string text = "at the end";     // "at the peak in use of 13.0 GiB (event 1402)"
  Seq seq = kNever;                    // after this record; kNever: at the end
  std::optional<int16_t> device = {};  // none: all of them
  bool operator==(const HeldAt&) const = default;
};

// Blocks lie in segments or are the driver's own: their bytes and those of segments don't add up.
struct HeldLine {
  std::string name;  // as BillLine's
  uint64_t segments = 0;
  Bytes segment_bytes = 0;
  uint64_t blocks = 0;    // whose free isn't complete
  Bytes block_bytes = 0;  // sizes rounded up to 512
  bool operator==(const HeldLine&) const = default;
};

// Pools and streams have segments; stacks have blocks only.
bool HaveSegments(BillBy by);

// The most in segments first, then in blocks, then by name. The memory that a
// segment is made of is no block here.
std::vector<HeldLine> BillHeld(const Ran& trace, BillBy by, const HeldAt& at = {},
                               BlockClasses classes = {});

// The moment of a run that a user names: analyze --at.

// Empty for "peak", "end" and a number; otherwise the message about the text.
std::string CheckMoment(const std::string& text);

// "peak": the moment of the highest memory in use, on the device with the highest peak; "end" or
// "": the end; a number: an event of that device in a history, else a record. Fails when there is
// no such event.
Result<HeldAt> FindHeldAt(const std::string& text, const Ran& trace);

// "record 33"; "event 3,697" of a history. `events`: the places of its events (PlacesOfEvents).
std::string RecordText(const std::vector<Seq>& events, Seq seq);

}  // namespace graphkit
