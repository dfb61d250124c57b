#include "libgraphkit/render/explain/explain.h"

#include <algorithm>
#include <sstream>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/finding_text.h"

namespace graphkit {

GRAPHKIT_JSON_OF(NextCommand, command, shows)
GRAPHKIT_JSON_OF(OutOfMemoryEvent, event, asked, free_on_device)
GRAPHKIT_JSON_OF(MemoryRemark, kind, bytes, text, advice)

namespace {

constexpr size_t kMostOperations = 4;

struct Level {
  std::string label;
  Bytes bytes = 0;
  std::string remark;
};

// Levels of memory as bars; `most` is as long as they get.
void RenderLevels(const std::vector<Level>& levels, const TextOut& out) {
  const size_t columns = out.style.width >= 100 ? 40 : out.style.width >= 80 ? 24 : 12;
  Bytes most = 0;
  for (const Level& level : levels) most = std::max(most, level.bytes);
  TextRows rows;
  for (const Level& level : levels) {
    rows.push_back(
        {level.label, FormatBytes(level.bytes), Bar(level.bytes, most, columns), level.remark});
  }
  out << Table(rows, "lrll", "  ", out.style);
}

std::string SegmentsText(const MemoryAt& at) {
  return at.segments == 0 ? "" : Counted(at.segments, "segment");
}

std::vector<Level> LevelsOf(const Ran& trace, const MemoryAccount& account) {
  const MemoryMoments& moments = account.moments;
  const bool known = moments.end.reserved >= moments.end.in_use;
  const bool same = moments.end.reserved == moments.peak_reserved.reserved;
  std::string idle = known ? FormatBytes(moments.end.idle()) + " reserved and idle" : "";
  if (known && moments.end.reserved == 0) {
    idle = "nothing reserved";
  } else if (known && !same) {
    idle += ", of " + FormatBytes(moments.end.reserved);
  }
  if (!account.has_history) {
    return {{"reserved", moments.end.reserved, SegmentsText(moments.end)},
            {"in use", moments.end.in_use, idle}};
  }
  std::vector<Level> levels;
  if (moments.peak_reserved.reserved > 0) {
    levels.push_back(
        {"peak reserved", moments.peak_reserved.reserved, SegmentsText(moments.peak_reserved)});
  }
  levels.push_back({"peak in use", moments.peak_in_use.in_use, PeakText(trace, account)});
  levels.push_back({"in use at end", moments.end.in_use, idle});
  return levels;
}

constexpr size_t kFunctionColumns = 40;

// The operators; without one the function.
std::string OperationsText(const HeldGroup& group) {
  if (group.operations.empty() && group.function != "<module>") {
    return ShortName(Demangle(group.function), kFunctionColumns);
  }
  std::string text;
  const size_t shown = std::min(group.operations.size(), kMostOperations);
  for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + group.operations[i];
  return shown < group.operations.size() ? text + ", …" : text;
}

void RenderStack(const Ran& trace, StackId stack, std::ostream& out) {
  if (!stack) return;
  const Slice run = trace.stacks[stack.index()].frames;
  for (uint32_t i = run.first; i < run.first + run.count; ++i) {
    const std::string place = PlaceOfFrame(trace, i);
    out << "                 " << Printable(place) << " "
        << Demangle(trace[trace.stack_frames[i].function]) << "\n";
  }
}

std::string Percent(Bytes part, Bytes whole) {
  return FormatPercent(whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
}

std::string HoldersHeading(const Ran& trace, const MemoryAccount& account) {
  const bool lines = !trace.stacks.empty() || trace.process.device == DeviceKind::kImported;
  const std::string bytes =
      " (" + FormatBytes(account.told.in_use) + (lines ? ")" : "; recorded without call stacks)");
  if (account.out_of_memory) return "HELD WHEN MEMORY RAN OUT" + bytes;
  return (account.has_history ? "HELD AT THE PEAK" : "HELD AT THE END") + bytes;
}

// "<bytes>  <title>     <share>  <blocks>", aligned under the heading.
void RenderHolders(const Ran& trace, const MemoryAccount& account, bool stacks,
                   const TextOut& out) {
  constexpr size_t kBytes = 11, kShare = 9, kBlocks = 8;
  const size_t room =
      out.style.width - std::min<size_t>(out.style.width, kBytes + kShare + kBlocks + 4);
  const size_t width = std::clamp<size_t>(room, 24, 70);
  out << "\n  "
      << out.Inked(Padded(HoldersHeading(trace, account), kBytes + 2 + width, false), Ink::kBold)
      << Padded("share", kShare, true) << Padded("blocks", kBlocks, true) << "\n";
  const size_t shown = out.Shown(account.holders.size());
  Bytes left = account.told.in_use;
  for (size_t i = 0; i < shown; ++i) {
    const HeldGroup& group = account.holders[i];
    left -= std::min(left, group.bytes);
    out << "  " << Padded(FormatBytes(group.bytes), kBytes, true) << "  "
        << Padded(CutAtEnd(HolderTitle(trace, account, group), width), width, false)
        << Padded(Percent(group.bytes, account.told.in_use), kShare, true)
        << Padded(FormatCount(group.blocks), kBlocks, true) << "\n";
    if (stacks) RenderStack(trace, group.stack, out);
  }
  if (shown < account.holders.size()) {
    out << "  " << std::string(kBytes - 3, ' ') << "…    "
        << Counted(account.holders.size() - shown, "more line") << ", " << FormatBytes(left)
        << " (--top 0 shows all)\n";
  }
}

void RenderRemarks(const MemoryAccount& account, const TextOut& out) {
  if (account.remarks.empty()) return;
  out << "\n  " << out.Inked("WORTH A LOOK", Ink::kBold) << "\n";
  for (size_t i = 0; i < account.remarks.size(); ++i) {
    const MemoryRemark& remark = account.remarks[i];
    const bool urgent = remark.kind == MemoryRemark::Kind::kOutOfMemory;
    const std::string number = "   " + std::to_string(i + 1) + " ";
    const std::string wrapped = Wrapped(number, Printable(remark.text), out.style);
    out << number
        << out.Inked(wrapped.substr(number.size(), wrapped.size() - number.size() - 1),
                     urgent ? Ink::kRed : Ink::kPlain)
        << "\n";
    if (!remark.advice.empty()) out.Wrap("     → ", Printable(remark.advice));
  }
}

// Beside the device with the most in use: a line each.
void RenderOtherDevices(const std::vector<MemoryAccount>& memory, std::ostream& out) {
  for (size_t i = 1; i < memory.size(); ++i) {
    const MemoryAccount& account = memory[i];
    out << (i == 1 ? "\n" : "") << "  device " << account.device << ": peak reserved "
        << FormatBytes(account.moments.peak_reserved.reserved) << ", peak in use "
        << FormatBytes(account.moments.peak_in_use.in_use) << ", in use at end "
        << FormatBytes(account.moments.end.in_use) << "\n";
  }
}

// How much was reserved and in use, and who held it; nothing where there is no memory.
void RenderMemory(const std::vector<MemoryAccount>& memory, const Ran& trace, bool stacks,
                  const TextOut& out) {
  if (memory.empty() || memory.front().moments.peak_in_use.in_use == 0) return;
  const MemoryAccount& account = memory.front();
  out << "\n";
  if (memory.size() > 1) out << "  device " << account.device << ", the most in use\n";
  RenderLevels(LevelsOf(trace, account), out);
  RenderOtherDevices(memory, out);
  RenderHolders(trace, account, stacks, out);
}

constexpr size_t kMostGraphs = 5;
constexpr size_t kMostFindings = 4;

void RenderHead(const Explanation& explanation, const TextOut& out) {
  std::string line = explanation.about.what;
  for (const std::string& fact : explanation.about.facts) line += " · " + fact;
  const std::string wrapped = Wrapped("", line, out.style);
  const size_t title = std::min(explanation.about.what.size(), wrapped.find('\n'));
  out << out.Inked(wrapped.substr(0, title), Ink::kBold) << wrapped.substr(title);
}

// One line on what was found: "1 error and 2 warnings", "no error, no warning; 3 notes"; and what
// wasn't looked at.
std::string VerdictText(const Report& report, const Ran& trace) {
  const auto [notes, warnings, errors] = report.totals.findings;
  const std::string and_notes = notes == 0 ? "" : "; " + Counted(notes, "note");
  const bool all = trace.process.all_work || report.device == DeviceKind::kImported;
  const char* part = " in graphs; work on other memory wasn't recorded (trace --scope all)";
  if (errors + warnings == 0)
    return "no error, no warning" + std::string(all ? "" : part) + and_notes;
  std::vector<std::string> parts;
  if (errors > 0) parts.push_back(Counted(errors, "error"));
  if (warnings > 0) parts.push_back(Counted(warnings, "warning"));
  return AndList(parts) + and_notes;
}

// "step.cu:30 (×2), step.cu:41 and 3 more": where else, of the group's other rows.
std::string ElsewhereText(const FindingGroup& group, const Report& report) {
  constexpr size_t kNamed = 4;
  std::vector<std::string> places;
  for (size_t i = 1; i < group.rows.size(); ++i) {
    const FindingRow& row = group.rows[i];
    const std::string where = WhereText(report.findings[row.findings.front()]);
    if (!where.empty() && places.size() < kNamed) places.push_back(where + Times(row.count()));
  }
  const size_t more = group.rows.size() - 1 - places.size();
  if (places.empty()) return "in " + Counted(more, "other place");
  if (more > 0) places.push_back(FormatCount(more) + " more");
  return "at " + AndList(places);
}

void RenderGroup(const FindingGroup& group, const Report& report, const std::string& number,
                 const TextOut& out) {
  const FindingRow& row = group.rows.front();
  const Finding& finding = report.findings[row.findings.front()];
  out.Wrap(number, RowText(finding, row.count(), WhereText(finding)));
  const bool note = finding.severity == Severity::kNote;
  const auto sides = note ? std::vector<std::string>() : SideTexts(finding);
  for (const std::string& side : sides) out.Wrap("       ", side);
  if (group.rows.size() > 1) out.Wrap("     ", "also " + ElsewhereText(group, report));
  if (!finding.advice.empty() && !note) out.Wrap("     → ", Printable(finding.advice));
}

void RenderFindingRows(const Report& report, const Ran& trace, const TextOut& out) {
  const std::string verdict = Wrapped("  FINDINGS  ", VerdictText(report, trace), out.style);
  out << "\n  " << out.Inked("FINDINGS", Ink::kBold) << verdict.substr(10);
  const size_t shown = std::min(report.groups.size(), kMostFindings);
  std::string missing;
  for (size_t i = 0; i < shown; ++i) {
    RenderGroup(report.groups[i], report, "   " + std::to_string(i + 1) + " ", out);
    const FindingRow& row = report.groups[i].rows.front();
    if (missing.empty()) missing = report.findings[row.findings.front()].missing_line;
  }
  if (!missing.empty()) out.Wrap("     ", missing);
  if (shown < report.groups.size()) {
    out << "     … " << Counted(report.groups.size() - shown, "more kind")
        << " (graphkit analyze)\n";
  }
}

// Memory that graphs have of their own, those of most bytes first.
void RenderGraphs(const Report& report, const TextOut& out) {
  std::vector<const GraphSummary*> graphs;
  size_t destroyed = 0;
  for (const GraphSummary& graph : report.graphs) {
    if (graph.blocks > 0 && !graph.destroyed) graphs.push_back(&graph);
    destroyed += graph.blocks > 0 && graph.destroyed;
  }
  if (graphs.empty() || !report.unknown_memory.empty()) return;
  std::ranges::stable_sort(graphs, std::ranges::greater(), &GraphSummary::peak_live_bytes);
  const bool pools = std::ranges::all_of(graphs, [](const GraphSummary* graph) {
    return graph->name.starts_with("private pool (");  // of a snapshot
  });
  TextRows rows = {{pools ? "pool" : "graph", "nodes", "launches", "peak live", "deferred",
                    "never freed", "lower bound"}};
  const size_t shown = std::min(graphs.size(), kMostGraphs);
  for (size_t i = 0; i < shown; ++i) {
    const GraphSummary& graph = *graphs[i];
    rows.push_back({pools ? graph.name : GraphTitle(graph.graph, graph.name),
                    FormatCount(graph.nodes), FormatCount(graph.launches),
                    FormatBytes(graph.peak_live_bytes), FormatBytes(graph.deferred_bytes),
                    FormatBytes(graph.never_freed_bytes), FormatBytes(graph.lower_bound_bytes)});
  }
  out << "\n  "
      << out.Inked(pools ? "WHAT THE PRIVATE POOLS KEEP" : "WHAT THE GRAPHS KEEP", Ink::kBold)
      << "\n"
      << Table(rows, "lrrrrrr", "    ", out.style);
  if (shown < graphs.size()) {
    out << "    … " << Counted(graphs.size() - shown, pools ? "more pool" : "more graph")
        << " (graphkit analyze)\n";
  }
  if (destroyed > 0) {
    out << "    … " << Counted(destroyed, "destroyed graph") << " with memory, now freed\n";
  }
}

void RenderNext(const std::vector<NextCommand>& next, const TextOut& out) {
  if (next.empty()) return;
  size_t width = 0;
  for (const NextCommand& command : next) width = std::max(width, DisplayWidth(command.command));
  out << "\n  " << out.Inked("Next", Ink::kBold) << "\n";
  for (const NextCommand& command : next) {
    const std::string space(width - DisplayWidth(command.command) + 4, ' ');
    const bool fits = 4 + width + 4 + DisplayWidth(command.shows) <= out.style.width;
    out << "    " << command.command << (fits ? space : "\n        ") << command.shows << "\n";
  }
}

Json IdleJson(const IdleMemory& idle) {
  Json json{{"bytes", idle.bytes()}};
  GRAPHKIT_ADD_MEMBERS(json, idle, empty_segments, empty_bytes, gaps, gap_bytes, largest_bytes,
                       private_bytes);
  return json;
}

Json DeviceJson(const MemoryAccount& account) {
  Json json{{"device", account.device},
            {"peak_event", account.peak_event},
            {"idle_at_end", IdleJson(account.idle_at_end)},
            {"out_of_memory", account.out_of_memory ? Json(*account.out_of_memory) : Json(nullptr)},
            {"holders_at", account.out_of_memory ? "out-of-memory" : "peak"},
            {"holders", ListJson(account.holders, HolderJson)},
            {"worth_a_look", account.remarks}};
  json.update(Json(account.moments));
  return json;
}

// A row for each place.
Json FindingsJson(const Report& report) {
  Json rows = Json::array();
  for (const FindingGroup& group : report.groups) {
    for (const FindingRow& row : group.rows) {
      const Finding& first = report.findings[row.findings.front()];
      Json& json = rows.emplace_back(
          Json{{"check", first.check}, {"severity", first.severity}, {"count", row.count()}});
      GRAPHKIT_ADD_MEMBERS(json, first, message, advice, bytes);
      AddPlaces(first, json);
    }
  }
  return rows;
}

Json GraphJson(const GraphSummary& graph) {
  Json json{{"id", graph.graph}};
  GRAPHKIT_ADD_MEMBERS(json, graph, name, nodes, launches, destroyed, blocks, peak_live_bytes,
                       deferred_bytes, never_freed_bytes, lower_bound_bytes);
  return json;
}

}  // namespace

std::string PeakText(const Ran& trace, const MemoryAccount& account) {
  std::string text = account.peak_event ? "event " + FormatCount(*account.peak_event)
                                        : "record " + FormatCount(account.moments.peak_in_use.seq);
  const std::string title = MemoryTitle(trace, account.peak_stack);
  return title.empty() ? text : text + ", at " + Printable(title);
}

std::string HolderTitle(const Ran& trace, const MemoryAccount& account, const HeldGroup& group) {
  switch (group.kind) {
    case HeldGroup::Kind::kPool:
      return PoolTitle(trace, group.pool) + ", no call stacks";
    case HeldGroup::Kind::kBeforeRecording:
      return kBeforeRecording;
    case HeldGroup::Kind::kNoStack:
      return account.python_only
                 ? std::string(kNoStack) + " (threads of autograd have no Python frames)"
                 : kNoStack;
    case HeldGroup::Kind::kOperation:
      return Printable(group.place) +
             (LibraryMemory(trace, group.stack).empty() ? " (no Python frame)" : "");
    case HeldGroup::Kind::kLine:
      break;
  }
  std::string title = group.place;
  const std::string operations = OperationsText(group);
  const bool backward = group.role == MemoryRole::kBackward;
  const std::string_view role = backward ? "of a backward" : RoleText(group.role);
  if (!operations.empty()) title += "  " + operations;
  if (!role.empty()) title += "  (" + std::string(role) + ")";
  return Printable(title);
}

void RenderExplanation(const Explanation& explanation, const Ran& trace, bool stacks,
                       const TextOut& out) {
  std::ostringstream text;
  const TextOut to{out.style, text};
  RenderHead(explanation, to);
  if (!explanation.unknown_memory.empty()) {
    to.Wrap("", "memory unknown: " + Printable(explanation.unknown_memory));
  }
  if (explanation.report != nullptr) RenderFindingRows(*explanation.report, trace, to);
  RenderMemory(explanation.memory, trace, stacks, to);
  if (explanation.report != nullptr) RenderGraphs(*explanation.report, to);
  if (!explanation.memory.empty()) RenderRemarks(explanation.memory.front(), to);
  RenderNext(explanation.about.next, to);
  out << (out.style.ascii ? Ascii(text.str()) : text.str());
}

Json HolderJson(const HeldGroup& group) {
  static constexpr std::array<const char*, 5> kKinds = {"line", "operation", "no-stack",
                                                        "before-recording", "pool"};
  const bool line = group.kind == HeldGroup::Kind::kLine;
  return Json{{"kind", kKinds[static_cast<size_t>(group.kind)]},
              {"file", line ? Json(group.file) : Json(nullptr)},
              {"line", line ? Json(group.line) : Json(nullptr)},
              {"place", group.place},
              {"function", ShortName(Demangle(group.function), kFunctionColumns)},
              {"pool", group.pool},
              {"operations", group.operations},
              {"role", NullIfEmpty(RoleText(group.role))},
              {"bytes", group.bytes},
              {"blocks", group.blocks}};
}

Json MemoryJson(const std::vector<MemoryAccount>& memory) { return ListJson(memory, DeviceJson); }

void RenderExplanationJson(const Explanation& explanation, std::ostream& out) {
  const Report none, &report = explanation.report ? *explanation.report : none;
  WriteDocument("graphkit-explain",
                Json{{"file", explanation.file},
                     {"kind", explanation.about.kind},
                     {"what", explanation.about.what},
                     {"facts", explanation.about.facts},
                     {"unknown_memory", NullIfEmpty(explanation.unknown_memory)},
                     {"devices", ListJson(explanation.memory, DeviceJson)},
                     {"findings", FindingsJson(report)},
                     {"graphs", ListJson(report.graphs, GraphJson)},
                     {"next", explanation.about.next}},
                out);
}

}  // namespace graphkit
