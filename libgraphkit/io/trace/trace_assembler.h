// Puts records, in the order of the file, into a trace: gives each its place, checks that ids are
// dense and that what they refer to has appeared, and keeps the columns consistent with each other.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/io/record/record_graph.h"
#include "libgraphkit/io/record/record_memory.h"
#include "libgraphkit/io/record/record_process.h"
#include "libgraphkit/io/record/record_stream.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// The error in a record: "has graph 7, but only 3 graphs were declared".
struct Problem {
  std::string message;
  std::string hint = {};
  std::optional<Seq> place = {};  // of the record, when it isn't the last one added
};

// Of the end record.
inline RecordCounts EndCounts(const Trace& trace) {
  return {trace.graphs.size(), trace.nodes.size(), trace.edges.size(), trace.blocks.size(),
          trace.launches.size()};
}

class TraceAssembler {
 public:
  explicit TraceAssembler(DeviceKind device) { trace_.process.device = device; }

  // Gives the record, which is of this type of RecordTypes, the next place; its texts and lists are
  // in `values`. False: it is wrong, see problem().
  bool Add(size_t type, void* record, const LooseValues& values);

  // A record of a type that this version doesn't know: it only takes a place.
  bool AddUnknown();

  const Problem& problem() const { return problem_; }
  const Trace& trace() const { return trace_; }
  Seq place() const { return trace_.records; }
  bool ended() const { return ended_; }

  // Makes room for a trace that is so many times as long as what was added: without it, columns are
  // copied as they grow, each time into memory that wasn't touched before.
  void MakeRoom(double times);

  // Checks what only shows after the last record, and takes the trace out.
  bool Finish();
  Trace Take() { return std::move(trace_); }

 private:
  class Adder;

  bool Fail(std::string message, std::string hint = {});

  struct ShapeHash {
    size_t operator()(const LaunchShape& shape) const {
      const auto& [g, b, shared] = shape;
      return HashOf(shared, g[0], b[0], g[1], b[1], g[2], b[2]);
    }
  };
  // A graph that a node names as its child or body, before the graph's own record.
  struct Expected {
    NodeId parent;
    uint32_t body = 0;
    Seq place = 0;
  };

  Trace trace_;
  bool ended_ = false;
  Problem problem_;
  std::unordered_map<LaunchShape, uint32_t, ShapeHash> shapes_;
  uint32_t last_shape_ = 0;
  std::map<GraphId, Expected> expected_graphs_;
  std::map<std::pair<ThreadId, StringId>, std::vector<uint32_t>> open_ranges_;
};

}  // namespace graphkit
