// The changes of nodes after they were made: what a person is told of a node that launches may run
// otherwise.
#pragma once

#include <string>
#include <unordered_map>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// By node.
class NodeChanges {
 public:
  explicit NodeChanges(const Ran& trace);

  // True when launches run the node in several ways, and it was given other parameters or switched
  // off before, or may have been by the device: then it doesn't say what each of them does.
  bool Changed(NodeId node, Seq before = kNever) const;
  bool empty() const { return changes_.empty(); }

  // "parameters set later", "switched off later", "updatable from the device": of these what holds,
  // with commas.
  std::string Text(NodeId node) const;

 private:
  struct First {
    Seq params = kNever;
    Seq off = kNever;
    Seq updatable = kNever;
    bool varies = false;
  };
  std::unordered_map<uint32_t, First> changes_;
};

}  // namespace graphkit
