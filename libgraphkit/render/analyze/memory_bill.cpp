#include "libgraphkit/render/analyze/memory_bill.h"

#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/printable.h"

namespace graphkit {

namespace {

constexpr size_t kBillColumns = 60;

}  // namespace

void RenderBills(const Trace& trace, const std::vector<MemoryBill>& bills, BillBy by,
                 const TextStyle& style, std::ostream& out) {
  for (const MemoryBill& bill : bills) {
    out << "\n"
        << Inked("Memory of " + GraphTitle(trace, bill.graph) + " by " + BillByName(by), Ink::kBold,
                 style)
        << "\n";
    const auto row = [](const BillLine& line) {
      return TextRow{FormatBytes(line.bytes), FormatCount(line.blocks),
                     FormatBytes(line.never_freed_bytes), FormatBytes(line.reuse_bytes),
                     Ellipsize(line.name, kBillColumns)};
    };
    out << TopTable({"bytes", "blocks", "never freed", "reuse", BillByName(by)}, "rrrrl", "  ",
                    style, bill.lines, row);
  }
}

void RenderHeld(const std::vector<HeldLine>& lines, BillBy by, const HeldAt& at,
                const TextStyle& style, std::ostream& out) {
  if (lines.empty()) return;
  out << "\n"
      << Inked("Memory held " + at.text + " by " + BillByName(by), Ink::kBold, style) << "\n";
  const bool segments = HaveSegments(by);
  const auto row = [segments](const HeldLine& line) {
    TextRow row = {FormatBytes(line.block_bytes), FormatCount(line.blocks),
                   Ellipsize(line.name, kBillColumns)};
    const TextRow before = {FormatBytes(line.segment_bytes), FormatCount(line.segments)};
    if (segments) row.insert(row.begin(), before.begin(), before.end());
    return row;
  };
  TextRow head = {"in blocks", "blocks", BillByName(by)};
  if (segments) head.insert(head.begin(), {"in segments", "segments"});
  out << TopTable(head, segments ? "rrrrl" : "rrl", "  ", style, lines, row);
}

}  // namespace graphkit
