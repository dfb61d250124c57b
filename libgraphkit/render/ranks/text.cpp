#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/render/diff/diff.h"
#include "libgraphkit/render/printable.h"
#include "libgraphkit/render/ranks/ranks.h"

namespace graphkit {

namespace {

constexpr size_t kRankColumns = 40;
constexpr size_t kBarColumns = 20;

uint64_t MostOf(const RankReport& report, size_t figure) {
  return report.spread[figure] ? report.spread[figure]->most : 0;
}

bool UnknownToSome(const RankReport& report, size_t figure) {
  return !report.spread[figure] || report.spread[figure]->unknown > 0;
}

// "peak_live_bytes" → "peak live".
std::string FigureTitle(std::string_view figure) {
  if (figure.ends_with("_bytes")) figure.remove_suffix(6);
  std::string title(figure);
  std::ranges::replace(title, '_', ' ');
  return title;
}

// The end of a path says which rank it is.
std::string NameOf(const RankReport& report, uint32_t rank) {
  const std::string name =
      Printable(std::string_view(report.ranks[rank].trace).substr(report.folder.size()));
  if (name.size() <= kRankColumns) return name;
  return "…" + Printable(std::string_view(name).substr(name.size() - kRankColumns + 1));
}

void RenderHeader(const RankReport& report, const TextStyle& style, std::ostream& out) {
  const RankSummary& worst = report.ranks[report.worst()];
  const auto soft = std::ranges::count(report.ranks, DeviceKind::kSoft, &RankSummary::device);
  std::string text = Counted(report.ranks.size(), "trace");
  if (!report.folder.empty()) text += " in " + Printable(report.folder);
  if (soft > 0) {
    text += static_cast<size_t>(soft) == report.ranks.size()
                ? ", recorded on the software device (simulated)"
                : ", " + FormatCount(static_cast<uint64_t>(soft)) +
                      " of them recorded on the software device (simulated)";
  }
  out << Wrapped("", text, style);
  const FigureSpread asked = report.spread[FigureIndex("asked_bytes")].value_or(FigureSpread());
  const bool equal = asked.most == asked.least;
  std::string most = equal ? "equal in memory" : "the most is in " + NameOf(report, report.worst());
  if (equal && asked.most > 0) {
    most += ": " + FormatBytes(asked.most) + " reserved from the driver each";
  } else if (asked.most > 0) {
    most += ": " + FormatBytes(worst.figures[FigureIndex("asked_bytes")]) +
            " reserved from the driver; the median is " + FormatBytes(asked.median) +
            ", the least " + FormatBytes(asked.least) + " (" + NameOf(report, asked.least_rank) +
            ")";
  }
  out << Wrapped("", most, style);
  for (uint32_t i = 0; i < report.ranks.size(); ++i) {
    if (report.ranks[i].complete()) continue;
    out << Wrapped("",
                   Inked("incomplete", Ink::kRed, style) + ": " + NameOf(report, i) + ": " +
                       Printable(report.ranks[i].incomplete_because.front()),
                   style);
  }
}

// Figures that take the room that there is: those that are nothing in every rank are left out.
std::vector<size_t> TableFigures(const RankReport& report, const TextStyle& style) {
  std::vector<size_t> figures;
  size_t columns = kRankColumns;
  for (const char* name : {"asked_bytes", "peak_live_bytes", "deferred_bytes", "never_freed_bytes",
                           "reuse_bytes", "nodes", "errors", "warnings"}) {
    const size_t figure = FigureIndex(name);
    columns += std::max<size_t>(FigureTitle(name).size(), 8) + 2;
    const bool shown = MostOf(report, figure) > 0 || UnknownToSome(report, figure);
    if (shown && columns <= style.width) figures.push_back(figure);
  }
  return figures;
}

void RenderTable(const RankReport& report, const TextStyle& style, std::ostream& out) {
  const std::vector<size_t> figures = TableFigures(report, style);
  if (figures.empty()) return;
  const bool bars = style.colour && style.width >= 100;
  TextRows rows = {{"trace"}};
  std::string align = "l";
  for (const size_t figure : figures) {
    rows[0].push_back(FigureTitle(kRankFigures[figure]));
    align += 'r';
  }
  const size_t shown = Shown(report.by_memory.size(), style);
  for (size_t i = 0; i < shown; ++i) {
    const RankSummary& rank = report.ranks[report.by_memory[i]];
    rows.push_back({NameOf(report, report.by_memory[i])});
    for (const size_t figure : figures) {
      rows.back().push_back(FigureText(kRankFigures[figure], rank.figures[figure]));
    }
    if (bars) {
      rows.back().push_back(
          Bar(rank.figures[figures[0]].value_or(0), MostOf(report, figures[0]), kBarColumns));
    }
  }
  if (bars) {
    rows[0].push_back("");
    align += 'l';
  }
  out << "\n" << Table(rows, align, "", style);
  out << More(report.by_memory.size(), "", style);
}

void RenderSpread(const RankReport& report, const TextStyle& style, std::ostream& out) {
  TextRows rows = {{"figure", "least", "", "median", "most", ""}};
  std::vector<std::string> same;
  for (size_t i = 0; i < kRankFigureCount; ++i) {
    if (!report.spread[i]) continue;
    const FigureSpread& spread = *report.spread[i];
    const std::string name = kRankFigures[i];
    if (spread.least == spread.most) {
      if (spread.most > 0 && spread.unknown == 0)
        same.push_back(FigureTitle(name) + " " + FigureText(name, spread.most));
      continue;
    }
    rows.push_back({FigureTitle(name), FigureText(name, spread.least),
                    NameOf(report, spread.least_rank), FigureText(name, spread.median),
                    FigureText(name, spread.most), NameOf(report, spread.most_rank)});
  }
  if (rows.size() > 1) {
    out << "\n" << Inked("Spread", Ink::kBold, style) << "\n" << Table(rows, "lrlrrl", "  ", style);
  }
  if (!same.empty()) out << "\n" << Wrapped("The same in all: ", Listed(same), style);
}

void RenderGroup(const RankReport& report, const RankGroup& group, const TextStyle& style,
                 std::ostream& out) {
  const std::string usual = NameOf(report, report.groups.front().ranks.front());
  const bool one = group.ranks.size() == 1;
  out << "\n"
      << Wrapped("",
                 RankNames(report, group.ranks, 6) + (one ? " differs" : " differ") + " from " +
                     usual + ":",
                 style);
  std::vector<std::string> lines;
  for (const std::string& name : group.graphs_missing) lines.push_back(name + " is missing");
  for (const std::string& name : group.graphs_added) lines.push_back(name + " is only here");
  for (const RankFigureChange& change : group.figures) {
    const std::string& figure = change.change.figure;
    lines.push_back((change.graph.empty() ? "" : Printable(change.graph) + ": ") +
                    FigureTitle(figure) + " " + FigureText(figure, change.change.before) + " → " +
                    FigureText(figure, change.change.after));
  }
  for (const FindingChange& change : group.findings) {
    lines.push_back("findings of " + change.check + ": " + CountsText(change));
  }
  if (!group.same_structure) {
    const uint32_t other = report.groups.front().ranks.front(), here = group.ranks.front();
    lines.push_back("nodes or edges differ: graphkit diff " + Printable(report.ranks[other].trace) +
                    " " + Printable(report.ranks[here].trace) + " says which");
  }
  if (lines.empty()) lines.push_back("one of them is incomplete");
  RenderTop(lines, "  - ", style, out,
            [&](const std::string& line) { out << Wrapped("  - ", line, style); });
}

void RenderGroups(const RankReport& report, const TextStyle& style, std::ostream& out) {
  const RankGroup& usual = report.groups.front();
  out << "\n";
  if (report.groups.size() == 1) {
    out << Inked("All are alike.", Ink::kGreen, style) << "\n";
    return;
  }
  out << Wrapped("",
                 FormatCount(usual.ranks.size()) + " of " + FormatCount(report.ranks.size()) +
                     (usual.ranks.size() == 1 ? " is the first of its kind: " : " are alike: ") +
                     RankNames(report, usual.ranks, 6),
                 style);
  RenderTop(std::span(report.groups).subspan(1), "", style, out,
            [&](const RankGroup& group) { RenderGroup(report, group, style, out); });
}

void RenderFinding(const RankReport& report, const SharedFinding& shared, const TextStyle& style,
                   std::ostream& out) {
  std::string text =
      "in " + FormatCount(shared.ranks.size()) + " of " + Counted(report.ranks.size(), "trace");
  if (shared.ranks.size() < report.ranks.size()) {
    text += " (" + RankNames(report, shared.ranks, 4) + ")";
  }
  if (shared.most_bytes > 0) {
    text += ", most in " + NameOf(report, shared.most_rank) + " (" +
            FormatBytes(shared.most_bytes) + ")";
  }
  out << "\n"
      << Labelled(
             shared.finding.severity,
             text + ": " + Printable(shared.finding.message) + " [" + shared.finding.check + "]",
             style);
}

void RenderFindings(const RankReport& report, const TextStyle& style, std::ostream& out) {
  out << "\n";
  if (report.findings.empty()) {
    out << Inked("No findings.", Ink::kGreen, style) << "\n";
    return;
  }
  out << Inked("Findings: " + FormatCount(report.findings.size()) + " kinds", Ink::kBold, style)
      << "\n";
  RenderTop(report.findings, "", style, out,
            [&](const SharedFinding& shared) { RenderFinding(report, shared, style, out); });
}

}  // namespace

std::string RankNames(const RankReport& report, const std::vector<uint32_t>& ranks, size_t most) {
  std::vector<std::string> names;
  const size_t shown = ranks.size() <= most ? ranks.size() : most - 1;
  for (size_t i = 0; i < shown; ++i) names.push_back(NameOf(report, ranks[i]));
  if (shown < ranks.size()) names.push_back(FormatCount(ranks.size() - shown) + " more");
  return Listed(names);
}

void RenderRanksText(const RankReport& report, const TextStyle& style, std::ostream& out) {
  RenderHeader(report, style, out);
  RenderTable(report, style, out);
  RenderSpread(report, style, out);
  RenderGroups(report, style, out);
  RenderFindings(report, style, out);
}

}  // namespace graphkit
