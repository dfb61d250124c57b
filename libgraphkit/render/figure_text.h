// Figures by the names that they have in JSON, as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libgraphkit/model/trace_diff.h"

namespace graphkit {

// "peak_in_use_bytes" → "peak in use".
std::string FigureWords(std::string_view figure);

// Bytes or a count, as the figure's name says.
std::string FigureText(std::string_view figure, std::optional<uint64_t> value);

// "1 → 3, 4 MiB → 12 MiB": how many findings, and their bytes where these changed.
std::string CountsText(const FindingChange& change);

}  // namespace graphkit
