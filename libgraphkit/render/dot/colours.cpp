#include "libgraphkit/render/dot/colours.h"

#include <algorithm>
#include <array>
#include <set>

#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/render/dot/style.h"

namespace graphkit {

namespace {

// Hues that stay apart for most kinds of colour vision, pale for the fill.
constexpr std::array<BoxColour, 8> kPalette = {{
    {"#dcebf7", "#3f7fb5"},  // blue
    {"#fdeacb", "#c08a1e"},  // amber
    {"#d9efe6", "#2f8f6b"},  // green
    {"#f6e0ea", "#b15f88"},  // rose
    {"#e6e3f3", "#7668ab"},  // violet
    {"#fadfd3", "#bf6436"},  // rust
    {"#e3eedb", "#6f9442"},  // leaf
    {"#dfe6ea", "#5d7682"},  // slate
}};
constexpr BoxColour kNothing = {"#ffffff", "#9aa2ab"};
constexpr std::array<BoxColour, 4> kSeverities = {{
    kNothing,
    {"#dcebf7", "#3f7fb5"},  // note
    {"#fdeacb", "#c08a1e"},  // warning
    {"#f9d9d6", "#b93a32"},  // error
}};

// How long nodes ran, in powers of ten: the longer the darker.
constexpr std::array<BoxColour, 6> kDurations = {{
    kNothing,
    {"#eef4fa", "#9db8d2"},
    {"#cfe0f0", "#7ba0c4"},
    {"#a5c5e3", "#4f82b3"},
    {"#f5c98a", "#c08a1e"},
    {"#eb9a72", "#a8481f"},
}};
constexpr std::array<const char*, 6> kDurationTexts = {
    "not measured", "below 1 µs", "1 to 10 µs", "10 to 100 µs", "0.1 to 1 ms", "1 ms and more"};

uint32_t DurationKey(const Node& node) {
  uint32_t key = node.duration_ns == 0 ? 0 : 1;
  for (uint64_t ns = node.duration_ns; ns >= 1000 && key + 1 < kDurations.size(); ns /= 10) ++key;
  return key;
}

// The pool of what the node allocates, frees or touches first.
uint32_t PoolKey(const Trace& trace, const Node& node) {
  BlockId block = node.block;
  if (!block && node.accesses.count > 0) block = trace.accesses[node.accesses.first].block;
  return block ? trace[block].pool.value : kNoKey;
}

void MarkFindings(const std::vector<Finding>& findings, std::vector<uint32_t>& keys) {
  const auto mark = [&keys](const std::vector<NodeId>& nodes, Severity severity) {
    for (const NodeId id : nodes) {
      uint32_t& key = keys[id.index()];
      key = std::max(key, 1 + static_cast<uint32_t>(severity));
    }
  };
  for (const Finding& finding : findings) {
    mark(finding.nodes, finding.severity);
    for (const Evidence& evidence : finding.evidence) mark(evidence.nodes, finding.severity);
  }
}

std::string MeaningOf(const Trace& trace, uint32_t key, ColourBy by) {
  switch (by) {
    case ColourBy::kType:
      return NodeKindName(static_cast<NodeKind>(key));
    case ColourBy::kStream:
      return StreamTitle(trace, StreamId(key));
    case ColourBy::kPool:
      return key == kNoKey ? "no memory known" : PoolTitle(trace, PoolId(key));
    case ColourBy::kDuration:
      return kDurationTexts[key];
    case ColourBy::kFinding:
      break;
  }
  return key == 0 ? "no finding" : SeverityName(static_cast<Severity>(key - 1));
}

}  // namespace

std::vector<uint32_t> ColourNodes(const Trace& trace, const DotOptions& options) {
  std::vector<uint32_t> keys(trace.nodes.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (options.colour == ColourBy::kType) keys[i] = static_cast<uint32_t>(node.kind);
    if (options.colour == ColourBy::kDuration) keys[i] = DurationKey(node);
    if (options.colour == ColourBy::kStream) keys[i] = node.stream.value;
    if (options.colour == ColourBy::kPool) keys[i] = PoolKey(trace, node);
  }
  if (options.colour == ColourBy::kFinding) MarkFindings(options.findings, keys);
  return keys;
}

uint32_t KeyOfBox(const Box& box, const std::vector<uint32_t>& keys, ColourBy by) {
  uint32_t key = keys[box.nodes.front().index()];
  if (by != ColourBy::kFinding && by != ColourBy::kDuration) return key;
  for (const NodeId id : box.nodes) key = std::max(key, keys[id.index()]);
  return key;
}

BoxColour ColourOfKey(uint32_t key, ColourBy by) {
  if (by == ColourBy::kType) {
    const NodeLook& look = LookOf(static_cast<NodeKind>(key));
    return {look.fill, look.line};
  }
  if (key == kNoKey) return kNothing;
  if (by == ColourBy::kDuration) return kDurations[key];
  return by == ColourBy::kFinding ? kSeverities[key] : kPalette[key % kPalette.size()];
}

std::vector<ColourMeaning> ColourLegend(const Trace& trace, const std::vector<uint32_t>& keys,
                                        ColourBy by) {
  std::vector<ColourMeaning> meanings;
  for (const uint32_t key : std::set<uint32_t>(keys.begin(), keys.end())) {
    meanings.push_back({ColourOfKey(key, by).line, MeaningOf(trace, key, by)});
  }
  return meanings;
}

}  // namespace graphkit
