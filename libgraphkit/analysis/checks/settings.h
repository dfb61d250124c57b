// Findings explained by the recorded environment: the variable that explains one, or that would
// make it go away.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/process.h"

namespace graphkit {

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

// The value of a variable in the recorded environment, or of an option of PyTorch's allocator in
// PYTORCH_ALLOC_CONF or its older name PYTORCH_CUDA_ALLOC_CONF ("a:1,b:[64:8,>:4],c:True").
std::optional<std::string> FindSetting(const Process& process, std::string_view variable,
                                       std::string_view option = {});

// Adds what is known as evidence to the first finding of each check. Without a recorded environment
// nothing is known; rules of PyTorch need a sign of it, one of its variables.
void ExplainBySettings(const Process& process, std::vector<Finding>* findings);

}  // namespace graphkit
