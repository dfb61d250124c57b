#include "libgraphkit/render/analyze/text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/printable.h"
#include "libgraphkit/render/analyze/graph_text.h"
#include "libgraphkit/render/finding_text.h"

namespace graphkit {
namespace {

// "Peak memory reserved from the driver: 40 MiB (record 12), 36 MiB in segments and 4 MiB of graph
// nodes".
std::string ReservedText(const AskedMemory& memory, const MemoryAt& peak) {
  std::vector<std::string> parts;
  const auto add = [&](Bytes bytes, const char* what) {
    if (bytes > 0) parts.push_back(FormatBytes(bytes) + what);
  };
  add(memory.segment_used_bytes + memory.segment_free_bytes, " in segments");
  add(memory.graph_node_bytes, " of graph nodes");
  add(memory.input_bytes, " that graphs touch");
  add(memory.not_attributed_bytes, " not attributed");
  return "Peak memory reserved from the driver: " + FormatBytes(memory.asked_bytes) + " (record " +
         FormatCount(peak.seq) + "), " + AndList(parts);
}

// "Peak in use: 30 MiB (record 40), in 12 blocks; 24 MiB at the end".
std::string InUseText(const MemoryMoments& moments) {
  const MemoryAt& peak = moments.peak_in_use;
  return "Peak in use: " + FormatBytes(peak.in_use) + " (record " + FormatCount(peak.seq) +
         "), in " + Counted(peak.blocks, "block") + "; " + FormatBytes(moments.end.in_use) +
         " at the end";
}

// "Graph executables: about 138 KiB (estimated; 12.5 KiB to 2.35 MiB), in 4 execs (…)".
std::string ExecsText(const ExecMemory& memory, DeviceKind device) {
  std::string text =
      "Graph executables, beyond that: " + ExecRangeText(memory.peak.bytes, memory.source, device) +
      ", in " + Counted(memory.peak.execs, "exec") + " (record " + FormatCount(memory.peak.at) +
      ")";
  if (memory.disturbed_readings > 0) {
    text += "; " + FormatCount(memory.disturbed_readings) + " of " +
            Counted(memory.readings, "reading") + " not used: other memory was taken or given " +
            "back meanwhile";
  }
  return text;
}

// Changes for later launches; empty: none.
std::string ChangesText(const Ran& trace) {
  std::string text;
  const auto count = [&trace](NodeChangeKind kind) {
    return static_cast<uint64_t>(std::ranges::count(trace.node_changes, kind, &NodeChange::what));
  };
  const uint64_t updates = trace.exec_updates.size(), params = count(NodeChangeKind::kParams),
                 switches = count(NodeChangeKind::kEnabled) + count(NodeChangeKind::kDisabled),
                 updatable = count(NodeChangeKind::kUpdatable);
  if (updates > 0) text += ", " + Counted(updates, "exec update");
  if (params > 0) text += ", " + Counted(params, "node parameter change");
  if (switches > 0) text += ", " + Counted(switches, "switch") + " of nodes";
  if (updatable > 0) text += ", " + Counted(updatable, "node") + " updatable from the device";
  return text;
}

// Where an allocator's history was joined: how many captured blocks lack what it or the graph says.
// Nothing of a file of another tool, which has one of the two.
std::string JoinsText(const Report& report) {
  const BlockJoins& joins = report.joins;
  if (report.device == DeviceKind::kImported) return {};
  const uint64_t lacking = joins.captured_blocks - joins.joined;
  if (lacking == 0 || joins.without_stack == joins.captured_blocks) return {};
  std::vector<std::string> why;
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) why.push_back(what + FormatCount(count));
  };
  add(joins.without_stream, "without a stream: ");
  add(joins.without_stack, "without a stack: ");
  add(joins.library_only, "with frames of libraries only: ");
  add(joins.untouched, "touched by no node: ");
  add(joins.unread, "touched, if at all, by nodes that may touch anything: ");
  return FormatCount(joins.joined) + " of " + Counted(joins.captured_blocks, "captured block") +
         " with stream, line, first and last node; " + AndList(why);
}

void RenderHeader(const Report& report, const Ran& trace, const TextOut& out) {
  const std::string program = report.program.empty() ? "trace" : Printable(report.program);
  out.Wrap("", program + ", " + DeviceTitle(trace.process.device, trace.process.device_name));
  const ReportTotals& totals = report.totals;
  const std::string memory =
      Counted(totals.blocks, "block") +
      (trace.segments.empty() ? "" : ", " + Counted(trace.segments.size(), "segment"));
  const std::string counts =
      totals.graphs == 0 ? "no graph, " + memory
                         : Counted(totals.graphs, "graph") + ", " + Counted(totals.nodes, "node") +
                               ", " + Counted(totals.edges, "edge") + ", " + memory + ", " +
                               Counted(totals.launches, "launch");
  out.Wrap("", counts + ChangesText(trace));
  if (report.memory) {
    const MemoryMoments moments = report.moments.value_or(MemoryMoments());
    if (report.memory->asked_bytes > 0) {
      out.Wrap("", ReservedText(*report.memory, moments.peak_reserved));
    }
    if (moments.peak_in_use.in_use > 0) out.Wrap("", InUseText(moments));
  }
  if (report.execs) out.Wrap("", ExecsText(*report.execs, report.device));
  if (const std::string joins = JoinsText(report); !joins.empty()) {
    out.Wrap("", joins);
  }
  if (!report.unknown_memory.empty()) {
    out.Wrap("", "memory unknown: " + Printable(report.unknown_memory));
  }
}

void RenderIncomplete(const Report& report, const TextOut& out) {
  if (report.complete) return;
  out << "\n"
      << out.Inked("Incomplete: what follows holds for the part that was recorded.", Ink::kRed)
      << "\n";
  for (const std::string& reason : report.incomplete_because) {
    out.Wrap("  - ", Printable(reason));
  }
}

void RenderEvidence(const Finding& finding, std::string_view indent, const Ran& trace,
                    const TextOut& out) {
  out.Top(finding.evidence, indent, [&](const Evidence& evidence) {
    const std::string at = StackTitle(trace, evidence.stack);
    out.Wrap(indent, Printable(evidence.text) + (at.empty() ? "" : " (" + at + ")"));
  });
}

void RenderAdvice(const Finding& finding, const TextOut& out) {
  if (finding.assumes != Assumption::kOrder) {
    out.Wrap("  ", "assumes " + AssumptionText(finding.assumes));
  }
  if (!finding.advice.empty()) out.Wrap("  → ", Printable(finding.advice));
}

// The first in full, of the other rows what they say, and their evidence where everything is shown.
void RenderGroup(const FindingGroup& group, const Report& report, const Ran& trace,
                 const TextOut& out) {
  const auto first_of = [&](const FindingRow& row) -> const Finding& {
    return report.findings[row.findings.front()];
  };
  const Finding& first = first_of(group.rows.front());
  const std::string text = Printable(first.message) + " [" + first.check + "]";
  out << "\n"
      << Labelled(first.severity, text + Times(group.rows.front().count()), out.style,
                  WhereText(first));
  RenderEvidence(first, "  - ", trace, out);
  if (group.rows.size() > 1) {
    const std::span<const FindingRow> others = std::span(group.rows).subspan(1);
    out << "  and in " << Counted(others.size(), "other place") << ":\n";
    out.Top(others, "  - ", [&](const FindingRow& row) {
      const std::string at = WhereText(first_of(row));
      out.Wrap("  - ", (at.empty() ? "" : at + ": ") + Printable(first_of(row).message) +
                           Times(row.count()));
      if (out.style.top == 0) RenderEvidence(first_of(row), "      - ", trace, out);
    });
  }
  RenderAdvice(first, out);
}

void RenderFindings(const Report& report, const Ran& trace, const TextOut& out) {
  if (report.findings.empty()) {
    const bool memory_only = report.totals.graphs == 0 && !trace.blocks.empty();
    out << "\n"
        << (memory_only ? Wrapped("",
                                  "No graphs in this file, so no findings; `graphkit FILE` shows "
                                  "what holds its memory.",
                                  out.style)
                        : out.Inked("No findings.", Ink::kGreen) + "\n");
    return;
  }
  std::vector<std::string> counts;
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    const auto count = std::ranges::count(report.findings, severity, &Finding::severity);
    if (count > 0) counts.push_back(Counted(static_cast<uint64_t>(count), SeverityName(severity)));
  }
  std::string missing;
  for (const Finding& finding : report.findings) {
    if (missing.empty()) missing = finding.missing_line;
  }
  out.Paragraph("", out.Inked("Findings: " + AndList(counts), Ink::kBold) +
                        (missing.empty() ? "" : "; " + missing));
  for (const FindingGroup& group : report.groups) RenderGroup(group, report, trace, out);
}

constexpr size_t kBillColumns = 60;

}  // namespace

void RenderText(const Report& report, const Ran& trace, const TextOut& out) {
  RenderHeader(report, trace, out);
  RenderIncomplete(report, out);
  RenderFindings(report, trace, out);
  RenderGraphs(report, trace, out);
}

void RenderBills(const Ran& trace, const std::vector<MemoryBill>& bills, BillBy by,
                 const TextOut& out) {
  for (const MemoryBill& bill : bills) {
    const std::string of = bill.graph ? GraphTitle(trace, bill.graph) : "all graphs";
    const std::string name(NameOf(by));
    out << "\n" << out.Inked("Memory of " + of + " by " + name, Ink::kBold) << "\n";
    const auto row = [&](const BillLine& line) {
      TextRow row = {FormatBytes(line.bytes), FormatCount(line.blocks),
                     FormatBytes(line.never_freed_bytes), FormatBytes(line.reuse_bytes),
                     CutAtEnd(line.name, kBillColumns)};
      if (!bill.graph) row.insert(row.begin(), FormatCount(line.graphs));
      return row;
    };
    TextRow head = {"bytes", "blocks", "never freed", "reuse", name};
    if (!bill.graph) head.insert(head.begin(), "graphs");
    out.TopTable(head, bill.graph ? "rrrrl" : "rrrrrl", "  ", bill.lines, row);
  }
}

void RenderHeld(const std::vector<HeldLine>& lines, BillBy by, const HeldAt& at,
                const TextOut& out) {
  if (lines.empty()) return;
  out << "\n"
      << out.Inked("Memory held " + at.text + " by " + std::string(NameOf(by)), Ink::kBold) << "\n";
  const bool segments = HaveSegments(by);
  const auto row = [segments](const HeldLine& line) {
    TextRow row = {FormatBytes(line.block_bytes), FormatCount(line.blocks),
                   CutAtEnd(line.name, kBillColumns)};
    const TextRow before = {FormatBytes(line.segment_bytes), FormatCount(line.segments)};
    if (segments) row.insert(row.begin(), before.begin(), before.end());
    return row;
  };
  TextRow head = {"in blocks", "blocks", std::string(NameOf(by))};
  if (segments) head.insert(head.begin(), {"in segments", "segments"});
  out.TopTable(head, segments ? "rrrrl" : "rrl", "  ", lines, row);
}

}  // namespace graphkit
