// Facts about files that aren't read as traces, for a first look at them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/file_about.h"

namespace graphkit {

// The schema of a file of graphkit without "graphkit-": "plan"; empty: it isn't one.
std::string_view SchemaOf(std::string_view head);

// The lengths of the lists, and the figures of a plan: "335 placements", "peak 40 MiB".
std::vector<std::string> FactsOfJson(std::string_view bytes);
std::vector<std::string> FactsOfSarif(std::string_view bytes);
// Of a table of lifetimes.
std::vector<std::string> FactsOfTable(std::string_view bytes);
// None: it isn't a folder.
std::optional<FileAbout> DescribeFolder(const std::string& path);

}  // namespace graphkit
