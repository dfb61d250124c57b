#include "tools/graphkit/attribute/render.h"

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

GRAPHKIT_JSON_OF(WorkTime, count, ns)
GRAPHKIT_JSON_OF(AttributedSize, size, source, replays, matched)

namespace {

constexpr size_t kAttributedColumns = 56;

constexpr std::array<const char*, kMatchedByCount> kMatchedWords = {"nothing", "id", "name",
                                                                    "count"};
constexpr std::array<const char*, kMatchedByCount> kMatchedTexts = {
    "", "by node id", "by name and order", "by order alone, as the capture names no kernels"};
constexpr std::array<const char*, kNotMatchedCount> kNotMatchedWords = {
    "no_capture", "several_captures", "ambiguous", "other_name"};
constexpr std::array<const char*, kNotMatchedCount> kNotMatchedTexts = {
    "no capture has this sequence of kernels", "several captures have this sequence of kernels",
    "kernels near it are missing, repeated or moved", "the node id belongs to another kernel"};

struct TableText {
  AttributedTable table;
  const char* word;
  std::vector<const char*> head;
};
const std::array<TableText, kAttributedTables> kAttributedTableTexts = {{
    {AttributedTable::kModule, "modules", {"module"}},
    {AttributedTable::kLine, "lines", {"line"}},
    {AttributedTable::kOperator, "operators", {"operator", "shapes"}},
    {AttributedTable::kCollective, "collectives", {"collective"}},
    {AttributedTable::kKernel, "kernels", {"kernel"}},
    {AttributedTable::kAll,
     "rows",
     {"module", "line", "operator", "shapes", "collective", "kernel"}},
}};

std::string ShareOfTime(const WorkTime& part, const WorkTime& all) {
  return all.ns == 0 ? "-"
                     : FormatPercent(static_cast<double>(part.ns) / static_cast<double>(all.ns));
}

std::string DurationText(uint64_t ns) {
  const auto time = static_cast<double>(ns);
  return ns < 1'000'000 ? Formatted("%.1f us", time / 1e3) : Formatted("%.2f ms", time / 1e6);
}

std::string EachTime(uint64_t ns, uint64_t replays) {
  return DurationText(ns / std::max<uint64_t>(1, replays));
}

// Sizes that were replayed: their indices.
std::vector<size_t> ReplayedSizes(const Attribution& attribution) {
  std::vector<size_t> sizes;
  for (size_t i = 0; i < attribution.sizes.size(); ++i) {
    if (attribution.sizes[i].matched.count > 0) sizes.push_back(i);
  }
  return sizes;
}

// A cell of a column: the end of a long path, the short name of a kernel, the beginning of others.
std::string AttributedCell(const std::string& text, std::string_view column) {
  if (text.empty()) return "-";
  if (column == "kernel") return ShortName(Demangle(text), kAttributedColumns);
  const std::string name = Printable(text);
  const bool path = column == "module" || column == "line";
  if (!path || name.size() <= kAttributedColumns) return Ellipsize(name, kAttributedColumns);
  return "…" + name.substr(name.size() - kAttributedColumns + 1);
}

// Its head, and a row for each of a table's rows.
std::pair<TextRow, std::string> AttributedHead(const Attribution& attribution,
                                               const TableText& table) {
  TextRow head(table.head.begin(), table.head.end());
  std::string align(head.size(), 'l');
  for (const size_t size : ReplayedSizes(attribution)) {
    const bool alone = ReplayedSizes(attribution).size() == 1;
    head.push_back(alone ? "time a replay" : AttributedSizeName(attribution.sizes[size]));
  }
  head.insert(head.end(), {"share", "kernels", "bytes"});
  return {head, align + std::string(head.size() - align.size(), 'r')};
}

TextRow AttributedRowText(const Attribution& attribution, const TableText& table,
                          const AttributedRow& row) {
  TextRow cells;
  for (size_t i = 0; i < row.key.size(); ++i)
    cells.push_back(AttributedCell(row.key[i], table.head[i]));
  uint64_t kernels = 0;
  for (const size_t size : ReplayedSizes(attribution)) {
    const uint64_t replays = attribution.sizes[size].replays;
    const WorkTime& time = row.by_size[size];
    cells.push_back(time.count == 0 ? "-" : EachTime(time.ns, replays));
    kernels += time.count;
  }
  cells.push_back(ShareOfTime(row.total, attribution.all()));
  cells.push_back(FormatCount(kernels));
  cells.push_back(row.bytes ? FormatBytes(*row.bytes) : "-");
  return cells;
}

// True for a table with nothing to show: all its rows are of unknown places.
bool IsBlank(const std::vector<AttributedRow>& rows, AttributedTable table) {
  const auto blank = [](const AttributedRow& row) { return row.key.front().empty(); };
  return table == AttributedTable::kAll || std::ranges::all_of(rows, blank);
}

}  // namespace

std::string AttributedSizeName(const AttributedSize& size) {
  return size.size != 0 ? "batch " + std::to_string(size.size) : size.source;
}

std::vector<std::string> AttributedSummary(const Attribution& attribution) {
  const WorkTime all = attribution.all();
  WorkTime matched = all;
  matched.count -= attribution.matched[0].count;
  matched.ns -= attribution.matched[0].ns;
  std::vector<std::string> lines = {"Graph kernels: " + FormatCount(all.count) + " in " +
                                    Counted(attribution.launches, "graph launch") + ", " +
                                    DurationText(all.ns) + "; attributed " +
                                    ShareOfTime(matched, all) + " of the time, " +
                                    ShareOfTime(attribution.with_line, all) + " to a line, " +
                                    ShareOfTime(attribution.with_module, all) + " to a module"};
  for (size_t i = 1; i < kMatchedByCount; ++i) {
    const WorkTime& time = attribution.matched[i];
    if (time.count > 0) lines.push_back(FormatCount(time.count) + " " + kMatchedTexts[i]);
  }
  for (size_t i = 0; i < kNotMatchedCount; ++i) {
    const WorkTime& time = attribution.not_matched[i];
    if (time.count == 0) continue;
    lines.push_back(FormatCount(time.count) + " not attributed (" + DurationText(time.ns) +
                    "): " + kNotMatchedTexts[i]);
  }
  if (attribution.eager > 0) {
    lines.push_back(FormatCount(attribution.eager) + " outside of graph launches aren't counted");
  }
  for (const size_t i : ReplayedSizes(attribution)) {
    const AttributedSize& size = attribution.sizes[i];
    lines.push_back(AttributedSizeName(size) + ": " + Counted(size.replays, "replay") +
                    ", attributed in each: " + EachTime(size.matched.ns, size.replays));
  }
  return lines;
}

void RenderAttributionText(const Attribution& attribution, const TextOut& out) {
  const std::vector<std::string> summary = AttributedSummary(attribution);
  out.Wrap("", summary.front());
  for (size_t i = 1; i < summary.size(); ++i) out.Wrap("  ", summary[i]);
  for (const TableText& table : kAttributedTableTexts) {
    const auto& rows = attribution.tables[static_cast<size_t>(table.table)];
    if (IsBlank(rows, table.table)) continue;
    const auto [head, align] = AttributedHead(attribution, table);
    out << "\n";
    out.TopTable(head, align, "  ", rows, [&](const AttributedRow& row) {
      return AttributedRowText(attribution, table, row);
    });
  }
}

void RenderAttributionMarkdown(const Attribution& attribution, const TextOut& out) {
  for (const std::string& line : AttributedSummary(attribution)) out << "* " << line << "\n";
  const auto line = [&](const TextRow& cells) {
    for (const std::string& cell : cells) out << "| " << Escaped(cell, {{'|', "\\|"}}) << " ";
    out << "|\n";
  };
  for (const TableText& table : kAttributedTableTexts) {
    const auto& rows = attribution.tables[static_cast<size_t>(table.table)];
    if (IsBlank(rows, table.table)) continue;
    const auto [head, align] = AttributedHead(attribution, table);
    out << "\n";
    line(head);
    for (const char side : align) out << (side == 'l' ? "|---" : "|--:");
    out << "|\n";
    out.Top(rows, "",
            [&](const AttributedRow& row) { line(AttributedRowText(attribution, table, row)); });
  }
}

void RenderAttributionJson(const Attribution& attribution, std::ostream& out) {
  const auto counted = [](const auto& times, const auto& words) {
    Json json = Json::object();
    for (size_t i = 0; i < times.size(); ++i) json[words[i]] = times[i];
    return json;
  };
  Json json{{"launches", attribution.launches},
            {"eager", attribution.eager},
            {"total", attribution.all()},
            {"matched_by", counted(attribution.matched, kMatchedWords)},
            {"not_matched", counted(attribution.not_matched, kNotMatchedWords)},
            {"with_line", attribution.with_line},
            {"with_module", attribution.with_module},
            {"sizes", attribution.sizes}};
  for (const TableText& table : kAttributedTableTexts) {
    const auto row_json = [&](const AttributedRow& row) {
      Json object;
      for (size_t i = 0; i < row.key.size(); ++i) object[table.head[i]] = row.key[i];
      object["total"] = row.total;
      object["by_size"] = row.by_size;
      object["bytes"] = row.bytes;
      return object;
    };
    json[table.word] = ListJson(attribution.tables[static_cast<size_t>(table.table)], row_json);
  }
  WriteDocument("graphkit-attribute", std::move(json), out);
}

std::string AttributedArguments(const Profile& profile, uint32_t captured) {
  const ProfilePlace& place = profile.places[profile.captured[captured].place];
  std::string text;
  for (const auto& [name, id] : {std::pair{"module", place.module},
                                 {"line", place.line},
                                 {"operator", place.op},
                                 {"shapes", place.shapes},
                                 {"collective", place.collective}}) {
    if (id.valid()) text += Dump(name) + ": " + Dump(std::string(profile[id])) + ", ";
  }
  return text;
}

}  // namespace graphkit
