// Communicators, and what nodes do together with other ranks.
#include <cstring>

#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {

// Writes the record of a communicator that wasn't met before.
void Recorder::AddCollective(const char* bytes) {
  CollectiveParam found;
  std::memcpy(&found, bytes, sizeof found);
  if (found.kind >= Names<CollectiveKind>::value.size() ||
      found.type >= Names<ElementType>::value.size())
    return;
  const CommunicatorId next(communicators_.size());
  const std::pair key(found.communicator, found.rank);
  const auto [communicator, is_new] = communicators_.emplace(key, next);
  Collective collective;
  collective.communicator = communicator->second;
  collective.kind = static_cast<CollectiveKind>(found.kind);
  collective.type = static_cast<ElementType>(found.type);
  collective.count = found.count;
  collective.peer = static_cast<int32_t>(found.peer);
  found_collectives_.push_back(collective);
  if (!is_new) return;
  CommunicatorRecord r;
  r.id = next;
  r.row.key = found.communicator;
  r.row.ranks = found.ranks;
  r.row.rank = found.rank;
  Write(r);
}

}  // namespace graphkit
