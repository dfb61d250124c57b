#include "plugins/soft_cuda/model/array.h"

#include <algorithm>
#include <bit>

namespace graphkit::soft {
namespace {

constexpr size_t kBlockSide = 4;  // of block-compressed formats, in elements

size_t AtLeastOne(size_t value) { return std::max<size_t>(value, 1); }
size_t RoundUp(size_t value, size_t to) { return (value + to - 1) / to * to; }

bool IsFlat(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  return shape.Depth == 0 || (shape.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}

struct Tile {
  unsigned width;
  unsigned height;
  unsigned depth;
};

// The usual shapes of 64 KiB blocks, as graphics interfaces define them.
Tile TileOf(const CUDA_ARRAY3D_DESCRIPTOR& shape, size_t element) {
  const int step = std::clamp(static_cast<int>(std::bit_width(element)) - 1, 0, 4);
  constexpr Tile kFlat[] = {{256, 256, 1}, {256, 128, 1}, {128, 128, 1}, {128, 64, 1}, {64, 64, 1}};
  constexpr Tile kDeep[] = {{64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
  return IsFlat(shape) ? kFlat[step] : kDeep[step];
}

CUDA_ARRAY_SPARSE_PROPERTIES Properties(const Tile& tile) {
  CUDA_ARRAY_SPARSE_PROPERTIES properties{};
  properties.tileExtent = {tile.width, tile.height, tile.depth};
  return properties;
}

bool IsBelow(const CUDA_ARRAY3D_DESCRIPTOR& shape, const Tile& tile) {
  return shape.Width < tile.width || shape.Height < tile.height ||
         (!IsFlat(shape) && shape.Depth < tile.depth);
}

}  // namespace

void SetLayout(Array* array) {
  const ArrayFormat& format = *FindArrayFormat(array->shape.Format);
  const size_t side = format.block_bytes != 0 ? kBlockSide : 1;
  array->element = ElementBytes(format, array->shape.NumChannels);
  array->pitch = RoundUp(array->shape.Width, side) / side * array->element;
  array->rows = RoundUp(AtLeastOne(array->shape.Height), side) / side;
  array->slices = AtLeastOne(array->shape.Depth);
}

CUDA_ARRAY3D_DESCRIPTOR LevelShape(CUDA_ARRAY3D_DESCRIPTOR whole, unsigned level) {
  const auto halve = [level](size_t side) { return side == 0 ? 0 : AtLeastOne(side >> level); };
  whole.Width = halve(whole.Width);
  whole.Height = halve(whole.Height);
  if (!IsFlat(whole)) whole.Depth = halve(whole.Depth);
  return whole;
}

unsigned MostLevels(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  const size_t depth = IsFlat(shape) ? 0 : shape.Depth;
  return static_cast<unsigned>(std::bit_width(std::max({shape.Width, shape.Height, depth})));
}

CUDA_ARRAY_SPARSE_PROPERTIES SparseProperties(const Array& array) {
  return Properties(TileOf(array.shape, array.element));
}

CUDA_ARRAY_SPARSE_PROPERTIES SparseProperties(const MipmappedArray& array) {
  const Tile tile = TileOf(array.shape, array.levels.front()->element);
  CUDA_ARRAY_SPARSE_PROPERTIES properties = Properties(tile);
  const auto first = std::find_if(array.levels.begin(), array.levels.end(),
                                  [&](const Array* level) { return IsBelow(level->shape, tile); });
  properties.miptailFirstLevel = static_cast<unsigned>(first - array.levels.begin());
  const bool layered = IsFlat(array.shape);
  for (auto level = first; level != array.levels.end(); ++level) {
    const Array& part = **level;
    properties.miptailSize += layered ? part.pitch * part.rows : part.bytes();
  }
  properties.miptailSize = RoundUp(properties.miptailSize, kTileBytes);
  return properties;
}

bool Holds(const Array& array, const CopyOperand& at, const CUDA_MEMCPY3D& copy) {
  if (array.element == 0) return false;
  if (at.x % array.element != 0 || copy.WidthInBytes % array.element != 0) return false;
  const auto fits = [](size_t begin, size_t size, size_t room) {
    return begin <= room && size <= room - begin;
  };
  return fits(at.x, copy.WidthInBytes, array.pitch) && fits(at.y, copy.Height, array.rows) &&
         fits(at.z, copy.Depth, array.slices);
}

bool WithoutArrays(CUDA_MEMCPY3D* copy) {
  if (copy->srcMemoryType == CU_MEMORYTYPE_ARRAY) {
    const auto* array = Resolve<Array>(copy->srcArray);
    if (array == nullptr || array->memory == 0) return false;
    copy->srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy->srcDevice = array->memory;
    copy->srcPitch = array->pitch;
    copy->srcHeight = array->rows;
  }
  if (copy->dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    const auto* array = Resolve<Array>(copy->dstArray);
    if (array == nullptr || array->memory == 0) return false;
    copy->dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy->dstDevice = array->memory;
    copy->dstPitch = array->pitch;
    copy->dstHeight = array->rows;
  }
  return true;
}

}  // namespace graphkit::soft
