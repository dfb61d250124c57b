// The gate's configuration, as checked into a user's repository (docs/check.md):
//
//     {
//       "schema": "graphkit-config", "version": 1,
//       "check": {
//         "fail_on": ["error", "deferred-record-stream"],
//         "max_deferred": 0, "max_peak": "1.2GiB", "max_idle": "1GiB", "max_exec_bytes": "2GiB",
//         "max_leaks": 0, "max_reserved_over_allocated": 1.1, "min_coverage": "90%",
//         "baseline": "ci/baseline.json", "allow_increase": "2%",
//         "suppressions": "ci/suppressions.json"
//       }
//     }
//
// and the suppressions, here in place of a file name or in a file of their own:
//
//     {
//       "schema": "graphkit-suppressions", "version": 1,
//       "suppressions": [
//         {"check": "exec-leak", "reason": "lives as long as the process", "graph": "decode",
//          "source": "engine.cpp", "trace": "rank0.json", "expires": "2026-12-31"}
//       ]
//     }
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/result.h"

namespace graphkit {

// The values of the file. Paths are those of the file, relative to its folder.
struct GateConfigFile {
  GateConfig config;
  std::string baseline = {};      // empty: none
  std::string suppressions = {};  // a further file; empty: none
  bool operator==(const GateConfigFile&) const = default;
};

// Of the files' text; errors name `file`. ReadWith (json_file.h) reads the files.
Result<GateConfigFile> ParseGateConfig(const std::string& text, const std::string& file);
Result<std::vector<Suppression>> ParseSuppressions(const std::string& text,
                                                   const std::string& file);

// "2%", "0.5 %" to 0.02, 0.005; nothing when it isn't a percentage.
std::optional<double> ParsePercent(std::string_view text);
// Likewise, up to "100%".
std::optional<double> ParseShare(std::string_view text);

// Sets what findings fail: severities ("error", "warning", "note"), "none", and checks' ids. The
// mildest severity counts.
void SetFailOn(const std::vector<std::string>& words, GateConfig& config);

// The gate's baseline as a file (docs/check.md): JSON, one line for each graph and each finding, so
// that a change of it reads well in a review.
Result<Baseline> ParseBaseline(const std::string& text, const std::string& file);
void WriteBaseline(const Baseline& baseline, std::ostream& out);

}  // namespace graphkit
