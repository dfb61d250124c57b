// The addresses that a graph's allocation nodes have: which are allocated at the graph's end, which
// were freed by a node of the graph and may serve a later allocation.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <set>
#include <unordered_map>

namespace graphkit::soft {

struct Node;

class GraphAddresses {
 public:
  enum class State : unsigned char { kUnknown, kAllocated, kFreed };

  State Find(CUdeviceptr address) const;
  void Allocate(CUdeviceptr address, size_t bytes);  // a fresh address, or one that was freed
  void Free(CUdeviceptr address, const Node* by);

  // Was this address freed by that node, is it idle since, and do `bytes` fit?
  bool IsIdle(CUdeviceptr address, const Node* freed_by, size_t bytes) const;
  bool AnyIdle(size_t bytes) const;  // that holds so many bytes

 private:
  struct Use {
    size_t bytes;
    const Node* freed_by;  // null: allocated
  };

  std::unordered_map<CUdeviceptr, Use> uses_;
  std::multiset<size_t> idle_sizes_;
};

}  // namespace graphkit::soft
