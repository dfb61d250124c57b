#include "libgraphkit/compare/peak_lines.h"

#include <algorithm>
#include <map>

#include "libgraphkit/analysis/checks/places.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/analysis/names/call_site.h"

namespace graphkit {
namespace {

constexpr size_t kLines = 32;

void MostFirst(std::vector<LineBytes>* lines) {
  std::erase_if(*lines, [](const LineBytes& line) { return line.bytes == 0; });
  std::ranges::stable_sort(*lines, std::ranges::greater(), &LineBytes::bytes);
}

bool SameFunction(const LineBytes& a, const LineBytes& b) {
  return a.at.file == b.at.file && a.at.function == b.at.function;
}

// Takes from each line what its partner had.
template <typename Same>
void Match(std::vector<LineBytes>* before, std::vector<LineBytes>* after, Same same) {
  for (LineBytes& line : *after) {
    const auto was = std::ranges::find_if(*before, [&](const LineBytes& old) {
      return old.bytes > 0 && SameFunction(old, line) && same(old, line);
    });
    if (was == before->end()) continue;
    line.bytes -= std::min(line.bytes, was->bytes);
    was->bytes = 0;
  }
}

}  // namespace

std::vector<LineBytes> PeakLines(const Ran& trace, const GraphSummary& graph) {
  std::map<PlaceFrame, Bytes> by_line;
  for (const BlockId block : graph.peak_blocks) {
    PlaceFrame line = LineOfStack(trace, trace[block].stack);
    if (line.line == 0) continue;
    line.file = ShortPlace(line.file, 0);
    by_line[line] += RoundedSize(trace[block]);
  }
  std::vector<LineBytes> lines;
  for (const auto& [line, bytes] : by_line) lines.push_back({line, bytes});
  MostFirst(&lines);
  lines.resize(std::min(lines.size(), kLines));
  return lines;
}

std::vector<LineBytes> GrownLines(std::span<const LineBytes> before,
                                  std::span<const LineBytes> after) {
  std::vector<LineBytes> old(before.begin(), before.end()), now(after.begin(), after.end());
  Match(&old, &now, [](const LineBytes& a, const LineBytes& b) { return a.bytes == b.bytes; });
  Match(&old, &now, [](const LineBytes& a, const LineBytes& b) { return a.at.line == b.at.line; });
  MostFirst(&now);
  return now;
}

std::string LinesText(std::span<const LineBytes> lines) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + FormatBytes(lines[i].bytes) + " at " +
            ShortPlace(lines[i].at.file, lines[i].at.line);
  }
  return text;
}

}  // namespace graphkit
