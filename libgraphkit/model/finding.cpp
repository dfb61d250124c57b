#include "libgraphkit/model/finding.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "libgraphkit/model/names.h"

namespace graphkit {
namespace {

// Findings of one row have one key.
std::string RowKey(const Finding& finding) {
  std::string key;
  for (const FindingPlace& place : finding.places) {
    key += place.line.file + ":" + std::to_string(place.line.line) + "\n";
  }
  if (!key.empty()) return key;
  key = finding.message;
  std::erase_if(key, [](char c) { return c >= '0' && c <= '9'; });
  return key;
}

}  // namespace

bool ComesFirst(const Finding& a, const Finding& b) {
  return std::tie(a.severity, a.harm, a.bytes) > std::tie(b.severity, b.harm, b.bytes);
}

std::vector<FindingGroup> GroupFindings(std::span<const Finding* const> findings,
                                        std::span<const uint32_t> apart) {
  using GroupKey = std::tuple<uint32_t, Severity, std::string_view>;
  std::map<GroupKey, size_t> known;
  std::map<std::pair<size_t, std::string>, size_t> known_rows;
  std::vector<FindingGroup> groups;
  for (uint32_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = *findings[i];
    const GroupKey key{apart.empty() ? 0 : apart[i], finding.severity, finding.check};
    const auto [group, fresh] = known.emplace(key, groups.size());
    if (fresh) groups.emplace_back();
    std::vector<FindingRow>& rows = groups[group->second].rows;
    const auto [row, first] =
        known_rows.emplace(std::pair(group->second, RowKey(finding)), rows.size());
    if (first) rows.emplace_back();
    rows[row->second].findings.push_back(i);
  }
  return groups;
}

std::vector<FindingGroup> GroupFindings(std::span<const Finding> findings) {
  std::vector<const Finding*> all;
  for (const Finding& finding : findings) all.push_back(&finding);
  return GroupFindings(all);
}

std::string Times(uint64_t count) { return count == 1 ? "" : " (×" + FormatCount(count) + ")"; }

const char* SeverityName(Severity severity) { return NameOf(severity).data(); }

}  // namespace graphkit
