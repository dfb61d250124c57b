#include "libgraphkit/render/figure_text.h"

#include <algorithm>
#include <utility>

#include "libgraphkit/units.h"

namespace graphkit {

std::string FigureWords(std::string_view figure) {
  for (const auto& [name, words] : {std::pair("total_bytes", "allocated, in all"),
                                    {"reuse_bytes", "could be shared"},
                                    {"exec_bytes", "executables"}}) {
    if (figure == name) return words;
  }
  if (figure.ends_with("_bytes")) figure.remove_suffix(6);
  std::string words(figure);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string FigureText(std::string_view figure, std::optional<uint64_t> value) {
  return !value || figure.ends_with("_bytes") ? FormatBytes(value) : FormatCount(*value);
}

std::string CountsText(const FindingChange& change) {
  const std::string text =
      FormatCount(change.count_before) + " → " + FormatCount(change.count_after);
  if (change.bytes_before == change.bytes_after) return text;
  return text + ", " + FormatBytes(change.bytes_before) + " → " + FormatBytes(change.bytes_after);
}

}  // namespace graphkit
