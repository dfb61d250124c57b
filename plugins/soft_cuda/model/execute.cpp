#include "plugins/soft_cuda/model/execute.h"

#include <algorithm>
#include <cstring>

#include "plugins/soft_cuda/model/copy_operand.h"

namespace graphkit::soft {
namespace {

struct Box {
  uint64_t base;
  size_t pitch;
  size_t height;
};

uint64_t Place(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host) : device;
}

uint64_t RowOf(const Box& box, size_t x, size_t y, size_t z) {
  return box.base + (z * box.height + y) * box.pitch + x;
}

// Do all rows of the extent follow each other?
bool IsOneRun(const Box& box, const CUDA_MEMCPY3D& c) {
  if (c.Height > 1 && box.pitch != c.WidthInBytes) return false;
  return c.Depth <= 1 || (box.pitch == c.WidthInBytes && box.height == c.Height);
}

// A value of one, two or four bytes, as words have it.
uint32_t WordOf(unsigned value, unsigned element) {
  if (element == 1) return (value & 0xff) * 0x01010101u;
  return element == 2 ? (value & 0xffff) * 0x00010001u : value;
}

}  // namespace

void RunCopy(Backing& backing, const CUDA_MEMCPY3D& c) {
  const Box from{Place(c.srcMemoryType, c.srcHost, c.srcDevice), c.srcPitch, c.srcHeight};
  const Box to{Place(c.dstMemoryType, c.dstHost, c.dstDevice), c.dstPitch, c.dstHeight};
  if (IsOneRun(from, c) && IsOneRun(to, c)) {
    backing.Copy(RowOf(to, c.dstXInBytes, c.dstY, c.dstZ),
                 RowOf(from, c.srcXInBytes, c.srcY, c.srcZ), CopyBytes(c));
    return;
  }
  for (size_t z = 0; z < c.Depth; ++z) {
    for (size_t y = 0; y < c.Height; ++y) {
      backing.Copy(RowOf(to, c.dstXInBytes, c.dstY + y, c.dstZ + z),
                   RowOf(from, c.srcXInBytes, c.srcY + y, c.srcZ + z), c.WidthInBytes);
    }
  }
}

void RunSet(Backing& backing, const CUDA_MEMSET_NODE_PARAMS& set) {
  const uint64_t width = uint64_t{set.width} * set.elementSize;
  const uint32_t word = WordOf(set.value, set.elementSize);
  if (set.height <= 1 || set.pitch == width) {
    backing.Fill(set.dst, width * set.height, word);
    return;
  }
  for (size_t row = 0; row < set.height; ++row)
    backing.Fill(set.dst + row * set.pitch, width, word);
}

namespace {

uint64_t Load(CUdeviceptr address, size_t bytes) {
  if (bytes == 4)
    return __atomic_load_n(reinterpret_cast<const uint32_t*>(address), __ATOMIC_ACQUIRE);
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(address), __ATOMIC_ACQUIRE);
}

void Store(CUdeviceptr address, uint64_t value, size_t bytes) {
  if (bytes == 4) {
    __atomic_store_n(reinterpret_cast<uint32_t*>(address), static_cast<uint32_t>(value),
                     __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(reinterpret_cast<uint64_t*>(address), value, __ATOMIC_RELEASE);
  }
}

// The comparisons of CUstreamWaitValue_flags; both 4-byte and 8-byte values are compared as given.
bool IsFulfilled(uint64_t value, uint64_t wanted, unsigned flags, size_t bytes) {
  switch (flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH}) {
    case CU_STREAM_WAIT_VALUE_GEQ:  // cyclic
      return bytes == 4 ? static_cast<int32_t>(value - wanted) >= 0
                        : static_cast<int64_t>(value - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return value == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (value & wanted) != 0;
    default: {
      const uint64_t all = bytes == 4 ? ~uint32_t{0} : ~uint64_t{0};
      return (~(value | wanted) & all) != 0;
    }
  }
}

}  // namespace

bool RunOperation(const CUstreamBatchMemOpParams& op) {
  const size_t bytes = op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                               op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64
                           ? 8
                           : 4;
  switch (op.operation) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      Store(op.writeValue.address, op.writeValue.value64, bytes);
      return true;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
      const uint64_t wanted = bytes == 8 ? op.waitValue.value64 : op.waitValue.value;
      return IsFulfilled(Load(op.waitValue.address, bytes), wanted, op.waitValue.flags, bytes);
    }
    default:
      return true;
  }
}

uint64_t CopyBytes(const CUDA_MEMCPY3D& c) { return uint64_t{c.WidthInBytes} * c.Height * c.Depth; }

CUDA_MEMCPY3D PlainCopy(uint64_t to, uint64_t from, size_t bytes, CUmemorytype to_type,
                        CUmemorytype from_type) {
  return MakeCopy<CUDA_MEMCPY3D>(InMemory(to_type, to), InMemory(from_type, from), bytes, 1);
}

}  // namespace graphkit::soft
