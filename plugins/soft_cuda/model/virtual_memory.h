// Virtual memory management: addresses are reserved, physical memory is made, and the one is mapped
// to the other. Bytes lie in shared mappings of their own, which are mapped a second time where the
// program maps them: no file descriptor that the program could close. Those of a handle that is
// exported move into a file, which processes share:
//
//   file  | bytes, `size` of them | a page that describes them |
//
//   reservation  |--------------------------------------|   no access: the host would fault, too
//   mappings        |=====h1=====|=====h1=====|==h2==|      no access before cuMemSetAccess
//
// A handle's memory goes when its references and its mappings are gone.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <set>

namespace graphkit::soft {

struct PhysicalMemory {
  CUmemAllocationProp properties{};
  uint64_t size = 0;  // bytes
  uint64_t home = 0;  // where the bytes lie
  unsigned references = 1;
  unsigned mappings = 0;
  uint64_t allocation =
      0;                  // the address of what cuMemAlloc made, whose handle this is; 0: it isn't
  int file = -1;          // an open descriptor of the file; -1: never exported
  bool imported = false;  // of another process, which counts the bytes
};

struct Mapping {
  uint64_t size = 0;
  uint64_t offset = 0;  // in the physical memory
  CUmemGenericAllocationHandle handle = 0;
  std::map<int, CUmemAccess_flags> access{};  // by device; none: no access
};

class VirtualMemory {
 public:
  static constexpr uint64_t kGranularity = uint64_t{2} << 20;

  // 0: no addresses are left. `wanted` may be 0.
  uint64_t Reserve(uint64_t size, uint64_t alignment, uint64_t wanted);
  bool Unreserve(uint64_t address, uint64_t size);  // false: not a reservation, or mapped
  bool IsReserved(uint64_t address) const;

  CUmemGenericAllocationHandle Make(uint64_t size, const CUmemAllocationProp& properties);
  PhysicalMemory* Find(CUmemGenericAllocationHandle handle);  // null: none, or released
  uint64_t HomeOf(CUmemGenericAllocationHandle handle) const { return physical_.at(handle).home; }
  // A new descriptor of the file with the memory, which the caller closes; -1: none can be made.
  // `place` is the GPU's in the machine.
  int Export(CUmemGenericAllocationHandle handle, int place);
  // 0: the descriptor isn't of such a file. Of another process's memory `place` is set.
  CUmemGenericAllocationHandle Import(int file, int* place);
  // The handle of an allocation that was made in another way.
  CUmemGenericAllocationHandle RetainAllocation(uint64_t address, uint64_t size, int device);
  void Retain(CUmemGenericAllocationHandle handle) { ++physical_.at(handle).references; }
  // The bytes that it gave back; 0: others hold it still.
  uint64_t Release(CUmemGenericAllocationHandle handle);

  // False: not reserved, or something is mapped there.
  bool Map(uint64_t address, const Mapping& mapping);
  // Ends a mapping that begins at the address. Adds the bytes that it gave back.
  void Unmap(uint64_t address, uint64_t* freed);
  // True if the range is made of whole mappings without gaps.
  bool IsMapped(uint64_t address, uint64_t size) const;
  const Mapping* MappingAt(uint64_t address) const;  // that holds the address; null: none
  // True if the whole range is mapped and some device may use all of it.
  bool IsAccessible(uint64_t address, uint64_t size) const;
  void SetAccess(uint64_t address, int device, CUmemAccess_flags flags);
  // Begins of the mappings in a range.
  std::set<uint64_t> MappingsIn(uint64_t address, uint64_t size) const;
  const std::map<uint64_t, Mapping>& mappings() const { return mappings_; }  // by begin

 private:
  bool MoveInto(int file, int place, CUmemGenericAllocationHandle handle);
  void Lay(uint64_t address, const Mapping& mapping);
  uint64_t GiveBackUnused(CUmemGenericAllocationHandle handle);

  uint64_t next_address_ = 0;
  uint64_t last_handle_ = 0;
  std::map<uint64_t, uint64_t> reservations_;  // begin → size
  std::map<uint64_t, Mapping> mappings_;       // by begin
  std::map<CUmemGenericAllocationHandle, PhysicalMemory> physical_;
  std::map<uint64_t, CUmemGenericAllocationHandle> exported_;  // by the inode of the file
};

}  // namespace graphkit::soft
