#include "libgraphkit/render/report/page.h"

#include <string>

#include "libgraphkit/render/report/packed_columns.h"

namespace graphkit {

namespace {

// Writes `text` with each "{{name}}" replaced by what `value` gives for the name.
template <typename Value>
void Fill(std::string_view text, Value value, std::ostream& out) {
  while (true) {
    const size_t open = text.find("{{");
    const size_t close = open == std::string_view::npos ? open : text.find("}}", open);
    out << text.substr(0, open);
    if (close == std::string_view::npos) return;
    out << value(text.substr(open + 2, close - open - 2));
    text.remove_prefix(close + 2);
  }
}

}  // namespace

std::string Packed(std::string_view data) { return Base64(Deflate(data)); }

void WritePage(const PageParts& parts, std::string_view data, std::string_view more,
               std::ostream& out) {
  const auto value = [&](std::string_view name) -> std::string_view {
    if (name == "style") return parts.style;
    if (name == "script") return parts.script;
    if (name == "more") return more;
    return name == "data" ? data : std::string_view();
  };
  Fill(parts.page, value, out);
}

}  // namespace graphkit
