// Completion scripts, made from the command line's own definitions.
#pragma once

#include <string>
#include <vector>

#include "tools/graphkit/cli/cli_model.h"

namespace graphkit {

std::string BashCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands);
std::string ZshCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands);
std::string FishCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands);

}  // namespace graphkit
