#include "tools/graphkit/cli/suggest.h"

#include <algorithm>
#include <cctype>

#include "libgraphkit/edit_distance.h"
#include "libgraphkit/units.h"

namespace graphkit {

namespace {

char Lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), Lower);
  return lowered;
}

// The number that a text begins with, without a sign; "": none.
std::string_view NumberOf(std::string_view text, std::string_view digits) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of("+- ")));
  return text.substr(0, text.find_first_not_of(digits));
}

}  // namespace

std::optional<std::string> Nearest(std::string_view wrong, std::span<const std::string> valid) {
  const std::string lowered = Lowered(wrong);
  const size_t allowed = wrong.size() > 2 ? std::max<size_t>(1, wrong.size() / 3) : 0;
  std::optional<std::string> best;
  size_t best_distance = allowed + 1;
  for (const std::string& word : valid) {
    const std::string candidate = Lowered(word);
    const bool part = wrong.size() > 2 && candidate.find(lowered) != std::string::npos;
    const size_t distance = part ? 1 : EditDistance(lowered, candidate);
    if (distance >= best_distance) continue;
    best = word;
    best_distance = distance;
  }
  return best;
}

std::optional<std::string> NearestCount(std::string_view wrong) {
  constexpr size_t kMostDigits = 9;
  const std::string_view number = NumberOf(wrong, "0123456789");
  if (number.empty() || number.size() > kMostDigits) return std::nullopt;
  return std::string(number);
}

std::optional<std::string> NearestSize(std::string_view wrong) {
  const std::string_view number = NumberOf(wrong, "0123456789.");
  if (number.empty()) return std::nullopt;
  std::string_view unit = wrong.substr(static_cast<size_t>(number.end() - wrong.begin()));
  unit.remove_prefix(std::min(unit.size(), unit.find_first_not_of(' ')));
  constexpr std::string_view kLetters = "kmgt";
  const bool large = !unit.empty() && kLetters.find(Lower(unit[0])) != std::string_view::npos;
  std::string size(number);
  if (large) size += static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0])));
  size += large ? "iB" : "B";
  return ParseBytes(size) ? std::optional(size) : std::nullopt;
}

}  // namespace graphkit
