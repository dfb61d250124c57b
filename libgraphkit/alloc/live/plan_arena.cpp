#include "libgraphkit/alloc/live/plan_arena.h"

#include <iterator>

namespace graphkit {

// No piece crosses the offset afterwards.
void PlanArena::Cut(Bytes offset) {
  auto at = pieces_.lower_bound(offset);
  if (at == pieces_.begin()) return;
  --at;
  if (at->second.end <= offset) return;
  pieces_.emplace(offset, at->second);
  at->second.end = offset;
}

bool PlanArena::Take(Bytes offset, Bytes size, BlockId block, const MayFollow& may_follow) {
  if (offset > size_ || size > size_ - offset) return false;
  auto first = pieces_.upper_bound(offset);
  if (first != pieces_.begin() && std::prev(first)->second.end > offset) --first;
  for (auto at = first; at != pieces_.end() && at->first < offset + size; ++at) {
    if (!may_follow(at->second.last)) return false;
  }
  Cut(offset);
  Cut(offset + size);
  pieces_.erase(pieces_.lower_bound(offset), pieces_.lower_bound(offset + size));
  pieces_.emplace(offset, Piece{offset + size, block});
  return true;
}

}  // namespace graphkit
