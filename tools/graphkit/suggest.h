// The nearest valid word to one that isn't.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace graphkit {

// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
size_t EditDistance(std::string_view from, std::string_view to);

// The word that `wrong` was probably meant to be; nothing when none is near. Of several equally
// near ones the first.
std::optional<std::string> Nearest(std::string_view wrong, std::span<const std::string> valid);

}  // namespace graphkit
