// The moment that a user means: --at.
#pragma once

#include <string>

#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/io/import/import.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Empty for "peak", "end" and a number; otherwise what is wrong.
std::string CheckMoment(const std::string& text);

// "peak": where most was in use, on the device that had the most; "end", "": the end; a number: an
// event of that device in a snapshot, a record in a trace. Fails when there is no such event.
Result<HeldAt> FindHeldAt(const std::string& text, const Imported& imported,
                          const std::string& path);

}  // namespace graphkit
