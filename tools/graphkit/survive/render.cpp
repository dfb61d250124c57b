#include "tools/graphkit/survive/render.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {
namespace {

struct ClassText {
  ContentClass what;
  const char* means;
};
constexpr ClassText kClassTexts[] = {
    {ContentClass::kScratch, "each launch writes it before it reads it"},
    {ContentClass::kInput, "the program rewrites it before each launch that reads it"},
    {ContentClass::kConstant, "launches read it, nothing writes it after the first"},
    {ContentClass::kState, "launches read it, and launches or the program write it"},
    {ContentClass::kUnknown, "not known to be any of these: keep its content"},
    {ContentClass::kOutput, "once the program has read it"},
};
// How constants and inputs were written last, as far as that is recorded: in words, and in JSON.
struct ContentSource {
  const char* text = "written";
  const char* name = nullptr;
};
ContentSource SourceOf(const ContentRow& row, const Ran& trace) {
  const bool kept = row.what == ContentClass::kConstant || row.what == ContentClass::kInput;
  if (!kept || row.first.work == kNoUse) return {};
  const EagerWork& work = trace.works[row.first.work];
  if (work.kind == NodeKind::kKernel) return {"computed", "kernel"};
  if (work.kind == NodeKind::kMemset) return {"filled", "fill"};
  if (work.kind != NodeKind::kMemcpy) return {};
  // Memory of the host that CUDA doesn't know is in no block.
  const bool device = std::ranges::any_of(trace.accesses.Of(work.accesses), [&](const Access& of) {
    return of.mode == AccessMode::kRead && KindOf(trace, trace[of.block].pool) != PoolKind::kHost;
  });
  if (device) return {"copied on the device", "device copy"};
  return {"copied from the host", "host copy"};
}

// In the order of RegistrationKind.
constexpr const char* kRegistrationTexts[] = {
    "registered host memory", "memory of other processes or APIs", "memory that others map",
    "memory of communication kernels"};

std::string WhyText(const ContentRange& range, const Ran& trace) {
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

std::string RowText(const ContentRow& row, const Ran& trace) {
  std::string text = FormatBytes(row.bytes) + " in " + Counted(row.ranges, "range") + ", " +
                     (row.pool.valid() ? PoolTitle(trace, row.pool) : "no pool");
  const ContentSource from = SourceOf(row, trace);
  if (!row.line.empty())
    text += std::string(", ") + (row.written ? from.text : "allocated") + " at " + row.line;
  if (!row.written && from.name != nullptr) text += std::string(", ") + from.text;
  const std::string why = WhyText(row.first, trace);
  return why.empty() ? text : text + "; " + why;
}

void RenderClasses(const SurviveView& view, const TextOut& out) {
  const ContentBill& bill = view.bill;
  TextRows rows;
  std::string_view last;
  for (const ClassText& of : kClassTexts) {
    const std::string_view fate = FateOf(view.event, of.what);
    rows.push_back({fate == last ? "" : std::string(fate), std::string(NameOf(of.what)),
                    FormatBytes(bill.of(of.what)), of.means});
    last = fate;
    if (of.what != ContentClass::kInput) continue;
    rows.push_back(
        {"", "untouched", FormatBytes(bill.idle), "in the graphs' pools, nothing uses it"});
  }
  if (!view.keep.empty())
    rows.push_back(
        {"kept", "", FormatBytes(bill.kept), "in pools that keep their memory (--keep)"});
  out << Table(rows, "llrl", "  ", out.style);
}

void RenderRegistrations(const SurviveView& view, const Ran& trace, const TextOut& out) {
  if (!trace.imported_from.empty()) {
    out.Wrap("  ", "What is registered, exported or opened isn't known: the trace was imported.");
    return;
  }
  for (const Registration& of : view.registrations) {
    const char* again = AgainText(view.event, of.kind);
    out.Wrap("  ", FormatBytes(of.bytes) + " of " +
                       kRegistrationTexts[static_cast<size_t>(of.kind)] +
                       (of.first.valid() ? ", first " + NameOf(trace, of.first) : "") + ": " +
                       (again != nullptr ? again : "stays as it is"));
    if (of.lost == 0) continue;
    const std::string line = StackTitle(trace, trace[of.lost_first].stack);
    out.Wrap("    ", FormatBytes(of.lost) + " of it lie in new physical memory that isn't shared" +
                         (line.empty() ? "" : " (mapped at " + line + ")") +
                         ", where the graphs had shared memory: others still have the old one");
  }
}

void RenderRestart(const SurviveView& view, const TextOut& out) {
  const HeldByGraphs& held = view.held;
  out.Wrap("  ", "To make again: " + Counted(view.bill.graphs, "graph") + " with " +
                     Counted(held.kernels, "kernel") + ", " +
                     Counted(held.host_functions, "host function") + " and " +
                     Counted(held.events, "event") +
                     ", whose handles and addresses a new process doesn't have");
}

void RenderRows(const ContentBill& bill, const Ran& trace, const TextOut& out) {
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

Json RowJson(const ContentRow& row, const Ran& trace) {
  Json json{{"class", row.what}, {"pool", row.pool}};
  if (const ContentSource from = SourceOf(row, trace); from.name != nullptr)
    json["from"] = from.name;
  if (row.what == ContentClass::kUnknown) json["why"] = row.why;
  json[row.written ? "written_at" : "allocated_at"] = row.line;
  GRAPHKIT_ADD_MEMBERS(json, row, ranges, bytes);
  return json;
}

Json RangeJson(const ContentRange& range) {
  const auto index = [](uint32_t of) { return of == kNoUse ? Json(nullptr) : Json(of); };
  return {{"address", range.bytes.begin}, {"size", range.bytes.size()},
          {"class", range.what},          {"block", range.block},
          {"reader", range.reader},       {"writer", range.writer},
          {"work", index(range.work)},    {"launch", index(range.launch)},
          {"restored", range.restored}};
}

Json RegistrationJson(const Registration& of, SurviveEvent event) {
  const char* again = AgainText(event, of.kind);
  return {{"kind", of.kind},       {"bytes", of.bytes},
          {"block", of.first},     {"again", again != nullptr ? Json(again) : Json(nullptr)},
          {"lost_bytes", of.lost}, {"lost_block", of.lost_first}};
}

Json RegistrationsJson(const SurviveView& view, const Ran& trace) {
  if (!trace.imported_from.empty()) return nullptr;
  return ListJson(view.registrations,
                  [&](const Registration& of) { return RegistrationJson(of, view.event); });
}

Bytes Communicating(const SurviveView& view) {
  const auto found =
      std::ranges::find(view.registrations, RegistrationKind::kCommunication, &Registration::kind);
  return found == view.registrations.end() ? 0 : found->bytes;
}

}  // namespace

void RenderSurviveText(const SurviveView& view, const Ran& trace, const TextOut& out) {
  const ContentBill& bill = view.bill;
  if (bill.touched == 0) {
    out << "No graph that was launched is known to touch device memory.\n";
  } else {
    out.Wrap("", Counted(bill.graphs, "graph") + ", launched " + Counted(bill.launches, "time") +
                     ", " + (bill.graphs == 1 ? "touches " : "touch ") + FormatBytes(bill.touched) +
                     AddressText(view.event) + ".");
    RenderClasses(view, out);
    if (bill.restored_in_vain > 0) {
      out.Wrap("  ", FormatBytes(bill.restored_in_vain) +
                         " of scratch and inputs were saved and copied back: they need not be");
    }
    RenderRegistrations(view, trace, out);
    if (view.event == SurviveEvent::kRestart) RenderRestart(view, out);
    RenderRows(bill, trace, out);
  }
  out << "\nFree between launches\n";
  RenderBorrowText(view.borrow, trace, out);
}

void RenderSurviveJson(const SurviveView& view, const Ran& trace, std::ostream& out) {
  const ContentBill& bill = view.bill;
  Json classes = Json::object();
  for (const ClassText& of : kClassTexts) classes[std::string(NameOf(of.what))] = bill.of(of.what);
  Json json = BorrowJson(view.borrow, trace);
  json["graphs"] = bill.graphs;
  json["launches"] = bill.launches;
  json["event"] = view.event;
  json["keep"] = view.keep;
  json["kept_bytes"] = bill.kept;
  json["restored_in_vain_bytes"] = bill.restored_in_vain;
  json["registrations"] = RegistrationsJson(view, trace);
  json["held"] = {{"kernels", view.held.kernels},
                  {"host_functions", view.held.host_functions},
                  {"events", view.held.events}};
  json["touched_bytes"] = bill.touched;
  json["idle_bytes"] = bill.idle;
  json["communicating_bytes"] = Communicating(view);
  json["bytes_by_class"] = std::move(classes);
  json["rows"] = ListJson(bill.rows, [&](const ContentRow& row) { return RowJson(row, trace); });
  json["ranges"] = ListJson(view.ranges, RangeJson);
  WriteDocument("graphkit-survive", json, out);
}

}  // namespace graphkit
