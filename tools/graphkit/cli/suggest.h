// The nearest valid word to one that isn't.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace graphkit {

// The word that `wrong` was probably meant to be; nothing when none is near. Of several equally
// near ones the first. Upper and lower case count the same.
std::optional<std::string> Nearest(std::string_view wrong, std::span<const std::string> valid);

// The count that something that is none was probably meant to be: "-1" is 1, "2.5" is 2, "7x" is 7.
std::optional<std::string> NearestCount(std::string_view wrong);

// The size, as ParseBytes reads it: "10XB" is 10B, "-4k" is 4KiB, "1.5gigs" is 1.5GiB.
std::optional<std::string> NearestSize(std::string_view wrong);

}  // namespace graphkit
