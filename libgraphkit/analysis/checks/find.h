// Shared by the checks: facts, findings by graph, evidence, sites of races. Files of checks rely on
// its includes.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/races.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Those of which exec-leak says that others took their place.
std::vector<ExecId> ReplacedExecs(const Facts& facts);

// Of many alike, how many are shown as evidence.
inline constexpr size_t kShownEvidence = 3;

// One finding for each graph of which `judge` says something: it fills in the finding, which is
// left out as long as it has no message. Graphs are judged side by side.
std::vector<Finding> FindByGraph(const Facts& facts,
                                 const std::function<void(GraphId, Finding*)>& judge);

// Adds a block that the finding is about, and its bytes.
void AddBlock(const Trace& trace, BlockId block, Finding* finding);

// "blocks 4 and 5 (12 MiB)": all that the finding is about.
std::string BlocksText(const Finding& finding);

// Where a node comes from, as evidence.
Evidence CapturedThere(const Trace& trace, NodeId node);

// A captured copy of memory of the host, as evidence.
Evidence CopyEvidence(const Trace& trace, const HostCopy& copy);

// Where a block comes from, as evidence.
Evidence AllocatedThere(const Facts& facts, BlockId block);

// False: it is in the list already.
template <typename Item>
bool AddOnce(const Item& item, std::vector<Item>* list) {
  if (std::ranges::find(*list, item) != list->end()) return false;
  list->push_back(item);
  return true;
}

// The values of a map, in the order of their keys.
template <typename Key>
std::vector<Finding> TakeValues(std::map<Key, Finding>* by_key) {
  std::vector<Finding> findings;
  for (auto& [key, finding] : *by_key) findings.push_back(std::move(finding));
  by_key->clear();
  return findings;
}

// The edges from one node to another, as evidence; says so when there is none that can be shown.
Evidence ProofPath(const Facts& facts, NodeId from, NodeId to);

// Shared by the checks of races: one finding for each pair of kernels that races, however often,
// since what races once mostly races in every layer.
using RaceSite = std::tuple<GraphId, Severity, KernelId, KernelId>;
RaceSite SiteOf(const Facts& facts, const Race& race, Severity severity);

// Adds a race's block and nodes to what is found at its site.
void AddRace(const Facts& facts, const Race& race, Finding* finding);

// The findings, with their severity and how often they came.
std::vector<Finding> TakeFindings(std::map<RaceSite, Finding>* by_site);

}  // namespace graphkit
