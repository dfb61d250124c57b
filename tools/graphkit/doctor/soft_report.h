// What the software device models, for `doctor --soft`: as text and as JSON.
#pragma once

#include <optional>
#include <ostream>
#include <vector>

#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/doctor/soft_inventory.h"

namespace graphkit {

// Which functions are listed by name.
enum class SoftList : uint8_t { kModelled, kUnchecked, kMissing, kUnseen, kAll };

// Counts, and the functions of `list` below them.
void RenderSoftText(const std::vector<SoftLibrary>& libraries, std::optional<SoftList> list,
                    const TextStyle& style, std::ostream& out);
// Schema `graphkit-doctor-soft`; the functions of `list` only when it is given.
void RenderSoftJson(const std::vector<SoftLibrary>& libraries, std::optional<SoftList> list,
                    std::ostream& out);

}  // namespace graphkit
