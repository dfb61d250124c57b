// Lets a user's allocator (tools/graphkit/replay/allocator_abi.h) place the blocks of a trace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/result.h"
#include "tools/graphkit/replay/allocator_abi.h"

namespace graphkit {

// A library with an allocator in it; it stays loaded as long as this lives.
class UserAllocator {
 public:
  static Result<UserAllocator> Load(const std::string& path);

  const graphkit_allocator_table& table() const { return *table_; }

 private:
  std::shared_ptr<void> library_;
  const graphkit_allocator_table* table_ = nullptr;
};

// By block, its offset in its pool: each graph alone. An error when the allocator has no memory for
// a block.
Result<std::vector<Bytes>> PlaceByAllocator(const Facts& facts,
                                            const graphkit_allocator_table& table);

}  // namespace graphkit
