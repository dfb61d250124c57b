#include "libgraphkit/model/date.h"

#include <chrono>
#include <cstdio>

#include "libgraphkit/checked_number.h"

namespace graphkit {

std::optional<Date> ParseDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = ParseNumber<uint16_t>(text.substr(0, 4));
  const auto month = ParseNumber<uint8_t>(text.substr(5, 2));
  const auto day = ParseNumber<uint8_t>(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  return date.ok() ? std::optional(Date{*year, *month, *day}) : std::nullopt;
}

std::string FormatDate(const Date& date) {
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", date.year, date.month, date.day);
  return text;
}

}  // namespace graphkit
