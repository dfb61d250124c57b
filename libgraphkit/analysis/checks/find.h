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

#include "libgraphkit/analysis/checks/places.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/interval_map.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Of many alike, how many are shown as evidence.
inline constexpr size_t kShownEvidence = 3;

// One finding for each graph of which `judge` says something: it fills in the finding, which is
// left out as long as it has no message. Graphs are judged side by side.
std::vector<Finding> FindByGraph(const Facts& facts,
                                 const std::function<void(GraphId, Finding*)>& judge);

// The root graphs that allocate in each private pool, by pool.
std::map<PoolId, std::vector<GraphId>> GraphsByPool(const Facts& facts);

// Adds a block that the finding is about, and its bytes. Once: false if it is there already.
void AddBlock(const Ran& trace, BlockId block, Finding* finding);
bool AddBlockOnce(const Ran& trace, BlockId block, Finding* finding);

// "blocks 4 and 5 (12 MiB)": all that the finding is about.
std::string BlocksText(const Finding& finding);

void AddEvidence(Finding* finding, std::string text, StackId stack = {},
                 std::vector<NodeId> nodes = {}, std::vector<BlockId> blocks = {});

// False: too little for a note, beside what the graph has at its peak.
bool WorthANote(Bytes bytes, const Usage& usage);

// True if the node is a collective that the program's own line called by torch.distributed, so that
// this line can hold the work that the call returned.
bool ReturnsWork(const Facts& facts, NodeId node);
inline constexpr const char* kWaitForWork =
    "call wait() on the work that the collective returned (async_op=True)";

// Where a node, or a block, comes from.
Evidence CapturedThere(const Ran& trace, NodeId node);
Evidence AllocatedThere(const Facts& facts, BlockId block);
// "launch 3 of graph 1 on stream 2", and what it does.
Evidence LaunchedThere(const Ran& trace, uint32_t launch, GraphId graph,
                       std::string_view does = {});

// True if the call was to launch a graph.
inline bool IsFailedLaunch(const Ran& trace, const Failure& failure) {
  return trace[failure.call].ends_with("GraphLaunch");
}

// Notes with one cause, by their advice, on several graphs are one: that which costs most.
std::vector<Finding> OneForEachCause(std::vector<Finding> findings);

// Of several notes of one cause the first one with the most bytes remains: "; the same of 2 more
// kernels". Errors and warnings stay as they are.
void KeepOneNote(std::string_view what, std::vector<Finding>* findings);

// The calls that order two: after the one an event is recorded on its stream, and before the other
// one its stream waits for it. In the words of what the stack of the first one calls.
struct EventPlace {
  std::string what;  // "scale (step.cu:17)"
  StreamId stream;
};
std::string OrderByEvent(const Ran& trace, const EventPlace& first, const EventPlace& then,
                         StackId stack);

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
template <typename Key, typename Value>
std::vector<Value> TakeValues(std::map<Key, Value>* by_key) {
  std::vector<Value> values;
  for (auto& [key, value] : *by_key) values.push_back(std::move(value));
  by_key->clear();
  return values;
}

}  // namespace graphkit
