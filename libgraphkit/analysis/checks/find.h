// Shared by the checks: findings by graph, and their evidence. Files of checks rely on its
// includes.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Of many alike, how many are shown as evidence.
inline constexpr size_t kShownEvidence = 3;

// One finding for each graph of which `judge` says something: it fills in the finding, which is
// left out as long as it has no message. Graphs are judged side by side.
std::vector<Finding> FindByGraph(const Facts& facts,
                                 const std::function<void(GraphId, Finding*)>& judge);

// The root graphs that allocate in each private pool.
std::map<PoolId, std::vector<GraphId>> GraphsByPool(const Facts& facts);

// Adds a block that the finding is about, and its bytes. Once: false if it is there already.
void AddBlock(const Trace& trace, BlockId block, Finding* finding);
bool AddBlockOnce(const Trace& trace, BlockId block, Finding* finding);

// "blocks 4 and 5 (12 MiB)": all that the finding is about.
std::string BlocksText(const Finding& finding);

void AddEvidence(Finding* finding, std::string text, StackId stack = {},
                 std::vector<NodeId> nodes = {}, std::vector<BlockId> blocks = {});

// Where a node, or a block, comes from.
Evidence CapturedThere(const Trace& trace, NodeId node);
Evidence AllocatedThere(const Facts& facts, BlockId block);

// False: it is in the list already.
template <typename Item>
bool AddOnce(const Item& item, std::vector<Item>* list) {
  if (std::ranges::find(*list, item) != list->end()) return false;
  list->push_back(item);
  return true;
}

template <typename Item>
void Append(std::vector<Item> more, std::vector<Item>* list) {
  std::ranges::move(more, std::back_inserter(*list));
}

// The values of a map, in the order of their keys.
template <typename Key>
std::vector<Finding> TakeValues(std::map<Key, Finding>* by_key) {
  std::vector<Finding> findings;
  for (auto& [key, finding] : *by_key) findings.push_back(std::move(finding));
  by_key->clear();
  return findings;
}

}  // namespace graphkit
