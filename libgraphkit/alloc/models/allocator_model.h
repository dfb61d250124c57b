// Allocators that a user can compare, as models behind one interface: what is asked of them in call
// order, where each block would lie, and how much they would have got from the driver. Nothing runs
// while a graph is captured: the device comes to what was asked of it once the capture has ended.
// docs/torch-allocator.md has the rules of each.
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
};

class AllocatorModel {
 public:
  // True if the request comes after the free of this block (whose free was requested) in stream
  // order, by events that the program recorded and waited for.
  using AfterFree = std::function<bool(uint32_t freed)>;

  virtual ~AllocatorModel() = default;

  // Nothing: out of memory.
  virtual std::optional<Address> Malloc(const ModelRequest& request, const AfterFree& after) = 0;
  virtual void RecordStream(uint32_t, uint32_t) {}
  // In the order of `stream`.
  virtual void Free(uint32_t block, uint32_t stream) = 0;
  // The device runs again before the next request, and comes to what was asked of it.
  virtual void EndCapture() {}
  virtual Bytes reserved() const = 0;  // got from the driver: none goes back
};

enum class ModelKind : uint8_t { kCaching, kAsyncPool };

struct ModelInfo {
  ModelKind kind;
  const char* name;
  // With the values that the allocator has out of the box.
  std::unique_ptr<AllocatorModel> (*make)(DriverMemory* driver);
};
std::span<const ModelInfo> Models();
std::optional<ModelKind> FindModel(std::string_view name);
const ModelInfo& InfoOf(ModelKind kind);

// The driver must outlive the model.
std::unique_ptr<AllocatorModel> MakeCachingModel(DriverMemory* driver);
std::unique_ptr<AllocatorModel> MakeAsyncPool(DriverMemory* driver);

}  // namespace graphkit
