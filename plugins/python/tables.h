// A trace's columns as rows of 8-byte numbers, for numpy.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Rows as bytes, one after the other. Columns are "name:type", type i8 or u8 as numpy has them.
// Signed: ids with -1 for none, places in the trace with -1 for never, and nanoseconds since 1970
// with 0 for unknown. The columns are the numbers of the fields that a record has
// (io/record/record.h), and where the thing begins and ends.
struct NumberTable {
  std::vector<std::string> columns;
  std::vector<std::pair<std::string, std::vector<std::string>>> words;  // by column: of its numbers
  std::string rows;
};

// Null columns when there is no table of that name.
NumberTable MakeTable(const Ran& trace, std::string_view name);

}  // namespace graphkit
