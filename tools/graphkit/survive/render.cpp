#include "tools/graphkit/survive/render.h"

#include <string>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {
namespace {

struct ClassText {
  ContentClass what;
  const char* fate;  // of the class, and of those below it without one
  const char* means;
};
constexpr ClassText kClassTexts[] = {
    {ContentClass::kScratch, "may be dropped", "each launch writes it before it reads it"},
    {ContentClass::kInput, "", "the program rewrites it before each launch that reads it"},
    {ContentClass::kConstant, "must come back",
     "launches read it, nothing writes it after the first"},
    {ContentClass::kState, "", "launches read it, and launches or the program write it"},
    {ContentClass::kUnknown, "", "not known to be any of these: keep its content"},
    {ContentClass::kOutput, "may be dropped later", "once the program has read it"},
};

std::string WhyText(const ContentRange& range, const Trace& trace) {
  switch (range.why) {
    case UnknownContent::kNone:
      break;
    case UnknownContent::kKernel:
      return Say(trace, "{} may read it, write it, or both",
                 range.reader.valid() ? range.reader : range.writer);
    case UnknownContent::kWork:
      return Say(trace, "{} outside of graphs may write it",
                 NameOf(trace, trace.works[range.work]));
    case UnknownContent::kUnseen:
      return "not all work outside of graphs is recorded (graphkit trace --scope all)";
    case UnknownContent::kAnything:
      return "kernels whose arguments aren't known may touch it";
  }
  if (range.what != ContentClass::kState || !range.writer.valid()) return "";
  const std::string line = StackTitle(trace, trace[range.writer].stack);
  return Say(trace, "written by {}", range.writer) + (line.empty() ? "" : " at " + line);
}

std::string RowText(const ContentRow& row, const Trace& trace) {
  std::string text = FormatBytes(row.bytes) + " in " + Counted(row.ranges, "range") + ", " +
                     (row.pool.valid() ? PoolTitle(trace, row.pool) : "no pool");
  if (!row.line.empty()) text += (row.written ? ", written at " : ", allocated at ") + row.line;
  const std::string why = WhyText(row.first, trace);
  return why.empty() ? text : text + "; " + why;
}

void RenderClasses(const ContentBill& bill, const TextOut& out) {
  TextRows rows;
  for (const ClassText& of : kClassTexts) {
    rows.push_back(
        {of.fate, std::string(NameOf(of.what)), FormatBytes(bill.of(of.what)), of.means});
    if (of.what != ContentClass::kInput) continue;
    rows.push_back(
        {"", "untouched", FormatBytes(bill.idle), "in the graphs' pools, nothing uses it"});
  }
  out << Table(rows, "llrl", "  ", out.style);
}

void RenderRows(const ContentBill& bill, const Trace& trace, const TextOut& out) {
  for (const ClassText& of : kClassTexts) {
    std::vector<ContentRow> rows;
    for (const ContentRow& row : bill.rows) {
      if (row.what == of.what) rows.push_back(row);
    }
    if (rows.empty()) continue;
    out << "\n" << NameOf(of.what) << "\n";
    out.Top(rows, "  ", [&](const ContentRow& row) { out.Wrap("  ", RowText(row, trace)); });
  }
}

Json RowJson(const ContentRow& row) {
  Json json{{"class", row.what}, {"pool", row.pool}};
  if (row.what == ContentClass::kUnknown) json["why"] = row.why;
  json[row.written ? "written_at" : "allocated_at"] = row.line;
  GRAPHKIT_ADD_MEMBERS(json, row, ranges, bytes);
  return json;
}

Json RangeJson(const ContentRange& range) {
  const auto index = [](uint32_t of) { return of == kNoUse ? Json(nullptr) : Json(of); };
  return {{"address", range.bytes.begin}, {"size", range.bytes.size()},   {"class", range.what},
          {"block", range.block},         {"reader", range.reader},       {"writer", range.writer},
          {"work", index(range.work)},    {"launch", index(range.launch)}};
}

}  // namespace

void RenderSurviveText(const SurviveView& view, const Trace& trace, const TextOut& out) {
  const ContentBill& bill = view.bill;
  if (bill.touched == 0) {
    out << "No graph that was launched is known to touch device memory.\n";
  } else {
    out.Wrap("", Counted(bill.graphs, "graph") + ", launched " + Counted(bill.launches, "time") +
                     ", " + (bill.graphs == 1 ? "touches " : "touch ") + FormatBytes(bill.touched) +
                     ", which must come back at the same addresses.");
    RenderClasses(bill, out);
    if (bill.communicating > 0) {
      out.Wrap("  ", FormatBytes(bill.communicating) +
                         " of it are touched by communication kernels: what was registered with "
                         "their library must be registered again");
    }
    RenderRows(bill, trace, out);
  }
  out << "\nFree between launches\n";
  RenderBorrowText(view.borrow, trace, out);
}

void RenderSurviveJson(const SurviveView& view, const Trace& trace, std::ostream& out) {
  const ContentBill& bill = view.bill;
  Json classes = Json::object();
  for (const ClassText& of : kClassTexts) classes[std::string(NameOf(of.what))] = bill.of(of.what);
  Json json = BorrowJson(view.borrow, trace);
  json["graphs"] = bill.graphs;
  json["launches"] = bill.launches;
  json["touched_bytes"] = bill.touched;
  json["idle_bytes"] = bill.idle;
  json["communicating_bytes"] = bill.communicating;
  json["bytes_by_class"] = std::move(classes);
  json["rows"] = ListJson(bill.rows, RowJson);
  json["ranges"] = ListJson(view.ranges, RangeJson);
  WriteDocument("graphkit-survive", json, out);
}

}  // namespace graphkit
