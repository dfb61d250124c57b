// Options that have moved, so that an old command line gets the new one.
#pragma once

#include <optional>
#include <string>

#include "libgraphkit/result.h"

namespace graphkit {

// `option` of an old `graphkit command`, "" for its argument; nothing: it never had one.
std::optional<Error> NewSpelling(const std::string& command, const std::string& option);

}  // namespace graphkit
