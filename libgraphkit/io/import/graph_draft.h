// A graph as another tool lists it: nodes in any order, edges by their numbers. It becomes part of
// a trace with the nodes in an order that the edges allow, close to the listed one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/import/trace_maker.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The kind that tools call so: "MemAlloc", "event_record", "Child graph node"; kUnknown: none.
NodeKind KindNamed(std::string_view name);
// A name in upper case, without spaces and underscores, and without "node" at its end.
std::string WordOf(std::string_view name);

struct DraftNode {
  NodeKind kind = NodeKind::kUnknown;
  ConditionalType conditional = ConditionalType::kUnknown;  // conditional nodes
  std::string kernel;                                       // its name; kernel nodes
  LaunchShape shape;
  uint64_t tool_id = 0;  // 0: unknown
  uint64_t event = 0;    // its handle; event nodes
  std::string label;     // of a host node, the function that it calls
};

struct DraftEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  uint8_t from_port = kPortDefault;
  uint8_t to_port = 0;
  EdgeType type = EdgeType::kDefault;
  auto operator<=>(const DraftEdge&) const = default;
};

struct GraphDraft {
  std::string name;
  uint64_t tool_id = 0;
  std::vector<DraftNode> nodes;
  std::vector<DraftEdge> edges;
};

struct DraftedGraph {
  GraphId graph;
  std::vector<NodeId> nodes;  // by their numbers in the draft
};

// An error when the edges go round in a circle. An edge that is listed twice is made once.
Result<DraftedGraph> AddDraft(const GraphDraft& draft, TraceMaker& make);

}  // namespace graphkit
