// Element formats of CUDA arrays.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace graphkit::soft {

struct ArrayFormat {
  CUarray_format format;
  unsigned channel_bytes;  // 0: of blocks or planes
  unsigned channels;       // 0: 1, 2 or 4, as the caller says
  unsigned block_bytes;    // of 4 x 4 elements, in block-compressed formats
};

// Null: not a format, or one that isn't modelled.
const ArrayFormat* FindArrayFormat(CUarray_format format);
bool HasChannels(const ArrayFormat& format, unsigned channels);
// Of one element; of one block in block-compressed formats; 0 in planar formats.
size_t ElementBytes(const ArrayFormat& format, unsigned channels);

}  // namespace graphkit::soft
