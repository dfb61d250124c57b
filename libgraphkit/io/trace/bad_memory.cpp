#include "libgraphkit/io/trace/bad_memory.h"

#include <algorithm>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// Null, or what is wrong.
const char* WrongRange(Address address, Bytes size, MemorySum* sum) {
  if (size > kLargestMemory) return " has more than 2^56 bytes, which is more than there can be";
  if (address > ~Address{0} - RoundUp(size, kBlockGranularity)) return " ends beyond 2^64";
  if (!sum->Add(size)) return " makes its kind more than 2^62 bytes together";
  return nullptr;
}

const char* WrongAccess(const Access& access, MemorySum* sum) {
  const Bytes length = access.length == kLengthUnknown ? 0 : access.length;
  if (access.offset > kLargestMemory || length > kLargestMemory) {
    return " has an access beyond 2^56 bytes, which is more than there can be";
  }
  if (access.rows.width > access.rows.pitch || access.rows.height > access.rows.layer) {
    return " has an access whose rows overlap each other";
  }
  return sum->Add(length) ? nullptr : " makes the accesses more than 2^62 bytes together";
}

template <typename Column>
std::optional<Seq> HolderOf(const Column& column, size_t access) {
  for (const auto& holder : column) {
    const Slice slice = holder.accesses;
    if (access >= slice.first && access - slice.first < slice.count) return holder.seq;
  }
  return std::nullopt;
}

Seq PlaceOfAccess(const Trace& trace, size_t access) {
  if (const auto seq = HolderOf(trace.nodes, access)) return *seq;
  if (const auto seq = HolderOf(trace.works, access)) return *seq;
  return HolderOf(trace.node_changes, access).value_or(0);
}

std::string Numbered(const char* what, size_t index, const char* wrong) {
  return what + std::to_string(index) + wrong;
}

}  // namespace

std::optional<BadMemory> FindBadMemory(const Trace& trace) {
  MemorySum blocks, segments, accesses;
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    const Bytes slack = std::min(block.slack, kLargestMemory + 1);
    const Bytes size = block.size > kLargestMemory ? block.size : block.size + slack;
    if (const char* wrong = WrongRange(block.address, size, &blocks)) {
      return BadMemory{Numbered("block ", i, wrong), block.allocated};
    }
  }
  for (const auto& [i, segment] : Enumerate(trace.segments)) {
    if (const char* wrong = WrongRange(segment.address, segment.size, &segments)) {
      return BadMemory{Numbered("segment ", i, wrong), segment.allocated};
    }
  }
  for (size_t i = 0; i < trace.accesses.size(); ++i) {
    if (const char* wrong = WrongAccess(trace.accesses[i], &accesses)) {
      const Seq place = PlaceOfAccess(trace, i);
      return BadMemory{Numbered("record ", place, wrong), place};
    }
  }
  return std::nullopt;
}

}  // namespace graphkit
