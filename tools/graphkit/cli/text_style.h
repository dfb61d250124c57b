// How text views look where they go to.
#pragma once

#include <string>

#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// `output` as of -o; "-" is stdout. On a terminal as wide as it is and in colour; in a pipe and in
// files the same whoever looks: neither colours nor tables that are cut.
TextStyle StyleFor(const std::string& output, size_t top = TextStyle{}.top);

}  // namespace graphkit
