// Reads the log of RMM's logging resource adaptor: rows of Thread,Time,Action,Pointer,Size,Stream.
// An allocation that failed is a failure; a row that can't be read is counted.
#pragma once

#include <string_view>

#include "libgraphkit/io/import/import.h"

namespace graphkit {

// The row of the table of import.cpp.
bool IsRmmLog(std::string_view head);
Result<Imported> ReadRmmLog(std::string_view bytes);

}  // namespace graphkit
