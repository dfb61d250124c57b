// The pages of docs/checks, and docs/glossary.md, in the program.
#pragma once

#include <string_view>

namespace graphkit {

// A check's page, Markdown; empty: there is none.
std::string_view PageOf(std::string_view check);

}  // namespace graphkit
