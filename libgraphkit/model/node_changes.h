// The changes of nodes after they were made, by node.
#pragma once

#include <string>
#include <unordered_map>

#include "libgraphkit/model/trace.h"

namespace graphkit {

class NodeChanges {
 public:
  explicit NodeChanges(const Trace& trace);

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
