// Reads trace files (docs/format.md).
//
// The file is read in chunks of whole lines; each core parses a chunk into records while another
// core's are put into the trace, in the order of the file. So the result doesn't depend on the
// number of cores, and little memory is needed beside the trace itself.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Reads the trace at `path`; "-" is stdin; compressed or not. A trace that is cut off is read up to
// its last whole line: see Trace::completeness. Anything else that is wrong is an error.
Result<Trace> ReadTrace(const std::string& path);

// The same from a source of (decompressed) bytes.
Result<Trace> ReadTrace(ByteSource& source, std::string name);

// The same for a text in memory. `name` stands for it in errors.
Result<Trace> ParseTrace(std::string_view text, std::string name);

}  // namespace graphkit
