// Memory: segments got from the driver, blocks handed out of them, pools, and what nodes touch.
//
// A block's life, in records (Seq):
//
//     allocated ────────── free_requested ─ ─ deferred ─ ─ free_completed
//         │ used on its allocation stream      │ may not be reused yet
//         │ and on the streams it was recorded on
#pragma once

#include <algorithm>
#include <cstdint>

#include "libgraphkit/ids.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/units.h"

namespace graphkit {

enum class PoolKind : uint8_t {
  kDevice,     // plain driver allocations (cudaMalloc): no reuse but by the driver
  kStream,     // a driver memory pool (cudaMallocAsync)
  kGraph,      // the driver's graph memory (memory-alloc nodes)
  kAllocator,  // an allocator in the program: the default pool of PyTorch, a heap announced through
               // NVTX
  kPrivate,    // an allocator's pool for one capture, or a MemPool
  kHost,       // pinned host memory
  kManaged,
};

struct Pool {
  PoolKind kind = PoolKind::kDevice;
  StringId name;
  uint64_t handle = 0;  // the driver's or the allocator's; 0: none
  Seq created = 0;
  Seq destroyed = kNever;
  bool operator==(const Pool&) const = default;
};

// Memory that an allocator got from the driver and hands out in blocks.
struct Segment {
  Address address = 0;
  Bytes size = 0;
  PoolId pool;
  StreamId stream;
  BlockId block;  // the driver allocation that it is; may be none
  Seq allocated = 0;
  Seq freed = kNever;
  bool operator==(const Segment&) const = default;
};

struct Block {
  Address address = 0;
  Bytes size = 0;   // as requested; not rounded
  Bytes slack = 0;  // handed out with it beyond its size rounded up to 512 B
  PoolId pool;
  SegmentId segment;     // suballocations: where it lies
  StreamId stream;       // allocation stream; none: not stream-ordered
  GraphId graph;         // allocated while this graph was being made; none: outside captures
  NodeId alloc_node;     // memory-alloc node
  NodeId free_node;      // memory-free node
  StreamId free_stream;  // stream of the free; none: synchronous, or not freed
  StackId stack;
  StackId free_stack;
  // The driver's: physical memory mapped to reserved addresses (cuMemMap), freed where it is
  // unmapped. The first mapping of the same memory; none: itself.
  bool mapped = false;
  BlockId same_as;
  Seq shared = kNever;  // of a first mapping: other processes or devices may write the memory, too
  Seq allocated = 0;
  Seq free_requested = kNever;
  Seq free_completed = kNever;
  bool operator==(const Block&) const = default;

  bool freed() const { return free_requested != kNever; }
};

// A block was handed to another stream than its own (record_stream).
struct BlockStream {
  BlockId block;
  StreamId stream;
  Seq seq = 0;
  bool operator==(const BlockStream&) const = default;
};

enum class AccessMode : uint8_t { kUnknown, kRead, kWrite, kReadWrite };

inline constexpr Bytes kLengthUnknown = ~Bytes{0};

// The bytes that an access in rows touches: a copy or a memset of two or three
// dimensions. Width 0: all of them.
//
//     offset
//     ├ width ┤···········├───────┤···········├───────┤          height: rows of a layer
//     ├───── pitch ───────┤                                      layer: rows up to the next layer
struct AccessRows {
  uint32_t width = 0;
  uint32_t pitch = 0;
  uint32_t height = 0;  // 0: there is one layer
  uint32_t layer = 0;
  auto operator<=>(const AccessRows&) const = default;
};

// A node's access to a block. For memcpy and memset nodes exact; for kernels: an address inside
// the block stood in the argument buffer.
struct Access {
  BlockId block;
  AccessMode mode = AccessMode::kUnknown;
  Bytes offset = 0;               // into the block
  Bytes length = kLengthUnknown;  // from offset; of rows up to the end of the last one
  AccessRows rows = {};
  bool operator==(const Access&) const = default;
};

// Memory of the host that a captured copy reads or writes and that no block is: a replay finds the
// same address, whatever is there by then.
enum class HostMemoryKind : uint8_t {
  kPageable,  // CUDA doesn't know it: from malloc, new, mmap
  kStack,     // the same, on the stack of the thread that made the copy
  kProgram,   // the same, in a program or a library: lives as long as that is loaded
};

// One end of a copy.
struct HostEnd {
  Seq seq = 0;  // of the node, the change of parameters or the work
  HostMemoryKind kind = HostMemoryKind::kPageable;
  AccessMode mode = AccessMode::kUnknown;
  Address address = 0;
  Bytes length = kLengthUnknown;
  bool operator==(const HostEnd&) const = default;
};

// How far a thread's stack reached as it launched a graph with a copy of its stack: what lies below
// was given up before.
struct StackTop {
  ThreadId thread;
  Address address = 0;
  Seq seq = 0;  // the next launch is the one
  bool operator==(const StackTop&) const = default;
};

// Page-locked memory that a captured copy reads has other bytes than when the tracer last looked:
// as the copy was captured, at each launch, and where other work reads or wrote them (the tracer's
// host_content.h). Of long copies only the first bytes.
struct HostChange {
  Seq seq = 0;  // before the launch, the work or the wait of the host where it was seen
  BlockId block;
  Bytes offset = 0;
  Bytes length = 0;
  bool operator==(const HostChange&) const = default;
};

// The test for a byte that two accesses have in common: by their rows, where they have some.
//
//     a  ██████······██████······██████······       two halves of the columns of one matrix: their
//     b  ······██████······██████······██████       spans overlap, and they don't

// Offsets are taken to be into the same memory, whatever the blocks. Unknown: an end isn't known,
// or there are too many rows to compare.
Ternary Overlap(const Access& a, const Access& b);

// What it may touch of a block of that size.
constexpr Interval<Bytes> BytesOf(const Access& access, Bytes size) {
  const Bytes begin = std::min(access.offset, size);
  return {begin, begin + std::min(access.length, size - begin)};
}

// The access with its offset from address 0 instead of from its block's.
Access At(Access access, Address block);

// Device memory at moments of a trace. The kinds are those of torch.cuda.memory_stats.
//
//     reserved   ┌──────────────────────┐   segments and plain allocations
//     in use     ┌─────┐  ┌─────────┐       "active_bytes": until the free is complete
//     allocated  ┌───┐    ┌──────┐          "allocated_bytes": until the free is requested
//     record     0        a             end   a: peak in use; reserved − in use is idle
//
// "requested_bytes" is the memory in use by the sizes that the program requested, unrounded.
//
// Of the device that a block or a segment lies on, by its stream: 0 where that isn't known.
using DeviceIndex = int16_t;

struct MemoryAt {
  Seq seq = 0;            // after this record
  Bytes reserved = 0;     // from the driver: segments, plain allocations, graph memory
  uint64_t segments = 0;  // of allocators
  Bytes in_use = 0;       // handed out, deferred frees included
  Bytes allocated = 0;    // handed out and not yet free-requested
  Bytes requested = 0;    // memory in use, as the program requested it
  uint64_t blocks = 0;    // that are in use
  Bytes of_graphs = 0;    // of the reserved bytes: graph memory
  bool operator==(const MemoryAt&) const = default;

  Bytes idle() const { return reserved > in_use ? reserved - in_use : 0; }
};

// The first of equal peaks; of the reserved one that with the most in use.
struct MemoryMoments {
  MemoryAt peak_reserved;
  MemoryAt peak_in_use;
  MemoryAt peak_allocated;
  MemoryAt peak_requested;
  // Most reserved without graph memory. Threads capture in another order in every run, so that the
  // sum over graphs that are captured at once is another one, and no launch has it.
  Bytes peak_outside_graphs = 0;
  MemoryAt end;
  bool operator==(const MemoryMoments&) const = default;
};

// Memory of segments that isn't handed out after a record.
struct IdleMemory {
  Bytes empty_bytes = 0;  // in segments without a block in use: empty_cache() returns them
  uint64_t empty_segments = 0;
  Bytes gap_bytes = 0;  // between blocks in use
  uint64_t gaps = 0;
  Bytes largest_bytes = 0;  // the largest free range
  Bytes private_bytes = 0;  // of all of it, in private pools: for their captures alone
  bool operator==(const IdleMemory&) const = default;

  Bytes bytes() const { return empty_bytes + gap_bytes; }
};

}  // namespace graphkit
