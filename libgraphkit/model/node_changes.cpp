#include "libgraphkit/model/node_changes.h"

#include <algorithm>

namespace graphkit {

NodeChanges::NodeChanges(const Trace& trace) {
  for (const NodeChange& change : trace.node_changes) {
    if (change.what == NodeChangeKind::kEnabled) continue;
    First& first = changes_[change.node.value];
    Seq& seq = change.what == NodeChangeKind::kParams ? first.params : first.off;
    seq = std::min(seq, change.seq);
  }
}

bool NodeChanges::Changed(NodeId node, Seq before) const {
  const auto found = changes_.find(node.value);
  return found != changes_.end() && std::min(found->second.params, found->second.off) < before;
}

std::string NodeChanges::Text(NodeId node) const {
  const auto found = changes_.find(node.value);
  if (found == changes_.end()) return "";
  const auto [params, off] = found->second;
  std::string text = params != kNever ? "parameters set later" : "";
  if (off != kNever) text += text.empty() ? "switched off later" : ", switched off later";
  return text;
}

}  // namespace graphkit
