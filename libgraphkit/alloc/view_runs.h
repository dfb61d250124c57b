// The runs of each view, by size: however many pieces there are, a run is found in a few steps; but
// a piece that comes or goes is brought up to date in each of its views.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/alloc/pieces.h"
#include "libgraphkit/alloc/run_set.h"

namespace graphkit {

class ViewRuns {
 public:
  // The pieces must outlive it. `shared`: a piece may be in any number of views; otherwise in one.
  ViewRuns(std::vector<Piece>* pieces, uint32_t views, bool shared)
      : pieces_(pieces), views_(views), shared_(shared) {}

  // Takes in what the pieces say.
  void Build();
  void Clear();

  // The smallest of `size` units or more, the lowest of equals; `first` is none: there is none.
  Run Find(uint32_t size, bool small, uint32_t view) const {
    return runs_[Number(small, view)].Find(size);
  }
  void Show(uint32_t piece, uint32_t view);
  // It leaves all its views.
  void Leave(uint32_t piece);
  // `upper` was split off the end of `lower`, and is in the same views.
  void Split(uint32_t lower, uint32_t upper);
  // `next` is about to become a part of `piece`; both are in the same views.
  void Absorb(uint32_t piece, uint32_t next);

 private:
  static constexpr uint32_t kNone = Piece::kNone;

  static size_t Number(bool small, uint32_t view) { return 2 * size_t{view} + (small ? 1 : 0); }
  bool Is(uint32_t piece, uint32_t view) const { return InView(*pieces_, piece, view); }
  // The other end of the run that begins or ends with the piece.
  uint32_t& OtherEnd(uint32_t piece, uint32_t view) {
    return other_end_[shared_ ? size_t{piece} * views_ + view : piece];
  }
  void AddRun(uint32_t first, uint32_t last, uint32_t view);
  void LeaveView(uint32_t piece, uint32_t view);
  void MakeRoom();

  std::vector<Piece>* pieces_;
  uint32_t views_;
  bool shared_;
  std::vector<uint32_t> other_end_;  // by piece, and where there may be several by view
  std::vector<RunSet> runs_;         // by view, large and small
};

}  // namespace graphkit
