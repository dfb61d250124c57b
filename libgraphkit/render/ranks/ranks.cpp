#include "libgraphkit/render/ranks/ranks.h"

#include "libgraphkit/model/names.h"
#include "libgraphkit/render/figure_text.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

void to_json(Json& json, const FigureSpread& spread) {
  json = Json{{"least", spread.least},          {"least_trace", spread.least_rank},
              {"median", spread.median},        {"most", spread.most},
              {"most_trace", spread.most_rank}, {"sum", spread.sum},
              {"unknown", spread.unknown}};
}

namespace {

constexpr size_t kRankColumns = 40;
constexpr size_t kRankBarColumns = 20;

uint64_t MostOf(const RankReport& report, size_t figure) {
  return report.spread[figure] ? report.spread[figure]->most : 0;
}

bool UnknownToSome(const RankReport& report, size_t figure) {
  return !report.spread[figure] || report.spread[figure]->unknown > 0;
}

// The end of a path says which rank it is.
std::string NameOf(const RankReport& report, uint32_t rank) {
  const std::string name =
      Printable(std::string_view(report.ranks[rank].trace).substr(report.folder.size()));
  if (name.size() <= kRankColumns) return name;
  return "…" + Printable(std::string_view(name).substr(name.size() - kRankColumns + 1));
}

// "rank0.json, rank1.json and 6 more".
std::string RankNames(const RankReport& report, const std::vector<uint32_t>& ranks, size_t most) {
  std::vector<std::string> names;
  const size_t shown = ranks.size() <= most ? ranks.size() : most - 1;
  for (size_t i = 0; i < shown; ++i) names.push_back(NameOf(report, ranks[i]));
  if (shown < ranks.size()) names.push_back(FormatCount(ranks.size() - shown) + " more");
  return AndList(names);
}

void RenderHeader(const RankReport& report, const TextOut& out) {
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
  out.Wrap("", text);
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
  out.Wrap("", most);
  for (uint32_t i = 0; i < report.ranks.size(); ++i) {
    if (report.ranks[i].complete()) continue;
    out.Wrap("", out.Inked("incomplete", Ink::kRed) + ": " + NameOf(report, i) + ": " +
                     Printable(report.ranks[i].incomplete_because.front()));
  }
}

// In few columns.
std::string Head(std::string_view figure) {
  return figure == "reuse_bytes" ? "reuse" : FigureWords(figure);
}

// Figures that take the room that there is: those that are nothing in every rank are left out.
std::vector<size_t> TableFigures(const RankReport& report, const TextStyle& style) {
  std::vector<size_t> figures;
  size_t columns = kRankColumns;
  for (const char* name : {"asked_bytes", "peak_live_bytes", "deferred_bytes", "never_freed_bytes",
                           "reuse_bytes", "nodes", "errors", "warnings"}) {
    const size_t figure = FigureIndex(name);
    columns += std::max<size_t>(Head(name).size(), 8) + 2;
    const bool shown = MostOf(report, figure) > 0 || UnknownToSome(report, figure);
    if (shown && columns <= style.width) figures.push_back(figure);
  }
  return figures;
}

void RenderTable(const RankReport& report, const TextOut& out) {
  const std::vector<size_t> figures = TableFigures(report, out.style);
  if (figures.empty()) return;
  const bool bars = out.style.colour && out.style.width >= 100;
  TextRow head = {"trace"};
  for (const size_t figure : figures) head.push_back(Head(kRankFigures[figure]));
  std::string align = "l" + std::string(figures.size(), 'r');
  if (bars) {
    head.push_back("");
    align += 'l';
  }
  out << "\n";
  out.TopTable(head, align, "", report.by_memory, [&](uint32_t rank) {
    const auto& values = report.ranks[rank].figures;
    TextRow row = {NameOf(report, rank)};
    for (const size_t figure : figures)
      row.push_back(FigureText(kRankFigures[figure], values[figure]));
    const size_t first = figures[0];
    if (bars) row.push_back(Bar(values[first].value_or(0), MostOf(report, first), kRankBarColumns));
    return row;
  });
}

void RenderSpread(const RankReport& report, const TextOut& out) {
  TextRows rows = {{"figure", "least", "", "median", "most", ""}};
  std::vector<std::string> same;
  for (size_t i = 0; i < kRankFigureCount; ++i) {
    if (!report.spread[i]) continue;
    const FigureSpread& spread = *report.spread[i];
    const std::string name = kRankFigures[i];
    if (spread.least == spread.most) {
      if (spread.most > 0 && spread.unknown == 0)
        same.push_back(Head(name) + " " + FigureText(name, spread.most));
      continue;
    }
    rows.push_back({Head(name), FigureText(name, spread.least), NameOf(report, spread.least_rank),
                    FigureText(name, spread.median), FigureText(name, spread.most),
                    NameOf(report, spread.most_rank)});
  }
  if (rows.size() > 1) {
    out << "\n"
        << out.Inked("Spread", Ink::kBold) << "\n"
        << Table(rows, "lrlrrl", "  ", out.style);
  }
  if (!same.empty()) out.Paragraph("The same in all: ", AndList(same));
}

void RenderGroup(const RankReport& report, const RankGroup& group, const TextOut& out) {
  const std::string usual = NameOf(report, report.groups.front().ranks.front());
  const bool one = group.ranks.size() == 1;
  out.Paragraph("", RankNames(report, group.ranks, 6) + (one ? " differs" : " differ") + " from " +
                        usual + ":");
  std::vector<std::string> lines;
  for (const std::string& name : group.graphs_missing) lines.push_back(name + " is missing");
  for (const std::string& name : group.graphs_added) lines.push_back(name + " is only here");
  for (const RankFigureChange& change : group.figures) {
    const std::string& figure = change.change.figure;
    lines.push_back((change.graph.empty() ? "" : Printable(change.graph) + ": ") +
                    FigureWords(figure) + " " + FigureText(figure, change.change.before) + " → " +
                    FigureText(figure, change.change.after));
  }
  for (const FindingChange& change : group.findings) {
    lines.push_back(change.changed() ? "findings of " + change.check + ": " + CountsText(change)
                                     : "other findings of " + change.check);
  }
  if (!group.same_structure) {
    const uint32_t other = report.groups.front().ranks.front(), here = group.ranks.front();
    lines.push_back("nodes or edges differ: graphkit diff " + Printable(report.ranks[other].trace) +
                    " " + Printable(report.ranks[here].trace) + " says which");
  }
  if (lines.empty()) lines.push_back("one of them is incomplete");
  out.Top(lines, "  - ", [&](const std::string& line) { out.Wrap("  - ", line); });
}

void RenderGroups(const RankReport& report, const TextOut& out) {
  const RankGroup& usual = report.groups.front();
  out << "\n";
  if (report.groups.size() == 1) {
    out << out.Inked("All are alike.", Ink::kGreen) << "\n";
    return;
  }
  out.Wrap("", FormatCount(usual.ranks.size()) + " of " + FormatCount(report.ranks.size()) +
                   (usual.ranks.size() == 1 ? " is the first of its kind: " : " are alike: ") +
                   RankNames(report, usual.ranks, 6));
  out.Top(std::span(report.groups).subspan(1), "",
          [&](const RankGroup& group) { RenderGroup(report, group, out); });
}

void RenderFinding(const RankReport& report, const SharedFinding& shared, const TextOut& out) {
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
             out.style);
}

void RenderFindings(const RankReport& report, const TextOut& out) {
  out << "\n";
  if (report.findings.empty()) {
    out << out.Inked("No findings.", Ink::kGreen) << "\n";
    return;
  }
  out << out.Inked("Findings: " + FormatCount(report.findings.size()) + " kinds", Ink::kBold)
      << "\n";
  out.Top(report.findings, "",
          [&](const SharedFinding& shared) { RenderFinding(report, shared, out); });
}

// Figures under their names.
template <typename Names, typename Figures>
void AddFigures(const Names& names, const Figures& figures, Json& json) {
  for (size_t i = 0; i < figures.size(); ++i) json[names[i]] = figures[i];
}

Json RankGraphJson(const RankGraph& graph) {
  Json json{{"name", graph.name}, {"ordinal", graph.ordinal}};
  AddFigures(kRankGraphFigures, graph.figures, json);
  return json;
}

Json RankJson(const RankSummary& rank) {
  Json figures;
  AddFigures(kRankFigures, rank.figures, figures);
  return Json{{"trace", rank.trace},
              {"program", rank.program},
              {"device", NameOf(rank.device)},
              {"complete", rank.complete()},
              {"incomplete_because", rank.incomplete_because},
              {"figures", std::move(figures)},
              {"graphs", ListJson(rank.graphs, RankGraphJson)}};
}

Json FindingChangeJson(const FindingChange& change) {
  return Json{{"check", change.check},       {"severity", change.severity},
              {"message", change.message},   {"count_usual", change.count_before},
              {"count", change.count_after}, {"bytes_usual", change.bytes_before},
              {"bytes", change.bytes_after}};
}

Json FigureChangeJson(const RankFigureChange& change) {
  return Json{{"graph", NullIfEmpty(change.graph)},
              {"figure", change.change.figure},
              {"usual", change.change.before},
              {"here", change.change.after}};
}

Json RankGroupJson(const RankGroup& group) {
  Json json{{"traces", group.ranks}};
  GRAPHKIT_ADD_MEMBERS(json, group, same_structure, graphs_missing, graphs_added);
  json["figures"] = ListJson(group.figures, FigureChangeJson);
  json["findings"] = ListJson(group.findings, FindingChangeJson);
  return json;
}

Json SharedJson(const SharedFinding& shared) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, shared.finding, check, severity, message, fingerprint, count, bytes);
  json["traces"] = shared.ranks;
  json["most_trace"] = shared.most_rank;
  json["most_bytes"] = shared.most_bytes;
  return json;
}

}  // namespace

void RenderRanksText(const RankReport& report, const TextOut& out) {
  RenderHeader(report, out);
  RenderTable(report, out);
  RenderSpread(report, out);
  RenderGroups(report, out);
  RenderFindings(report, out);
}

void RenderRanksJson(const RankReport& report, std::ostream& out) {
  Json spread;
  AddFigures(kRankFigures, report.spread, spread);
  const bool complete = std::ranges::all_of(report.ranks, &RankSummary::complete);
  WriteDocument("graphkit-ranks",
                Json{{"complete", complete},
                     {"worst", report.worst()},
                     {"folder", report.folder},
                     {"traces", ListJson(report.ranks, RankJson)},
                     {"spread", std::move(spread)},
                     {"groups", ListJson(report.groups, RankGroupJson)},
                     {"findings", ListJson(report.findings, SharedJson)}},
                out, 1);
}

}  // namespace graphkit
