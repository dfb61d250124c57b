// Communicators, and what nodes do together with other ranks.
#include <cstring>

#include "libgraphkit/model/collective.h"
#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {

// Writes the record of a communicator that wasn't met before.
void Recorder::AddCollective(const char* bytes) {
  CollectiveParam collective;
  std::memcpy(&collective, bytes, sizeof collective);
  if (collective.kind >= kCollectiveNames.size() || collective.type >= kElementTypeNames.size()) {
    return;
  }
  found_collectives_.push_back(collective);
  const auto next = static_cast<uint32_t>(communicators_.size());
  const std::pair key(collective.communicator, collective.rank);
  if (!communicators_.emplace(key, next).second) return;
  line_.Start("communicator");
  line_.Number("id", next);
  line_.Hex("key", collective.communicator);
  line_.Number("ranks", collective.ranks);
  line_.Number("rank", collective.rank);
  Write();
}

void Recorder::WriteCollectives() {
  if (found_collectives_.empty()) return;
  line_.OpenArray("collectives");
  for (const CollectiveParam& collective : found_collectives_) {
    line_.OpenInner();
    line_.Item(communicators_.at({collective.communicator, collective.rank}));
    line_.NameItem(kCollectiveNames[collective.kind]);
    line_.Item(collective.count);
    line_.NameItem(kElementTypeNames[collective.type]);
    line_.Item(collective.peer);
    line_.CloseArray();
  }
  line_.CloseArray();
}

}  // namespace graphkit
