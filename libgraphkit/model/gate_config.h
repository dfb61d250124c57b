// The limits of a CI gate: plain values, from the command line or a checked-in file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/units.h"

namespace graphkit {

// A day of the calendar. The gate compares days, so that it doesn't depend on a time zone's hour.
struct Date {
  int year = 0;
  unsigned month = 0;  // 1 to 12
  unsigned day = 0;    // 1 to 31
  auto operator<=>(const Date&) const = default;
};

// "2026-03-31"; nothing when it isn't a day of the calendar.
std::optional<Date> ParseDate(std::string_view text);
std::string FormatDate(const Date& date);

// Findings that are looked at and accepted. What is given must agree, what is left empty
// agrees with anything.
struct Suppression {
  std::string check;                 // the check's id; required
  std::string reason;                // for people; required
  std::string trace = {};            // the trace's file name
  std::string graph = {};            // the graph's name
  std::string source = {};           // a part of "file:line function" of a frame of its stack
  std::optional<Date> expires = {};  // the last day on which it holds
  bool operator==(const Suppression&) const = default;
};

struct GateConfig {
  // Findings that fail the gate: those of at least this severity, and those of these checks.
  std::optional<Severity> fail_on_severity = Severity::kWarning;
  std::vector<std::string> fail_on_checks = {};

  // Budgets; nothing: no limit.
  std::optional<Bytes> max_deferred_bytes = {};  // of each graph
  // Peak live bytes of each graph; of a trace without graphs, such as a memory snapshot, the peak
  // in use.
  std::optional<Bytes> max_peak_bytes = {};
  std::optional<Bytes> max_idle_bytes = {};  // of each trace: reserved and not in use at the end
  // Of each trace: most that execs take of the device at once, at the upper end of its interval.
  std::optional<Bytes> max_exec_bytes = {};
  std::optional<uint64_t> max_leaks = {};  // of each trace: of checks named *-leak, without notes
  std::optional<double> max_reserved_over_allocated = {};  // of each trace: peak over peak
  std::optional<double> min_coverage = {};  // of each trace: kernel launches that run in graphs

  double allow_increase = 0;  // over the baseline: 0.02 allows 2 %
  std::vector<Suppression> suppressions = {};
  Date today = {};  // suppressions that expired before are void
  bool operator==(const GateConfig&) const = default;
};

// A limit, as a row: its rule's name, which is its key in the settings with underscores.
enum class MeasureUnit : uint8_t { kBytes, kCount, kRatio, kShare };
struct GateLimit {
  const char* name;
  MeasureUnit unit;
  std::optional<uint64_t> GateConfig::*whole;  // bytes and counts, null for others
  std::optional<double> GateConfig::*real;     // ratios and shares
  const char* description;
};
inline constexpr GateLimit kGateLimits[] = {
    {"max-deferred", MeasureUnit::kBytes, &GateConfig::max_deferred_bytes, nullptr,
     "deferred bytes of each graph"},
    {"max-peak", MeasureUnit::kBytes, &GateConfig::max_peak_bytes, nullptr,
     "peak live bytes of each graph; of a snapshot the peak in use"},
    {"max-idle", MeasureUnit::kBytes, &GateConfig::max_idle_bytes, nullptr,
     "reserved bytes that aren't in use at the end"},
    {"max-exec-bytes", MeasureUnit::kBytes, &GateConfig::max_exec_bytes, nullptr,
     "device memory of executables"},
    {"max-leaks", MeasureUnit::kCount, &GateConfig::max_leaks, nullptr, "leaks"},
    {"max-reserved-over-allocated", MeasureUnit::kRatio, nullptr,
     &GateConfig::max_reserved_over_allocated, "peak reserved over peak allocated bytes"},
    {"min-coverage", MeasureUnit::kShare, nullptr, &GateConfig::min_coverage,
     "kernel launches that run in graphs"},
};

}  // namespace graphkit
