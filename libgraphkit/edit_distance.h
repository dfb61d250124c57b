// How far one word is from another.
#pragma once

#include <cstddef>
#include <string_view>

namespace graphkit {

// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
size_t EditDistance(std::string_view from, std::string_view to);

}  // namespace graphkit
