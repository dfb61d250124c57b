// Which elements of a sequence are certainly which of another one that lost some of them, has some
// twice, or in another place.
//
//     captured  norm gemm rope attn gemm        norm norm norm
//     replayed  norm gemm      attn gemm        norm norm
//               |    |         |    |           which one is missing isn't known: no pair
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace graphkit {

struct CertainPairs {
  static constexpr uint32_t kNoPartner = 0xffffffffu;
  std::vector<uint32_t> partner;  // by element of `b`: its element of `a`, or kNoPartner
  size_t edits = 0;               // elements of both that a longest common subsequence lacks
};

// The pairs that all longest common subsequences have: with elements of `a` dropped, or of `b`
// added, and not both, none of them is wrong (the true pairs are then such a subsequence). Where
// both occur, elements may have moved, and the true pairs may be fewer: there, the pairs on which
// all common subsequences agree that are up to 8 shorter. Of equal neighbours that one is missing
// and another is there twice can't be seen. Takes O(length × edits); sequences that differ too much
// (64 MiB of table) have no pairs.
CertainPairs FindCertainPairs(std::span<const uint32_t> a, std::span<const uint32_t> b);

}  // namespace graphkit
