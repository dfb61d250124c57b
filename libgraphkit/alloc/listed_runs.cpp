#include "libgraphkit/alloc/listed_runs.h"

namespace graphkit {

void ListedRuns::ForgetCommon() { common_ = {}; }

void ListedRuns::BuildCommon() {
  for (uint32_t piece = 0; piece < pieces_->size(); ++piece) {
    if (IsCommon(piece)) AddCommon(piece);
  }
}

void ListedRuns::Update(uint32_t piece) {
  Piece& p = (*pieces_)[piece];
  const bool listed = p.views != 0 && p.views != all_;
  if (listed && p.slot == kNone) {
    p.slot = static_cast<uint32_t>(listed_.size());
    listed_.push_back(piece);
    views_.push_back(p.views);
  } else if (listed) {
    views_[p.slot] = p.views;
  } else if (p.slot != kNone) {
    listed_[p.slot] = listed_.back();
    views_[p.slot] = views_.back();
    (*pieces_)[listed_[p.slot]].slot = p.slot;
    listed_.pop_back();
    views_.pop_back();
    p.slot = kNone;
  }
}

Run ListedRuns::RunFromFirstListed(uint32_t piece, uint32_t view) const {
  uint32_t first = piece;
  while (InView(*pieces_, (*pieces_)[first].prev, view)) {
    first = (*pieces_)[first].prev;
    if ((*pieces_)[first].slot != kNone) return {};
  }
  uint32_t last = piece;
  while (InView(*pieces_, (*pieces_)[last].next, view)) last = (*pieces_)[last].next;
  return RunOf(*pieces_, first, last);
}

Run ListedRuns::Find(uint32_t size, bool small, uint32_t view) const {
  std::array<uint32_t, kMaxListed + kMore> hits;
  size_t count = 0;
  for (size_t i = 0; i < views_.size(); ++i) {
    hits[count] = listed_[i];
    count += views_[i] >> view & 1;
  }
  Run best;
  for (size_t i = 0; i < count; ++i) {
    if ((*pieces_)[hits[i]].small != small) continue;
    const Run run = RunFromFirstListed(hits[i], view);
    if (run.size >= size && (best.first == kNone || run < best)) best = run;
  }
  // One with a listed neighbour in the view is part of a run that was looked at.
  const Run alone = common_[small ? 1 : 0].FindIf(size, [&](const Run& run) {
    const Piece& piece = (*pieces_)[run.first];
    return !InView(*pieces_, piece.prev, view) && !InView(*pieces_, piece.next, view);
  });
  if (alone.first == kNone || (best.first != kNone && best < alone)) return best;
  return alone;
}

}  // namespace graphkit
