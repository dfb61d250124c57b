// The work of a node, or outside of graphs: its operation and its memory accesses, derived from the
// parameters of its call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/ground/live_memory.h"
#include "plugins/cupti_tracer/recorder/kernels.h"
#include "plugins/cupti_tracer/recorder/memory.h"
#include "plugins/cupti_tracer/recorder/tensor_maps.h"

namespace graphkit {

struct Work {
  NodeKind kind = NodeKind::kUnknown;
  KernelId kernel;
  LaunchShape shape;                             // of a kernel
  BlockId block;                                 // that it allocates or frees
  EventId event;                                 // that it records or waits for
  bool complete = false;                         // it touches nothing but what is here
  uint64_t fingerprint = Fingerprint::kUnknown;  // of all that it was made or set with
  bool of_graphs = false;          // some of it lies in memory of graphs (LiveMemory::Block)
  std::vector<Address> elsewhere;  // the addresses that don't
  std::vector<Access> accesses;
  std::vector<Collective> collectives;
  std::vector<HostEnd> host_ends;
  std::vector<Scalar> scalars;

  bool copies_stack() const;
  void Clear(NodeKind of);
  // The access to the same place; null: there is none, and the caller appends this one.
  Access* Find(const Access& access);

 private:
  static constexpr size_t kFew = 16;  // are compared one by one
  Access* FindAmongMany(const Access& access);

  // A hash table of places in `accesses`, from 1 on (0: empty), for kernels with hundreds of
  // addresses, as a fused optimizer has. It knows the first `hashed_` of them.
  std::vector<uint32_t> slots_;
  size_t hashed_ = 0;
};

class Communicators;

// Kernels that are known, and what their arguments say.
class WorkReader {
 public:
  WorkReader(Records& records, const Memory& memory, Communicators& communicators)
      : records_(records), memory_(memory), communicators_(communicators) {}

  // True if a launch of this function can be read; if not, AddKernel first.
  bool KnowsKernel(uint64_t function, const char* name) const {
    return FindKernel(function, name) != nullptr;
  }
  // It stays where it is, and what it is.
  const KernelInfo* FindKernel(uint64_t function, const char* name) const {
    return kernels_.Find(function, name);
  }
  void AddKernel(uint64_t function, KernelLayout layout);
  // A module was unloaded: the handles of its functions may be given to others.
  void ForgetFunctions() { kernels_.ForgetFunctions(); }
  // Of `bytes` from `address` on; negative: it isn't known how many.
  void AddTensorMap(const void* contents, uint64_t address, int64_t bytes) {
    tensor_maps_.Add(contents, address, bytes);
  }

  void ReadKernel(const KernelWork& launch, Work& work);
  // A copy or a memset of the call's own, and what its batch has of the node.
  void ReadOperations(const Operation& own, std::span<const Operation> batch, Work& work) const;
  // Reads the record of a node, or of its last parameters. False: it isn't known.
  bool ReadRecord(uint64_t place, Work& work) const;
  static constexpr uint64_t kNoPlace = ~uint64_t{0};

 private:
  bool ScanParam(const char* bytes, const KernelParam& param, ParamUse use, Work& work);
  bool AddOperand(const char* bytes, Work& work) const;
  void AddOperation(const Operation& operation, Work& work) const;
  void AddAccess(uint64_t address, AccessMode mode, Bytes length, Work& work,
                 const AccessRows& rows = {}) const;

  Records& records_;
  const Memory& memory_;
  Communicators& communicators_;
  KernelTable kernels_;
  TensorMaps tensor_maps_;
};

}  // namespace graphkit
