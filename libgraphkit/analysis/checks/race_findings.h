// What the checks of races share: one finding for each pair of kernels that races, however often.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/races.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

// The name of the code: what races once mostly races in every layer.
using RaceSite = std::tuple<GraphId, Severity, KernelId, KernelId>;
RaceSite SiteOf(const Facts& facts, const Race& race, Severity severity);

// Adds a race's block and nodes to what is found at its site.
void AddRace(const Facts& facts, const Race& race, Finding* finding);

// The findings, with their severity and how often they came.
std::vector<Finding> TakeFindings(std::map<RaceSite, Finding>* by_site);

}  // namespace graphkit
