// Ranks that wait for each other for ever, although each does what the others expect of it: in
// another order.
//
//     rank 0   send to 1      receive from 1
//     rank 1   send to 0      receive from 0        both sends wait for a receive
//
// An operation on a communicator begins when the one before it has ended, on whatever stream it is.
// Calls of one ncclGroup are one node, and wait together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/model/rank_collectives.h"

namespace graphkit {

// A rank of a communicator, with what it runs.
struct WaitingRank {
  uint32_t rank = 0;
  CommunicatorId communicator;
  const RankCollectives* collectives = nullptr;
  std::vector<RankRun> runs = {};
};

struct RankWait {
  size_t rank = 0;  // among those given
  const RankProgram* program = nullptr;
  const RankOperation* operation = nullptr;
};
// Two ranks of a circle in which each waits for the next one; nothing: there is none. Ranks that
// aren't given, and what is in conditionals' bodies, are taken to be in time.
std::optional<std::pair<RankWait, RankWait>> FindDeadlock(std::span<const WaitingRank> ranks);

}  // namespace graphkit
