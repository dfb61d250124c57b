#include "libgraphkit/model/gate.h"

#include <charconv>
#include <chrono>
#include <cstdio>

namespace graphkit {

namespace {

template <typename T>
bool ParseDigits(std::string_view text, T& value) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
}

}  // namespace

std::optional<Date> ParseDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  Date date;
  const bool digits = ParseDigits(text.substr(0, 4), date.year) &&
                      ParseDigits(text.substr(5, 2), date.month) &&
                      ParseDigits(text.substr(8, 2), date.day);
  const std::chrono::year_month_day day(std::chrono::year(date.year),
                                        std::chrono::month(date.month), std::chrono::day(date.day));
  if (!digits || !day.ok()) return std::nullopt;
  return date;
}

std::string FormatDate(const Date& date) {
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", date.year, date.month, date.day);
  return text;
}

}  // namespace graphkit
