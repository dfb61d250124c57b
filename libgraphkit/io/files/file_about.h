// Files that are no traces: graphkit's own results and settings, and what other tools make of them.
// One row each in the table of file_about.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/model/file_about.h"

namespace graphkit {

// What it is; nothing: it isn't a folder.
std::optional<FileAbout> DescribeFolder(const std::string& path);

// What a file is, whose first bytes `source` is about to give; nothing: it may be a trace, or
// another tool's file that is read as one, and the source still has all of it.
std::optional<FileAbout> DescribeSource(std::unique_ptr<ByteSource>& source,
                                        const std::string& path);

// The same of a folder or a file that was read already. Pipes can't be read again: nothing.
std::optional<FileAbout> DescribeFile(const std::string& path);

// The same of a file's first bytes, and of all of them.
std::optional<FileAbout> DescribeBytes(const std::string& path, std::string_view bytes);

}  // namespace graphkit
