// HTML pages that hold all they need.
#pragma once

#include <ostream>
#include <string_view>

namespace graphkit {

struct PageParts {
  std::string_view page;    // with {{style}}, {{script}} and {{data}} where these go
  std::string_view style;   // CSS
  std::string_view script;  // JavaScript
};

// The data go in deflated and as base64: whatever they are, they can't be taken for markup.
void WritePage(const PageParts& parts, std::string_view data, std::ostream& out);

}  // namespace graphkit
