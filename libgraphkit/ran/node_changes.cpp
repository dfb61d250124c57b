#include "libgraphkit/ran/node_changes.h"

#include <algorithm>

namespace graphkit {

NodeChanges::NodeChanges(const Ran& trace) {
  for (const NodeChange& change : trace.node_changes) {
    if (change.what == NodeChangeKind::kEnabled) continue;
    First& first = changes_[change.node.value];
    Seq& seq = change.what == NodeChangeKind::kParams      ? first.params
               : change.what == NodeChangeKind::kUpdatable ? first.updatable
                                                           : first.off;
    seq = std::min(seq, change.seq);
  }
  for (const ChangedNode& changed : trace.changed_nodes) {
    changes_[changed.node.value].varies = changed.varies;
  }
}

bool NodeChanges::Changed(NodeId node, Seq before) const {
  const auto found = changes_.find(node.value);
  if (found == changes_.end()) return false;
  const auto [params, off, updatable, varies] = found->second;
  const Seq first = std::min(params, off);  // kNever: by an update, from a node that was changed
  return updatable < before || (varies && (first == kNever || first < before));
}

std::string NodeChanges::Text(NodeId node) const {
  const auto found = changes_.find(node.value);
  if (found == changes_.end()) return "";
  const auto [params, off, updatable, varies] = found->second;
  std::string text;
  const auto add = [&text](Seq first, const char* what) {
    if (first != kNever) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(params, "parameters set later");
  add(off, "switched off later");
  add(updatable, "updatable from the device");
  return text;
}

}  // namespace graphkit
