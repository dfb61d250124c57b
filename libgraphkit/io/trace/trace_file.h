// Reads and writes trace files (docs/format.md).
//
// The file is read in chunks of whole lines; each core parses a chunk into records while another
// core's are put into the trace, in the order of the file. So the result doesn't depend on the
// number of cores, and little memory is needed beside the trace itself.
#pragma once

#include <optional>
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

// Writes the trace to `path`; "-" is stdout; compressed when the path ends in ".zst". A file
// appears under its name only once it is whole. Every record stands at its place, so what is
// written reads back as the same trace. An error when two things in the trace claim one place.
Result<void> WriteTrace(const Trace& trace, const std::string& path);

// The same as a text.
Result<std::string> FormatTrace(const Trace& trace);

// Sizes and addresses that no machine has: a trace with them is damaged or made up. Beyond them
// sizes rounded up, ends of ranges and sums would wrap, and a figure would be wrong unseen.
struct BadMemory {
  std::string message;  // "block 3 has 2^56 bytes or more, …"
  Seq place = 0;        // the record that it stands in
};

// The first block, segment or access that is larger than memory can be, ends beyond 2^64, or with
// which all of its kind are together more than 2^62 bytes.
std::optional<BadMemory> FindBadMemory(const Trace& trace);

}  // namespace graphkit
