// Reads the SQLite export of Nsight Systems (`nsys export --type sqlite`): the tables of CUDA
// graphs and of memory.
//   CUPTI_ACTIVITY_KIND_{KERNEL,MEMCPY,MEMSET} with graphNodeId: how long graphs' nodes ran
//   CUPTI_ACTIVITY_KIND_GRAPH_TRACE: launches, where whole graphs were traced
//   CUDA_GPU_MEMORY_USAGE_EVENTS: what the driver was asked for
// Tables and columns that aren't there are done without. Of several processes the one with the most
// work is read.
#pragma once

#include <string_view>

#include "libgraphkit/io/import/import.h"

namespace graphkit {

// The row of the table of import.cpp. Without SQLite reading is an error that says so.
bool IsNsys(std::string_view head);
Result<Imported> ReadNsys(std::string_view bytes);

}  // namespace graphkit
