// The history of an address: the memory that held it, the graphs that point there, and its
// neighbours. Answers the question of an illegal memory access: whose address is that?
//
//     block 0   ├── captured into graph 0 ──┤ freed                       ┌ stale pointer
//     block 1                                  ├─── at the same address ───── launch of graph 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/result.h"

namespace graphkit {

// A moment of the trace: after this record (kNever: at the end). Of a launch, its record.
struct Moment {
  Seq at = kNever;
  std::optional<uint32_t> launch = {};
  bool operator==(const Moment&) const = default;
};

// Memory that held the address for a time: an allocator's segment, or a block (driver memory and
// mappings are blocks as well).
struct AddressHolder {
  SegmentId segment = {};
  BlockId block = {};
  bool backs_segment = false;  // the block is the memory of a segment
  GraphId graph = {};          // the root graph in whose capture the block was allocated
  Block is;                    // the block; of a segment its address, size, allocation and free
  bool operator==(const AddressHolder&) const = default;
};

// The strongest claim first.
enum class AddressState : uint8_t {
  kAlive,     // a block holds the address
  kDeferred,  // a block whose free isn't complete
  kGraph,     // a block freed in its capture: each launch of the graph uses its memory
  kIdle,      // no block, but an allocator's segment
  kFreed,     // nothing any more
  kNever,     // nothing recorded held it so far
};

// Nodes of a graph with an argument in a block that held the address.
struct AddressPointer {
  enum class State : uint8_t { kOwn, kAlive, kStale };
  GraphId graph;  // a root
  BlockId block;
  State state = State::kAlive;
  bool changed = false;            // a node's parameters were changed before the moment
  std::vector<NodeId> nodes = {};  // ascending
  std::vector<ExecId> execs = {};
  uint64_t launches = 0;                      // since the free of a stale block, otherwise all
  std::optional<uint32_t> first_launch = {};  // of these; in Trace::launches
  bool operator==(const AddressPointer&) const = default;
};

// The nearest block below or above that is there at the moment and doesn't hold the address.
struct AddressNeighbour {
  BlockId block;
  bool above = false;
  Bytes distance = 0;  // from its end to the address, or from the address to its begin
  bool operator==(const AddressNeighbour&) const = default;
};

struct Whereabouts {
  Address address = 0;
  Moment moment;
  std::vector<Seq> events = {};             // of the address's device: places of its history
  std::vector<AddressHolder> holders = {};  // by allocation
  AddressState state = AddressState::kNever;
  std::optional<size_t> holder = {};  // in `holders`: holds it at the moment, or held it last
  std::optional<size_t> last = {};    // of idle memory: the last block there
  std::vector<AddressPointer> pointers = {};  // stale ones first, then by graph and block
  std::vector<AddressNeighbour> neighbours = {};
  bool operator==(const Whereabouts&) const = default;
};

// At a launch, memory of its graph counts before that of other graphs.
Whereabouts FindWhere(const Facts& facts, Address address, const Moment& moment = {});

// "launch 17", "launch:17", "end", "peak" or the number of an event. Check: empty when it is one.
std::string CheckLaunchOrMoment(const std::string& text);
Result<Moment> FindMoment(const std::string& text, const Ran& trace);

}  // namespace graphkit
