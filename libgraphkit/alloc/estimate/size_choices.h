// Each block's choice out of its interval of bytes, in one run of the allocator. More bytes in
// blocks can be fewer in segments, so that the interval of a pool needs runs of several choices.
#pragma once

#include <vector>

#include "libgraphkit/alloc/estimate/captured_sizes.h"

namespace graphkit {

struct SizeChoice {
  std::vector<std::vector<Bytes ByteRange::*>> ends;  // by kind and block
  bool late = false;  // what isn't known to be freed is held for another round
};

// The likeliest of all blocks first, then the least and the most of all; then mixtures, in which
// blocks that had the same bytes in the captures are at the same end: a workspace stays as it is
// where the data grow. All mixtures of few such groups, some of many.
std::vector<SizeChoice> ChooseSizes(const CapturedSizes& captured);

}  // namespace graphkit
