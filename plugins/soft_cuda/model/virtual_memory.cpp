#include "plugins/soft_cuda/model/virtual_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

namespace graphkit::soft {
namespace {

// Where nothing of the host's lies; reservations follow each other from there. ThreadSanitizer
// keeps most addresses for itself.
#ifdef __SANITIZE_THREAD__
constexpr uint64_t kFirstAddress = 0x7ee000000000;
#else
constexpr uint64_t kFirstAddress = 0x600000000000;
#endif

void* Address(uint64_t value) { return reinterpret_cast<void*>(value); }

// The entry of a map of ranges that holds the address, or end().
template <typename Map, typename SizeOf>
auto Holding(Map& map, uint64_t address, SizeOf&& size_of) {
  auto next = map.upper_bound(address);
  if (next == map.begin()) return map.end();
  auto found = std::prev(next);
  return address - found->first < size_of(found->second) ? found : map.end();
}

bool IsFree(uint64_t begin, uint64_t size) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* got = mmap(Address(begin), size, PROT_NONE, flags, -1, 0);
  if (got == Address(begin)) return true;
  if (got != MAP_FAILED) munmap(got, size);
  return false;
}

bool IsUsable(const Mapping& mapping) {
  return std::ranges::any_of(mapping.access, [](const auto& entry) {
    return entry.second != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
}

// Takes the pages from behind a range and leaves it reserved.
void Empty(uint64_t begin, uint64_t size) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  mmap(Address(begin), size, PROT_NONE, flags, -1, 0);
}

}  // namespace

uint64_t VirtualMemory::Reserve(uint64_t size, uint64_t alignment, uint64_t wanted) {
  alignment = std::max(alignment, kGranularity);
  if (wanted != 0 && wanted % alignment == 0 && IsFree(wanted, size)) {
    reservations_[wanted] = size;
    return wanted;
  }
  uint64_t begin = std::max(next_address_, kFirstAddress);
  begin = (begin + alignment - 1) / alignment * alignment;
  if (!IsFree(begin, size)) {  // anywhere, with room to align
    void* place = mmap(nullptr, size + alignment, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return 0;
    begin = (reinterpret_cast<uint64_t>(place) + alignment - 1) / alignment * alignment;
  } else {
    next_address_ = begin + size;
  }
  reservations_[begin] = size;
  return begin;
}

bool VirtualMemory::Unreserve(uint64_t address, uint64_t size) {
  auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != size) return false;
  if (!MappingsIn(address, size).empty()) return false;
  munmap(Address(address), size);
  reservations_.erase(found);
  return true;
}

bool VirtualMemory::IsReserved(uint64_t address) const {
  const auto size_of = [](uint64_t size) { return size; };
  return Holding(reservations_, address, size_of) != reservations_.end();
}

CUmemGenericAllocationHandle VirtualMemory::Make(uint64_t size,
                                                 const CUmemAllocationProp& properties) {
  void* home = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (home == MAP_FAILED) return 0;
  madvise(home, size, MADV_DONTDUMP);
  physical_[++last_handle_] = {
      .properties = properties, .size = size, .home = reinterpret_cast<uint64_t>(home)};
  return last_handle_;
}

PhysicalMemory* VirtualMemory::Find(CUmemGenericAllocationHandle handle) {
  auto found = physical_.find(handle);
  return found != physical_.end() && found->second.references > 0 ? &found->second : nullptr;
}

CUmemGenericAllocationHandle VirtualMemory::RetainAllocation(uint64_t address, uint64_t size,
                                                             int device) {
  for (auto& [handle, memory] : physical_) {
    if (memory.allocation != address) continue;
    ++memory.references;
    return handle;
  }
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  physical_[++last_handle_] = {.properties = properties, .size = size, .allocation = address};
  return last_handle_;
}

uint64_t VirtualMemory::GiveBackUnused(CUmemGenericAllocationHandle handle) {
  auto found = physical_.find(handle);
  const PhysicalMemory memory = found->second;
  if (memory.references != 0 || memory.mappings != 0) return 0;
  if (memory.allocation != 0) {
    physical_.erase(found);
    return 0;
  }
  munmap(Address(memory.home), memory.size);
  physical_.erase(found);
  std::erase_if(exported, [handle](const auto& entry) { return entry.second == handle; });
  return memory.size;
}

uint64_t VirtualMemory::Release(CUmemGenericAllocationHandle handle) {
  --physical_.at(handle).references;
  return GiveBackUnused(handle);
}

bool VirtualMemory::Map(uint64_t address, const Mapping& mapping) {
  const auto size_of = [](uint64_t size) { return size; };
  const auto inside = Holding(reservations_, address, size_of);
  if (inside == reservations_.end()) return false;
  if (address - inside->first > inside->second - mapping.size) return false;
  if (!MappingsIn(address, mapping.size).empty()) return false;
  mappings_[address] = mapping;
  ++physical_.at(mapping.handle).mappings;
  return true;
}

void VirtualMemory::Unmap(uint64_t address, uint64_t* freed) {
  auto found = mappings_.find(address);
  const CUmemGenericAllocationHandle handle = found->second.handle;
  Empty(address, found->second.size);
  mappings_.erase(found);
  --physical_.at(handle).mappings;
  *freed += GiveBackUnused(handle);
}

const Mapping* VirtualMemory::MappingAt(uint64_t address) const {
  const auto size_of = [](const Mapping& mapping) { return mapping.size; };
  const auto found = Holding(mappings_, address, size_of);
  return found != mappings_.end() ? &found->second : nullptr;
}

std::set<uint64_t> VirtualMemory::MappingsIn(uint64_t address, uint64_t size) const {
  std::set<uint64_t> begins;
  const auto size_of = [](const Mapping& mapping) { return mapping.size; };
  if (const auto first = Holding(mappings_, address, size_of); first != mappings_.end())
    begins.insert(first->first);
  for (auto m = mappings_.lower_bound(address); m != mappings_.end() && m->first < address + size;
       ++m) {
    begins.insert(m->first);
  }
  return begins;
}

bool VirtualMemory::IsAccessible(uint64_t address, uint64_t size) const {
  const uint64_t end = address + size;
  while (address < end) {
    const auto size_of = [](const Mapping& mapping) { return mapping.size; };
    const auto found = Holding(mappings_, address, size_of);
    if (found == mappings_.end() || !IsUsable(found->second)) return false;
    address = found->first + found->second.size;
  }
  return true;
}

bool VirtualMemory::IsMapped(uint64_t address, uint64_t size) const {
  uint64_t at = address;
  while (at < address + size) {
    const auto found = mappings_.find(at);
    if (found == mappings_.end()) return false;
    at += found->second.size;
  }
  return at == address + size;
}

void VirtualMemory::SetAccess(uint64_t address, int device, CUmemAccess_flags flags) {
  Mapping& mapping = mappings_.at(address);
  mapping.access[device] = flags;
  if (!IsUsable(mapping)) return Empty(address, mapping.size);
  // A length of 0 maps the same memory once more.
  mremap(Address(physical_.at(mapping.handle).home + mapping.offset), 0, mapping.size,
         MREMAP_MAYMOVE | MREMAP_FIXED, Address(address));
}

}  // namespace graphkit::soft
