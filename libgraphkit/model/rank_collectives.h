// The collective operations that a trace has, in their order: what is kept of it to compare it with
// the traces of the communicators' other ranks.
//
//     programs   0: graph 0 'step': all_reduce, all_gather      1: graph 2 'eval': broadcast
//     captured   0, 1
//     executed   0 × 100, 1, 0 × 100
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/collective.h"

namespace graphkit {

// A line of the program.
struct PlaceFrame {
  std::string function;  // as recorded: possibly mangled
  std::string file;      // source file, or the object when the source isn't known
  uint32_t line = 0;     // 1-based; 0: unknown
  bool operator==(const PlaceFrame&) const = default;
};

struct RankOperation {
  Collective what;        // its seq is 0
  NodeId node;            // none: work outside of graphs
  uint32_t place = 0;     // in RankCollectives::places
  std::string body = {};  // of conditionals, in which it is: "else", "while, case 2"
  bool operator==(const RankOperation&) const = default;
};

// The operations of a graph, those of child graphs and of conditionals' bodies where the nodes that
// hold them stand; or one of work outside of graphs.
struct RankProgram {
  GraphId graph;          // none: outside of graphs
  std::string name = {};  // the graph's; may be empty
  std::vector<RankOperation> operations = {};
  bool operator==(const RankProgram&) const = default;
};

// A program, so many times in a row.
struct RankRun {
  uint32_t program = 0;
  uint32_t times = 1;
  bool operator==(const RankRun&) const = default;
};

struct RankCollectives {
  std::vector<Communicator> communicators = {};
  std::vector<PlaceFrame> places = {};  // the first: not known
  std::vector<RankProgram> programs = {};
  std::vector<RankRun> captured = {};  // the graphs that were captured
  std::vector<RankRun> executed = {};  // launches, and work outside of graphs where it was recorded
  bool works = false;                  // whether all of such work was recorded
  bool operator==(const RankCollectives&) const = default;
};

}  // namespace graphkit
