#include "libgraphkit/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>

namespace graphkit {

std::string FormatBytes(std::optional<Bytes> bytes) {
  return bytes ? FormatBytes(*bytes) : "unknown";
}

std::string FormatBytes(Bytes bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  const int decimals = value == std::floor(value) ? 0 : value < 10 ? 2 : 1;
  char* end = std::to_chars(text, std::end(text), value, std::chars_format::fixed, decimals).ptr;
  *end++ = ' ';
  return std::string(text, end).append(kUnits[unit]);
}

std::string FormatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string Counted(uint64_t count, std::string_view noun) {
  const char* plural = noun.ends_with("ch") || noun.ends_with("ss") ? "es" : "s";
  return FormatCount(count) + " " + std::string(noun) + (count == 1 ? "" : plural);
}

std::string FormatPercent(double share, int decimals) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f%%", decimals, share * 100);
  return text;
}

namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

constexpr double kKibi = 1024.0;
constexpr std::array<Suffix, 16> kSuffixes = {{
    {"", 1},
    {"B", 1},
    {"KiB", kKibi},
    {"MiB", kKibi* kKibi},
    {"GiB", kKibi* kKibi* kKibi},
    {"TiB", kKibi* kKibi* kKibi* kKibi},
    {"PiB", kKibi* kKibi* kKibi* kKibi* kKibi},
    {"EiB", kKibi* kKibi* kKibi* kKibi* kKibi* kKibi},
    {"KB", 1e3},
    {"kB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"K", kKibi},
    {"M", kKibi* kKibi},
    {"G", kKibi* kKibi* kKibi},
}};

}  // namespace

std::optional<Bytes> ParseBytes(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const Suffix& suffix : kSuffixes) {
    if (unit != suffix.name) continue;
    const double bytes = std::round(value * suffix.factor);
    if (bytes >= static_cast<double>(std::numeric_limits<Bytes>::max())) return std::nullopt;
    return static_cast<Bytes>(bytes);
  }
  return std::nullopt;
}

}  // namespace graphkit
