// Allocators that a user can compare, as models behind one interface: what is asked of them in call
// order, where each block would lie, and how much they would have got from the driver.
// docs/allocators.md has the rules of each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "libgraphkit/alloc/models/driver_memory.h"
#include "libgraphkit/units.h"

namespace graphkit {

struct ModelRequest {
  uint32_t block = 0;  // the caller's name for it; used once
  Bytes size = 0;      // not 0
  uint32_t stream = 0;
  bool operator==(const ModelRequest&) const = default;
};

struct ModelFigures {
  Bytes allocated = 0;  // of live blocks, as the model rounds them
  Bytes reserved = 0;   // got from the driver
  Bytes peak_reserved = 0;
  uint64_t waits = 0;  // dependencies between streams that the allocator added
  bool operator==(const ModelFigures&) const = default;
};

class AllocatorModel {
 public:
  // Whether the request comes after the free of this block (whose free was requested) in stream
  // order, by events that the program recorded and waited for.
  using AfterFree = std::function<bool(uint32_t freed)>;

  virtual ~AllocatorModel() = default;

  // Nothing: out of memory.
  virtual std::optional<Address> Malloc(const ModelRequest& request, const AfterFree& after) = 0;
  virtual void RecordStream(uint32_t, uint32_t) {}
  // In the order of `stream`.
  virtual void Free(uint32_t block, uint32_t stream) = 0;
  // The device has done all that was asked of it.
  virtual void Synchronize() {}
  virtual ModelFigures figures() const = 0;
};

enum class ModelKind : uint8_t { kCaching, kAsyncPool };

struct ModelInfo {
  ModelKind kind;
  const char* name;
};
std::span<const ModelInfo> Models();
std::optional<ModelKind> FindModel(std::string_view name);
const ModelInfo& InfoOf(ModelKind kind);

// With the values that the allocator has out of the box, but for one: no model adds dependencies
// between streams, which a recorded graph can't be given. The driver must outlive the model.
std::unique_ptr<AllocatorModel> MakeModel(ModelKind kind, DriverMemory* driver);

}  // namespace graphkit
