#include "libgraphkit/alloc/view_runs.h"

#include <bit>

namespace graphkit {

void ViewRuns::MakeRoom() {
  other_end_.resize(pieces_->size() * (shared_ ? views_ : 1));
  runs_.resize(2 * size_t{views_});
}

void ViewRuns::Clear() {
  other_end_ = std::vector<uint32_t>();
  runs_ = std::vector<RunSet>();
}

void ViewRuns::Build() {
  MakeRoom();
  for (uint32_t first = 0; first < pieces_->size(); ++first) {
    for (ViewMask left = (*pieces_)[first].views; left != 0; left &= left - 1) {
      const auto view = static_cast<uint32_t>(std::countr_zero(left));
      if (Is((*pieces_)[first].prev, view)) continue;
      uint32_t last = first;
      while (Is((*pieces_)[last].next, view)) last = (*pieces_)[last].next;
      AddRun(first, last, view);
    }
  }
}

void ViewRuns::AddRun(uint32_t first, uint32_t last, uint32_t view) {
  OtherEnd(first, view) = last;
  OtherEnd(last, view) = first;
  runs_[Number((*pieces_)[first].small, view)].Insert(RunOf(*pieces_, first, last));
}

void ViewRuns::Show(uint32_t piece, uint32_t view) {
  MakeRoom();
  Piece& p = (*pieces_)[piece];
  p.views |= ViewMask{1} << view;
  RunSet& runs = runs_[Number(p.small, view)];
  uint32_t first = piece;
  uint32_t last = piece;
  if (Is(p.prev, view)) {
    first = OtherEnd(p.prev, view);
    runs.Erase(RunOf(*pieces_, first, p.prev));
  }
  if (Is(p.next, view)) {
    last = OtherEnd(p.next, view);
    runs.Erase(RunOf(*pieces_, p.next, last));
  }
  AddRun(first, last, view);
}

// The run that it is in falls apart.
void ViewRuns::LeaveView(uint32_t piece, uint32_t view) {
  Piece& p = (*pieces_)[piece];
  uint32_t first = piece;
  while (Is((*pieces_)[first].prev, view)) first = (*pieces_)[first].prev;
  const uint32_t last = OtherEnd(first, view);
  runs_[Number(p.small, view)].Erase(RunOf(*pieces_, first, last));
  p.views &= ~(ViewMask{1} << view);
  if (first != piece) AddRun(first, p.prev, view);
  if (last != piece) AddRun(p.next, last, view);
}

void ViewRuns::Leave(uint32_t piece) {
  for (ViewMask left = (*pieces_)[piece].views; left != 0; left &= left - 1) {
    LeaveView(piece, static_cast<uint32_t>(std::countr_zero(left)));
  }
}

void ViewRuns::Split(uint32_t lower, uint32_t upper) {
  MakeRoom();
  for (ViewMask left = (*pieces_)[lower].views; left != 0; left &= left - 1) {
    const auto view = static_cast<uint32_t>(std::countr_zero(left));
    if (Is((*pieces_)[upper].next, view)) continue;
    const uint32_t first = Is((*pieces_)[lower].prev, view) ? OtherEnd(lower, view) : lower;
    OtherEnd(first, view) = upper;
    OtherEnd(upper, view) = first;
  }
}

void ViewRuns::Absorb(uint32_t piece, uint32_t next) {
  for (ViewMask left = (*pieces_)[piece].views; left != 0; left &= left - 1) {
    const auto view = static_cast<uint32_t>(std::countr_zero(left));
    if (Is((*pieces_)[next].next, view)) continue;
    const uint32_t first = OtherEnd(next, view);
    OtherEnd(first, view) = piece;
    OtherEnd(piece, view) = first;
  }
}

}  // namespace graphkit
