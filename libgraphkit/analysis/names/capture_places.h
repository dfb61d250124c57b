// Where in the trace calls were made, seen from the captures.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Sorts the captures once, so that a place is found without a look at each. The trace must outlive
// it.
class CapturePlaces {
 public:
  explicit CapturePlaces(const Trace& trace);

  const Trace& trace() const { return trace_; }

  // "in the capture of graph 2 'decode'", "after the capture of graph 2".
  std::string Of(Seq seq) const;

 private:
  // A capture of a graph.
  struct Begun {
    Seq begin = 0;
    Seq last_end = 0;  // of this one and those that began before
    GraphId graph;
    GraphId last;  // that ended last of them
  };

  const Trace& trace_;
  std::vector<Begun> begun_;  // by begin
};

}  // namespace graphkit
