// How views show a row of findings (model/finding.h): as text, and in JSON.
//
//     step.cu:17: error: nothing orders node 3 (scale) and node 7 (Reduce) … [missing-order] (×4)
//       step.cu:17: node 3 (scale) writes block 4
//       step.cu:18: node 7 (Reduce) reads block 4
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

// The file relative to the root when it lies below it, otherwise as it is.
std::string_view RelativeTo(std::string_view root, std::string_view file);

// "src/step.cu:42", relative to the root; without a root the file with the folder that it lies in.
// Printable.
std::string LineText(const PlaceFrame& line, std::string_view root = {});

// The line of a finding; `otherwise` where none is known.
std::string WhereText(const Finding& finding, std::string_view root = {},
                      std::string_view otherwise = {});

// "step.cu:17: error: … [missing-order] (×4)": the first finding of a row of so many.
std::string RowText(const Finding& first, size_t count, const std::string& where);

// "step.cu:18: node 7 (Reduce) reads block 4": what happens at each place of a finding that has
// several.
std::vector<std::string> SideTexts(const Finding& finding, std::string_view root = {});

// Adds "file", "line", "function" (null where they aren't known) and "about" of the place to act
// on, and "also": the same of the others.
void AddPlaces(const Finding& finding, Json& json);

// Each group as the list of its rows, a row as the places of its findings.
Json GroupsJson(const std::vector<FindingGroup>& groups);

}  // namespace graphkit
