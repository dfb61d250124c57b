// CUDA arrays. An array's elements lie in linear device memory, row after row, slice after slice:
//
//   slice z, row y   memory + (z * rows + y) * pitch, `pitch` bytes without a gap
//
// so that copies to and from an array are copies of rows like any others. Levels of a mipmapped
// array and planes of a planar one are arrays themselves, in memory of the whole.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/soft_cuda/model/array_format.h"
#include "plugins/soft_cuda/model/copy_operand.h"
#include "plugins/soft_cuda/model/handle.h"

namespace graphkit::soft {

struct ExternalMemory;

struct Array {
  static constexpr Tag kTag = Tag::kArray;
  Tag tag = kTag;
  CUDA_ARRAY3D_DESCRIPTOR shape{};  // in elements; height and depth are 0 where there is none
  size_t element = 0;               // bytes; 0: an array of planes
  uint64_t memory = 0;              // 0: none yet (sparse or deferred)
  size_t pitch = 0;                 // bytes of a row
  size_t rows = 1;                  // of a slice
  size_t slices = 1;
  std::vector<Array*> planes;
  bool part = false;  // a level or a plane: belongs to a whole

  size_t bytes() const { return pitch * rows * slices; }
  CUarray handle() { return reinterpret_cast<CUarray>(this); }
};

struct MipmappedArray {
  static constexpr Tag kTag = Tag::kMipmappedArray;
  Tag tag = kTag;
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  uint64_t memory = 0;
  size_t bytes = 0;
  std::vector<Array*> levels;
  ExternalMemory* external = nullptr;  // whose memory it is; null: its own

  CUmipmappedArray handle() { return reinterpret_cast<CUmipmappedArray>(this); }
};

// Sets the rows and the element size that follow from a shape.
void SetLayout(Array* array);
// The shape of level `level`: each side is halved, down to 1; layers stay.
CUDA_ARRAY3D_DESCRIPTOR LevelShape(CUDA_ARRAY3D_DESCRIPTOR whole, unsigned level);
// How many levels there can be: down to one element.
unsigned MostLevels(const CUDA_ARRAY3D_DESCRIPTOR& shape);

// Sparse arrays are mapped in tiles of 64 KiB.
constexpr size_t kTileBytes = 65536;
CUDA_ARRAY_SPARSE_PROPERTIES SparseProperties(const Array& array);
CUDA_ARRAY_SPARSE_PROPERTIES SparseProperties(const MipmappedArray& array);

// Does the array hold what a copy moves, in whole elements?
bool Holds(const Array& array, const CopyOperand& at, const CUDA_MEMCPY3D& copy);
// The same copy with plain memory for arrays; false: an array is gone or has no memory.
bool WithoutArrays(CUDA_MEMCPY3D* copy);

}  // namespace graphkit::soft
