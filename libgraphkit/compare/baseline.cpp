#include "libgraphkit/compare/baseline.h"

#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "libgraphkit/compare/gate.h"
#include "libgraphkit/compare/match_graphs.h"

namespace graphkit {

namespace {

// The next field of a hash: no text holds the byte that ends a field.
uint64_t HashField(uint64_t hash, std::string_view text) {
  return HashText("\xff", HashText(text, hash));
}

// Of a finding of a graph by that name, from that line (its number aside); both may be empty.
std::string Fingerprint(std::string_view check, std::string_view graph, const PlaceFrame& place) {
  uint64_t hash = HashField(HashField(HashText(""), check), graph);
  if (place != PlaceFrame()) {
    hash = HashField(hash, place.function);
    hash = HashField(hash, FileName(place.file));
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::string FingerprintIn(std::string_view graph, const GateSubject& subject, size_t finding) {
  const Finding& found = subject.report.findings[finding];
  const bool known = !found.places.empty() && !found.places[0].frames.empty();
  return Fingerprint(found.check, graph, known ? found.places[0].frames[0] : PlaceFrame());
}

// Of each graph the first one that is equal to it: of the same name and content.
std::vector<uint32_t> EqualGraphs(const BaselineTrace& trace) {
  std::map<std::pair<std::string_view, uint64_t>, uint32_t> first;
  std::vector<uint32_t> equal;
  for (const auto& [i, graph] : Enumerate<uint32_t>(trace.graphs)) {
    if (!graph.content) {
      equal.push_back(i);
    } else {
      equal.push_back(first.emplace(std::pair(graph.name, graph.content->hash), i).first->second);
    }
  }
  return equal;
}

FindingKey KeyOf(const GateSubject& subject, size_t finding, uint32_t base,
                 const BaselineTrace& trace, const std::vector<uint32_t>& equal) {
  const BaselineGraph& graph = trace.graphs[base];
  if (graph.content) return {equal[base], FingerprintIn(graph.name, subject, finding)};
  const std::string key = graph.name + "#" + std::to_string(graph.ordinal);
  return {{}, FingerprintIn(key, subject, finding)};
}

std::vector<uint32_t> MatchGraphsOf(const GateSubject& subject, const BaselineTrace& base) {
  std::vector<ComparedGraph> before, after;
  for (const BaselineGraph& graph : base.graphs) {
    before.push_back({graph.name,
                      graph.content ? &*graph.content : nullptr,
                      {graph.peak_live_bytes, graph.deferred_bytes, graph.never_freed_bytes}});
  }
  for (const auto& [i, graph] : Enumerate(subject.report.graphs)) {
    after.push_back({graph.name,
                     i < subject.contents.size() ? &subject.contents[i] : nullptr,
                     {graph.peak_live_bytes, graph.deferred_bytes, graph.never_freed_bytes}});
  }
  return MatchContents(before, after).before;
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
  trace.peak_outside_graphs_bytes = subject.peak_outside_graphs_bytes;
  const std::vector<uint32_t> ordinals = GraphOrdinals(subject.report);
  for (const auto& [i, graph] : Enumerate(subject.report.graphs)) {
    BaselineGraph& kept = trace.graphs.emplace_back();
    kept.name = graph.name;
    kept.ordinal = ordinals[i];
    if (i < subject.contents.size()) kept.content = subject.contents[i];
    // Of unknown bytes no baseline is kept: the gate refuses it.
    kept.peak_live_bytes = graph.peak_live_bytes.value_or(0);
    kept.deferred_bytes = graph.deferred_bytes.value_or(0);
    kept.never_freed_bytes = graph.never_freed_bytes.value_or(0);
    kept.launched = graph.launches > 0;
    if (i < subject.peak_lines.size()) kept.peak_lines = subject.peak_lines[i];
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

std::vector<FindingKey> FindingKeys(const GateSubject& subject, const BaselineMatch& match) {
  const Report& report = subject.report;
  std::map<GraphId, uint32_t> places;
  for (uint32_t i = 0; i < report.graphs.size(); ++i) places.emplace(report.graphs[i].graph, i);
  const std::vector<uint32_t> equal =
      match.trace == nullptr ? std::vector<uint32_t>() : EqualGraphs(*match.trace);
  std::vector<FindingKey> keys;
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const auto place = places.find(report.findings[i].graph);
    if (place == places.end()) {
      keys.push_back({{}, FingerprintIn("", subject, i)});
    } else if (match.trace == nullptr || match.graphs[place->second] == BaselineMatch::kNoGraph) {
      keys.push_back(
          {BaselineMatch::kNoGraph, FingerprintIn(report.graphs[place->second].name, subject, i)});
    } else {
      keys.push_back(KeyOf(subject, i, match.graphs[place->second], *match.trace, equal));
    }
  }
  return keys;
}

Baseline MakeBaseline(const std::vector<GateSubject>& subjects, const GateVerdict& verdict) {
  Baseline baseline;
  std::vector<std::string> keys = TraceKeys(subjects);
  for (size_t i = 0; i < subjects.size(); ++i) {
    baseline.traces.push_back(MakeBaselineTrace(subjects[i], std::move(keys[i])));
  }
  std::vector<std::map<FindingKey, BaselineFinding>> findings(subjects.size());
  std::vector<std::vector<FindingKey>> own;
  for (size_t i = 0; i < subjects.size(); ++i) {
    BaselineMatch itself{.trace = &baseline.traces[i]};
    itself.graphs.resize(subjects[i].report.graphs.size());
    std::iota(itself.graphs.begin(), itself.graphs.end(), 0u);
    own.push_back(FindingKeys(subjects[i], itself));
  }
  for (const JudgedFinding& judged : verdict.findings) {
    if (judged.status == FindingStatus::kSuppressed) continue;
    const Finding& finding = subjects[judged.trace].report.findings[judged.finding];
    const FindingKey& key = own[judged.trace][judged.finding];
    BaselineFinding& entry = findings[judged.trace][key];
    entry.check = finding.check;
    entry.fingerprint = key.fingerprint;
    entry.graph = key.graph;
    entry.count += 1;
    entry.bytes += finding.bytes;
    entry.leaks += LeakedBy(subjects[judged.trace], judged.finding);
  }
  for (size_t i = 0; i < subjects.size(); ++i) {
    for (auto& [key, entry] : findings[i]) baseline.traces[i].findings.push_back(entry);
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

std::vector<BaselineMatch> MatchBaseline(const Baseline& baseline,
                                         const std::vector<GateSubject>& subjects) {
  const bool one = subjects.size() == 1 && baseline.traces.size() == 1;
  const std::vector<std::string> keys = TraceKeys(subjects);
  std::vector<BaselineMatch> matches;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const auto entry = one ? baseline.traces.begin()
                           : std::ranges::find(baseline.traces, keys[i], &BaselineTrace::trace);
    BaselineMatch& match = matches.emplace_back();
    if (entry == baseline.traces.end()) continue;
    match.trace = &*entry;
    match.graphs = MatchGraphsOf(subjects[i], *entry);
  }
  return matches;
}

}  // namespace graphkit
