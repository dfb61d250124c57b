#include "libgraphkit/compare/baseline.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace graphkit {

namespace {

constexpr uint64_t kFnvOffset = 0xcbf29ce484222325u;  // FNV-1a, 64 bits (RFC 9923)
constexpr uint64_t kFnvPrime = 0x100000001b3u;

uint64_t HashField(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return (hash ^ 0xff) * kFnvPrime;  // no text holds the byte that ends a field
}

// The graph by its name and its number among those of that name: ids move when graphs are added.
std::string GraphKey(const Report& report, GraphId graph) {
  uint32_t ordinal = 0;
  for (const GraphSummary& summary : report.graphs) {
    if (summary.graph != graph) continue;
    for (const GraphSummary* other = report.graphs.data(); other != &summary; ++other) {
      ordinal += other->name == summary.name;
    }
    return summary.name + "#" + std::to_string(ordinal);
  }
  return "";
}

// "/a/b/c.json", 2 → "b/c.json".
std::string_view LastParts(std::string_view path, size_t parts) {
  size_t start = path.size();
  for (; start > 0; --start) {
    if (path[start - 1] == '/' && --parts == 0) break;
  }
  return path.substr(start);
}

BaselineTrace MakeBaselineTrace(const GateSubject& subject, std::string key) {
  BaselineTrace trace;
  trace.trace = std::move(key);
  trace.peak_reserved_bytes = subject.peak_reserved_bytes;
  const std::vector<uint32_t> ordinals = GraphOrdinals(subject.report);
  for (size_t i = 0; i < subject.report.graphs.size(); ++i) {
    const GraphSummary& graph = subject.report.graphs[i];
    // Of unknown bytes no baseline is kept: the gate refuses it.
    trace.graphs.push_back({graph.name, ordinals[i], graph.peak_live_bytes.value_or(0),
                            graph.deferred_bytes.value_or(0), graph.never_freed_bytes.value_or(0)});
  }
  return trace;
}

}  // namespace

std::string_view FileName(std::string_view path) { return LastParts(path, 1); }

std::vector<uint32_t> GraphOrdinals(const Report& report) {
  std::map<std::string_view, uint32_t> seen;
  std::vector<uint32_t> ordinals;
  for (const GraphSummary& graph : report.graphs) ordinals.push_back(seen[graph.name]++);
  return ordinals;
}

std::string Fingerprint(const GateSubject& subject, size_t finding) {
  const Finding& found = subject.report.findings[finding];
  const FindingPlace& place = subject.places[finding];
  uint64_t hash = HashField(kFnvOffset, found.check);
  hash = HashField(hash, GraphKey(subject.report, found.graph));
  if (!place.frames.empty()) {
    hash = HashField(hash, place.frames.front().function);
    hash = HashField(hash, FileName(place.frames.front().file));
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

Baseline MakeBaseline(const std::vector<GateSubject>& subjects, const GateVerdict& verdict) {
  Baseline baseline;
  std::vector<std::string> keys = TraceKeys(subjects);
  for (size_t i = 0; i < subjects.size(); ++i) {
    baseline.traces.push_back(MakeBaselineTrace(subjects[i], std::move(keys[i])));
  }
  std::vector<std::map<std::string, BaselineFinding>> findings(subjects.size());
  for (const JudgedFinding& judged : verdict.findings) {
    if (judged.status == FindingStatus::kSuppressed) continue;
    const Finding& finding = subjects[judged.trace].report.findings[judged.finding];
    BaselineFinding& entry = findings[judged.trace][judged.fingerprint];
    entry.check = finding.check;
    entry.fingerprint = judged.fingerprint;
    entry.count += 1;
    entry.bytes += finding.bytes;
  }
  for (size_t i = 0; i < subjects.size(); ++i) {
    for (auto& [fingerprint, entry] : findings[i]) baseline.traces[i].findings.push_back(entry);
  }
  return baseline;
}

std::vector<std::string> TraceKeys(const std::vector<GateSubject>& subjects) {
  size_t longest = 1;
  for (const GateSubject& subject : subjects) {
    const auto slashes = std::ranges::count(subject.trace, '/');
    longest = std::max(longest, static_cast<size_t>(slashes) + 1);
  }
  std::vector<std::string> keys;
  for (size_t parts = 1; parts <= longest; ++parts) {
    keys.clear();
    for (const GateSubject& subject : subjects) keys.emplace_back(LastParts(subject.trace, parts));
    if (std::set<std::string>(keys.begin(), keys.end()).size() == keys.size()) break;
  }
  return keys;
}

std::vector<const BaselineTrace*> FindBaselineTraces(const Baseline& baseline,
                                                     const std::vector<GateSubject>& subjects) {
  if (subjects.size() == 1 && baseline.traces.size() == 1) return {&baseline.traces.front()};
  std::vector<const BaselineTrace*> found;
  for (const std::string& key : TraceKeys(subjects)) {
    const auto entry = std::ranges::find(baseline.traces, key, &BaselineTrace::trace);
    found.push_back(entry == baseline.traces.end() ? nullptr : &*entry);
  }
  return found;
}

}  // namespace graphkit
