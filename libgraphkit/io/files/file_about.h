// Files that are no traces: graphkit's own results and settings, and what other tools make of them.
// One row each in the table of file_about.cpp.
#pragma once

#include <optional>
#include <string>

#include "libgraphkit/model/file_about.h"
#include "libgraphkit/result.h"

namespace graphkit {

// What the file at `path` is; nothing: it may be a trace, or another tool's file that is read as
// one. An error: it can't be read, or is neither and never can be. A file that comes from stdin
// ("-") is taken for a trace.
Result<std::optional<FileAbout>> DescribeFile(const std::string& path);

// The same of a file's first bytes, and of all of them.
std::optional<FileAbout> DescribeBytes(const std::string& path, std::string_view bytes);

}  // namespace graphkit
