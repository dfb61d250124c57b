#include "libgraphkit/alloc/chunks/listed_runs.h"

#include <algorithm>

namespace graphkit {
namespace {

constexpr Bytes kNowhere = ~Bytes{0};

}  // namespace

void ListedRuns::Build() {
  for (uint32_t piece = 0; piece < pieces_->size(); ++piece) {
    if (IsCommon(piece)) AddCommon(piece);
    Update(piece);
  }
}

void ListedRuns::Clear() {
  for (List& list : lists_) list.size = 0;
  for (Piece& piece : *pieces_) piece.listed = Piece::kNotListed;
  common_ = {};
}

void ListedRuns::Insert(uint32_t piece) {
  Piece& p = (*pieces_)[piece];
  List& list = lists_[p.small ? 1 : 0];
  uint32_t at = 0;
  for (uint32_t i = 0; i < list.size; ++i) {
    at += list.entries[list.order[i]].begin < p.offset ? 1 : 0;
  }
  const auto place = list.order.begin() + at;
  p.listed = list.order[list.size];
  std::copy_backward(place, list.order.begin() + list.size, list.order.begin() + list.size + 1);
  *place = p.listed;
  ++list.size;
  list.entries[p.listed].views = p.views;
  list.entries[p.listed].slot = p.slot;
  Measure(piece);
}

void ListedRuns::Erase(uint32_t piece) {
  Piece& p = (*pieces_)[piece];
  List& list = lists_[p.small ? 1 : 0];
  const auto end = list.order.begin() + list.size;
  const auto place = std::find(list.order.begin(), end, p.listed);
  std::copy(place + 1, end, place);
  *(end - 1) = p.listed;
  --list.size;
  p.listed = Piece::kNotListed;
}

void ListedRuns::Measure(uint32_t piece) {
  const Piece& p = (*pieces_)[piece];
  Entry& entry = lists_[p.small ? 1 : 0].entries[p.listed];
  entry.first = IsCommon(p.prev) ? p.prev : piece;
  const Piece& first = (*pieces_)[entry.first];
  entry.begin = first.offset;
  entry.joins = first.prev == kNone ? kNowhere : first.offset;
  const Piece& last = IsCommon(p.next) ? (*pieces_)[p.next] : p;
  entry.end = last.offset + last.size;
}

// Without a branch on which pieces are in the view: there is no telling.
Run ListedRuns::FindListed(uint32_t size, const List& list, uint32_t view) const {
  std::array<uint8_t, kEntries + 1> firsts;  // by run
  std::array<Bytes, kEntries + 1> ends;      // by run, from 1 on
  uint32_t runs = 0;
  Bytes end = 0;  // of the last one in the view
  for (uint32_t i = 0; i < list.size; ++i) {
    const Entry& entry = list.entries[list.order[i]];
    const ViewMask in = (entry.views | slots_->views[entry.slot]) >> view & 1;
    const ViewMask apart = entry.joins > end ? 1 : 0;
    firsts[runs] = list.order[i];
    runs += static_cast<uint32_t>(in & apart);
    end ^= (end ^ entry.end) & -in;
    ends[runs] = end;
  }
  Run best;
  for (uint32_t run = 0; run < runs; ++run) {
    const Entry& first = list.entries[firsts[run]];
    const uint32_t units = UnitsOf(ends[run + 1] - first.begin);
    if (units >= size && (best.first == kNone || units < best.size)) {
      best = {units, first.first, first.begin};
    }
  }
  return best;
}

Run ListedRuns::Find(uint32_t size, bool small, uint32_t view) const {
  const Run best = FindListed(size, lists_[small ? 1 : 0], view);
  // One with a listed neighbour in the view is part of a run that was looked at.
  return common_[small ? 1 : 0].FindBetter(size, best, [&](const Run& run) {
    const Piece& piece = (*pieces_)[run.first];
    return !In(piece.prev, view) && !In(piece.next, view);
  });
}

}  // namespace graphkit
