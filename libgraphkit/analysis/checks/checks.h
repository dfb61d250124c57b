// The checks, in one table. A check looks at facts and says what is wrong: one file, one id, one
// page in docs/checks, one test.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

struct Check {
  std::string_view id;  // kebab-case
  Severity severity;    // of its findings; the most severe, when it grades them
  Harm harm;
  bool grades = false;  // sets the severity of its findings
  // Speaks of hazards: needs facts by completion order, whatever was asked for.
  bool proves = false;
  std::string_view what;
  std::vector<Finding> (*find)(const Facts& facts);  // leaves `check` of its findings empty
  // Where full-edge order was asked for: what it finds beside that, of facts by that order and by
  // completion order.
  std::vector<Finding> (*find_unproved)(const Facts& torch, const Facts& completion) = nullptr;
};

std::span<const Check> AllChecks();
const Check* FindCheck(std::string_view id);  // null: there is none
// The check that took over an id that is no longer there; else one whose id begins so, or has it
// inside, or is a few letters away; null: none is.
const Check* NearestCheck(std::string_view id);

// Its findings, with the check's id and severity.
std::vector<Finding> RunCheck(const Check& check, const Facts& facts);

}  // namespace graphkit
