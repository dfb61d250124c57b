// What is said of sources that were joined into one trace.
#pragma once

#include <string>

#include "libgraphkit/io/import/merge.h"

namespace graphkit {

// "not joined: 3 nodes of the profile that no graph has: graph 1 node 2, …"
std::string Shown(const NotJoined& left);

}  // namespace graphkit
