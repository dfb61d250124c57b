// Runs where few pieces are in some views only: these are in a list that is gone through, those
// that are in every view stand by size once for all. What comes and goes costs the same for any
// number of views.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libgraphkit/alloc/pieces.h"
#include "libgraphkit/alloc/run_set.h"

namespace graphkit {

class ListedRuns {
 public:
  static constexpr uint32_t kMaxListed = 128;  // with more a run takes long to find
  static constexpr uint32_t kMore = 8;         // that may come before somebody looks at the number

  // The pieces must outlive it. `all`: the views that there are.
  ListedRuns(std::vector<Piece>* pieces, ViewMask all) : pieces_(pieces), all_(all) {}

  // Stops, or starts again, to keep those that are in every view; the list is kept in any case.
  void ForgetCommon();
  void BuildCommon();

  // As ViewRuns does; for up to kMaxListed + kMore listed pieces.
  Run Find(uint32_t size, bool small, uint32_t view) const;

  // The number of listed pieces.
  size_t size() const { return listed_.size(); }
  bool IsCommon(uint32_t piece) const {
    return piece != Piece::kNone && (*pieces_)[piece].views == all_;
  }
  void AddCommon(uint32_t piece) {
    common_[(*pieces_)[piece].small ? 1 : 0].Insert(RunOf(*pieces_, piece, piece));
  }
  void DropCommon(uint32_t piece) {
    common_[(*pieces_)[piece].small ? 1 : 0].Erase(RunOf(*pieces_, piece, piece));
  }
  // The piece's views have changed.
  void Update(uint32_t piece);

 private:
  static constexpr uint32_t kNone = Piece::kNone;

  // The run of the view that the piece is in; none when another listed one comes earlier in it.
  Run RunFromFirstListed(uint32_t piece, uint32_t view) const;

  std::vector<Piece>* pieces_;
  ViewMask all_;
  std::vector<uint32_t> listed_;
  std::vector<ViewMask> views_;   // of each listed one
  std::array<RunSet, 2> common_;  // large and small; each a run by itself
};

}  // namespace graphkit
