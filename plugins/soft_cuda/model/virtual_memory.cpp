#include "plugins/soft_cuda/model/virtual_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "plugins/soft_cuda/ground/page_states.h"
#include "plugins/soft_cuda/ground/shared_file.h"

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

// The last page of the file of an exported allocation.
struct ExportedMemory {
  char mark[32];
  uint64_t size;
  CUmemAllocationProp properties;
  int place;
};
constexpr char kMark[] = "graphkit soft allocation";
static_assert(sizeof(ExportedMemory) <= kPageBytes);

// False: the file is none that an allocation was exported as.
bool ReadEnd(int file, ExportedMemory* end) {
  struct stat about {};
  if (fstat(file, &about) != 0 || about.st_size <= off_t{kPageBytes}) return false;
  return pread(file, end, sizeof *end, about.st_size - off_t{kPageBytes}) == ssize_t{sizeof *end} &&
         std::memcmp(end->mark, kMark, sizeof kMark) == 0 &&
         end->size == static_cast<uint64_t>(about.st_size) - kPageBytes;
}

bool WriteWhole(int file, const void* from, uint64_t bytes, uint64_t offset) {
  return pwrite(file, from, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// The pages that have memory; the others read as 0 in the file, too.
bool WriteTouched(int file, uint64_t home, uint64_t size) {
  std::vector<unsigned char> touched(size / kPageBytes);
  if (mincore(Address(home), size, touched.data()) != 0) return false;
  for (uint64_t at = 0; at < size; at += kPageBytes) {
    const bool is_touched = (touched[at / kPageBytes] & 1) != 0;
    if (is_touched && !WriteWhole(file, Address(home + at), kPageBytes, at)) return false;
  }
  return true;
}

// Out of the way of the descriptors that the program counts on.
int KeepOpen(int file) {
  constexpr int kLowest = 512;
  const int kept = fcntl(file, F_DUPFD_CLOEXEC, kLowest);
  return kept >= 0 ? kept : fcntl(file, F_DUPFD_CLOEXEC, 0);
}

// Takes the pages from behind a range and leaves it reserved. Where that fails they stay.
void Empty(uint64_t begin, uint64_t size) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  (void)mmap(Address(begin), size, PROT_NONE, flags, -1, 0);
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

bool VirtualMemory::MoveInto(int file, int place, CUmemGenericAllocationHandle handle) {
  const PhysicalMemory& memory = physical_.at(handle);
  ExportedMemory end{.size = memory.size, .properties = memory.properties, .place = place};
  std::memcpy(end.mark, kMark, sizeof kMark);
  const bool written = ftruncate(file, static_cast<off_t>(memory.size + kPageBytes)) == 0 &&
                       WriteTouched(file, memory.home, memory.size) &&
                       WriteWhole(file, &end, sizeof end, memory.size);
  if (!written || mmap(Address(memory.home), memory.size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return false;
  madvise(Address(memory.home), memory.size, MADV_DONTDUMP);
  for (const auto& [address, mapping] : mappings_)
    if (mapping.handle == handle && IsUsable(mapping)) Lay(address, mapping);
  return true;
}

int VirtualMemory::Export(CUmemGenericAllocationHandle handle, int place) {
  PhysicalMemory& memory = physical_.at(handle);
  if (memory.file < 0) {
    const int file = memfd_create(kMark, MFD_CLOEXEC);
    if (file < 0) return -1;
    if (MoveInto(file, place, handle)) memory.file = KeepOpen(file);
    close(file);
    if (memory.file < 0) return -1;
    exported_[InodeOf(memory.file)] = handle;
  }
  return fcntl(memory.file, F_DUPFD_CLOEXEC, 0);
}

CUmemGenericAllocationHandle VirtualMemory::Import(int file, int* place) {
  const auto found = exported_.find(InodeOf(file));
  if (found != exported_.end()) {
    Retain(found->second);
    return found->second;
  }
  ExportedMemory end{};
  const int kept = ReadEnd(file, &end) ? KeepOpen(file) : -1;
  if (kept < 0) return 0;
  void* home = mmap(nullptr, end.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (home == MAP_FAILED) {
    close(kept);
    return 0;
  }
  madvise(home, end.size, MADV_DONTDUMP);
  *place = end.place;
  exported_[InodeOf(file)] = ++last_handle_;
  physical_[last_handle_] = {.properties = end.properties,
                             .size = end.size,
                             .home = reinterpret_cast<uint64_t>(home),
                             .file = kept,
                             .imported = true};
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
  if (memory.file >= 0) close(memory.file);
  physical_.erase(found);
  std::erase_if(exported_, [handle](const auto& entry) { return entry.second == handle; });
  return memory.imported ? 0 : memory.size;
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
  IsUsable(mapping) ? Lay(address, mapping) : Empty(address, mapping.size);
}

// A length of 0 maps the same memory once more.
void VirtualMemory::Lay(uint64_t address, const Mapping& mapping) {
  mremap(Address(physical_.at(mapping.handle).home + mapping.offset), 0, mapping.size,
         MREMAP_MAYMOVE | MREMAP_FIXED, Address(address));
}

}  // namespace graphkit::soft
