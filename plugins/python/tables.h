// A trace's columns as rows of 8-byte numbers, for numpy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Rows as bytes, one after the other. Columns are "name:type", type i8 or u8 as numpy has them.
// Signed: ids with -1 for none, places in the trace with -1 for never, and nanoseconds since 1970
// with 0 for unknown.
struct NumberTable {
  std::vector<std::string> columns;
  std::string rows;
};

std::vector<std::string> TableNames();

// Null columns when there is no table of that name.
NumberTable MakeTable(const Trace& trace, std::string_view name);

}  // namespace graphkit
