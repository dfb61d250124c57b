#include "libgraphkit/render/analyze/held_bill.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/render/names.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {

bool HaveSegments(BillBy by) { return by == BillBy::kPool || by == BillBy::kStream; }

std::vector<HeldLine> BillHeld(const Trace& trace, BillBy by) {
  std::map<std::string, HeldLine> lines;
  for (const Segment& segment : trace.segments) {
    if (!HaveSegments(by) || segment.freed != kNever) continue;
    HeldLine& line = lines[by == BillBy::kPool ? PoolTitle(trace, segment.pool)
                                               : StreamTitle(trace, segment.stream)];
    ++line.segments;
    line.segment_bytes += segment.size;
  }
  const std::vector<bool> backs_segment = BacksSegment(trace);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (backs_segment[i] || block.free_completed != kNever) continue;
    HeldLine& line = lines[BillName(trace, BlockId(i), by)];
    ++line.blocks;
    line.block_bytes += RoundedSize(block);
  }
  std::vector<HeldLine> bill;
  for (auto& [name, line] : lines) {
    line.name = name;
    bill.push_back(std::move(line));
  }
  std::ranges::stable_sort(bill, std::ranges::greater(), [](const HeldLine& line) {
    return std::tuple(line.segment_bytes, line.block_bytes);
  });
  return bill;
}

void RenderHeld(const std::vector<HeldLine>& lines, BillBy by, const TextStyle& style,
                std::ostream& out) {
  if (lines.empty()) return;
  constexpr size_t kNameColumns = 60;
  out << "\n"
      << Inked(std::string("Memory held at the end by ") + BillByName(by), Ink::kBold, style)
      << "\n";
  std::vector<std::vector<std::string>> rows = {{"in blocks", "blocks", BillByName(by)}};
  std::vector<bool> right = {true, true, false};
  const auto before = [&](std::vector<std::string> columns) {
    rows.back().insert(rows.back().begin(), columns.begin(), columns.end());
  };
  if (HaveSegments(by)) {
    before({"in segments", "segments"});
    right.insert(right.begin(), 2, true);
  }
  for (size_t i = 0; i < Shown(lines.size(), style); ++i) {
    const HeldLine& line = lines[i];
    rows.push_back({FormatBytes(line.block_bytes), FormatCount(line.blocks),
                    Ellipsize(line.name, kNameColumns)});
    if (HaveSegments(by)) before({FormatBytes(line.segment_bytes), FormatCount(line.segments)});
  }
  out << Table(rows, right, "  ", style) << More(lines.size(), "  ", style);
}

}  // namespace graphkit
