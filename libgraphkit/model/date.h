// A day of the calendar. The gate compares days, so that it doesn't depend on a time zone's hour.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace graphkit {

struct Date {
  int year = 0;
  unsigned month = 0;  // 1 to 12
  unsigned day = 0;    // 1 to 31
  auto operator<=>(const Date&) const = default;
};

// "2026-03-31"; nothing when it isn't a day of the calendar.
std::optional<Date> ParseDate(std::string_view text);
std::string FormatDate(const Date& date);

}  // namespace graphkit
