// Tensor maps: the opaque 128 bytes by which a kernel's copies (TMA) name memory, as the calls that
// make them say what memory that is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/cupti_tracer/ground/handle_map.h"

namespace graphkit {

inline constexpr size_t kTensorMapBytes = 128;     // of a CUtensorMap
inline constexpr size_t kTensorMapAlignment = 64;  // of a parameter of a kernel that is one

struct TensorMap {
  uint64_t address = 0;
  int64_t bytes = 0;   // from there, that copies by it can touch; negative: not known
  uint64_t check = 0;  // of its contents
};

// By what they contain, as programs copy them about. The last ones made, at least kFewest, are
// kept.
class TensorMaps {
 public:
  static constexpr size_t kFewest = size_t{1} << 17;

  void Add(const void* contents, uint64_t address, int64_t bytes);
  // Null: none that is known.
  const TensorMap* Find(const void* contents) const;
  bool empty() const { return maps_.size() + older_.size() == 0; }

 private:
  HandleMap<TensorMap> maps_, older_;
};

}  // namespace graphkit
