// Manual pages, made from the command line's own definitions.
#pragma once

#include <string>
#include <vector>

#include "tools/graphkit/cli/cli_model.h"

namespace graphkit {

// graphkit(1): what there is. In man(7) macros.
std::string RootManPage(const CommandInfo& root, const std::vector<CommandInfo>& commands,
                        const std::string& version);

// graphkit-<name>(1).
std::string CommandManPage(const CommandInfo& command, const std::string& version);

}  // namespace graphkit
