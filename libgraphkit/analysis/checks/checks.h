// The checks, in one table. A check looks at facts and says what is wrong: one function, one id,
// one page in docs/checks, one test. Related ones share a file.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/process.h"

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

// Findings explained by the recorded environment: the variable that explains one, or that would
// make it go away.

// One setting that bears on the findings of a check.
struct SettingRule {
  std::string_view check;
  std::string_view variable;
  std::string_view option;    // a key of PYTORCH_ALLOC_CONF; empty: the whole variable
  std::string_view value;     // that the sentence `when` is about; empty: any
  std::string_view when;      // "NAME=value: " comes first; empty: nothing is said
  std::string_view when_not;  // said when it has another value or none; empty: nothing is said
  std::string_view source;    // who says so
};
std::span<const SettingRule> SettingRules();

// Adds what is known as evidence to the first finding of each check. Without a recorded environment
// nothing is known; rules of PyTorch need a sign of it, one of its variables.
void ExplainBySettings(const Process& process, std::vector<Finding>* findings);

}  // namespace graphkit
