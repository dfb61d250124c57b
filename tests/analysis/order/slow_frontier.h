// Where a stream stands, the slow and obvious way: asked of the last record that moved it, and so
// on back to the begin of its capture. Shares no code with the library's frontiers.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

struct SlowFrontier {
  GraphId graph = {};  // none: not capturing
  std::vector<FrontierEntry> entries = {};
};

class SlowFrontiers {
 public:
  // The trace must outlive it.
  explicit SlowFrontiers(const Ran& trace) : trace_(trace) {}

  // Before the record `seq`.
  const SlowFrontier& Of(StreamId stream, Seq seq);

 private:
  SlowFrontier Find(StreamId stream, Seq seq);
  SlowFrontier AfterOp(const StreamOp& op);
  SlowFrontier AfterWait(SlowFrontier frontier, const StreamOp& op);
  SlowFrontier AtEvent(EventId event, Seq seq);
  NodeId NodeAt(Seq seq) const;
  bool Open(GraphId graph, Seq seq) const;
  std::vector<FrontierEntry> Entries(const StreamOp& op) const;

  const Ran& trace_;
  std::map<std::pair<uint32_t, Seq>, SlowFrontier> known_;  // by stream and place
};

}  // namespace graphkit
