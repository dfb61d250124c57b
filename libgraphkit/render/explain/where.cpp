#include "libgraphkit/render/explain/where.h"

#include <algorithm>
#include <string>

#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"

namespace graphkit {
namespace {

constexpr const char* kStates[] = {"alive", "deferred", "graph", "idle", "freed", "never"};
constexpr const char* kAnswers[] = {"alive: ",
                                    "not reusable yet: ",
                                    "memory of a graph, used by each of its launches: ",
                                    "no block is there; memory of an allocator: ",
                                    "freed; last held by ",
                                    "nothing recorded has held it so far"};
constexpr const char* kPointerStates[] = {"own", "alive", "stale"};

// "segment 0 (12 MiB)", "block 4 (1 MiB) of graph 0".
std::string HolderName(const Ran& trace, const AddressHolder& holder) {
  std::string name =
      "segment " + std::to_string(holder.segment.value) + " (" + FormatBytes(holder.is.size) + ")";
  if (holder.block.valid()) name = NameOf(trace, holder.block);
  if (holder.backs_segment) name += ", memory of a segment";
  return holder.graph.valid() ? name + " of " + Printable(NameOf(trace, holder.graph)) : name;
}

// "record 14, train.py:17 embed".
std::string PlacedAt(const Whereabouts& where, const Ran& trace, Seq seq, StackId stack) {
  if (seq == kNever) return "-";
  const std::string line = Printable(MemoryTitle(trace, stack));
  return RecordText(where.events, seq) + (line.empty() ? "" : ", " + line);
}

std::string MomentText(const Whereabouts& where) {
  if (where.moment.at == kNever) return "at the end";
  const std::string place = RecordText(where.events, where.moment.at);
  const auto launch = where.moment.launch;
  return launch ? "at launch " + FormatCount(*launch) + " (" + place + ")" : "after " + place;
}

std::string AnswerText(const Whereabouts& where, const Ran& trace) {
  std::string text = kAnswers[static_cast<size_t>(where.state)];
  const auto add = [&](const AddressHolder& holder) {
    const Block& is = holder.is;
    text += HolderName(trace, holder) + ", " + FormatBytes(where.address - is.address) +
            " into it, allocated at " + PlacedAt(where, trace, is.allocated, is.stack);
    if (is.free_requested <= where.moment.at && is.free_requested != kNever)
      text += ", freed at " + PlacedAt(where, trace, is.free_requested, is.free_stack);
  };
  if (where.holder) add(where.holders[*where.holder]);
  if (!where.last) return text;
  text += "; last held by ";
  add(where.holders[*where.last]);
  return text;
}

TextRow AddressHolderRow(const Whereabouts& where, const Ran& trace, const AddressHolder& holder) {
  const Block& is = holder.is;
  std::string freed = PlacedAt(where, trace, is.free_requested, is.free_stack);
  if (is.free_requested != is.free_completed)
    freed += "; complete at " + PlacedAt(where, trace, is.free_completed, {});
  return {HolderName(trace, holder), FormatBytes(where.address - is.address),
          PlacedAt(where, trace, is.allocated, is.stack), std::move(freed)};
}

// "graph 0: stale pointer to block 3 (4 KiB): node 12 (Reduce) and 2 more nodes; launched 4 times
// since its free, first launch 17".
std::string PointerText(const Ran& trace, const AddressPointer& pointer) {
  static constexpr const char* kTo[] = {": its own ", ": ", ": stale pointer to "};
  const bool stale = pointer.state == AddressPointer::State::kStale;
  std::string text = NameOf(trace, pointer.graph) + kTo[static_cast<size_t>(pointer.state)] +
                     NameOf(trace, pointer.block) + ": " + NameOf(trace, pointer.nodes.front());
  if (pointer.nodes.size() > 1) text += " and " + Counted(pointer.nodes.size() - 1, "more node");
  text += "; launched " + Counted(pointer.launches, "time") + (stale ? " since its free" : "");
  if (pointer.first_launch) text += ", first launch " + FormatCount(*pointer.first_launch);
  return Printable(text) + (pointer.changed ? "; some got other parameters later" : "");
}

Json PlaceJson(const Whereabouts& where, const Ran& trace, Seq seq, StackId stack) {
  if (seq == kNever) return nullptr;
  const std::vector<Seq>& events = where.events;
  const auto event = std::ranges::lower_bound(events, seq) - events.begin();
  return Json{{"record", seq},
              {"event", events.empty() ? Json(nullptr) : Json(event)},
              {"line", stack.valid() ? Json(MemoryTitle(trace, stack)) : Json(nullptr)}};
}

Json AddressHolderJson(const Whereabouts& where, const Ran& trace, const AddressHolder& holder) {
  const Block& is = holder.is;
  const bool segment = holder.segment.valid();
  return Json{{"kind", segment                ? "segment"
                       : holder.backs_segment ? "segment-memory"
                                              : "block"},
              {"id", segment ? holder.segment.value : holder.block.value},
              {"address", HexText(is.address)},
              {"size", is.size},
              {"offset", where.address - is.address},
              {"graph", holder.graph},
              {"allocated", PlaceJson(where, trace, is.allocated, is.stack)},
              {"freed", PlaceJson(where, trace, is.free_requested, is.free_stack)},
              {"reusable", PlaceJson(where, trace, is.free_completed, {})}};
}

Json PointerJson(const AddressPointer& pointer) {
  Json json{{"state", kPointerStates[static_cast<size_t>(pointer.state)]}};
  GRAPHKIT_ADD_MEMBERS(json, pointer, graph, block, nodes, execs, launches, first_launch, changed);
  return json;
}

Json NeighbourJson(const AddressNeighbour& near) {
  return Json{
      {"block", near.block}, {"side", near.above ? "above" : "below"}, {"distance", near.distance}};
}

}  // namespace

void RenderWhere(const Whereabouts& where, const std::vector<Address>& others, const Ran& trace,
                 const TextOut& out) {
  const std::string address = HexText(where.address);
  out.Wrap("", address + " " + MomentText(where) + ": " + AnswerText(where, trace));
  if (!others.empty())
    out << Counted(others.size(), "further address") << " in the report: " << HexText(others[0])
        << (others.size() > 1 ? ", …\n" : "\n");
  const auto row = [&](const AddressHolder& held) { return AddressHolderRow(where, trace, held); };
  if (!where.holders.empty()) {
    out << "\n";
    out.TopTable({"HELD IT", "at byte", "allocated", "freed"}, "lrll", "", where.holders, row);
  }
  if (!where.pointers.empty()) out << "\n" << out.Inked("POINT THERE", Ink::kBold) << "\n";
  out.Top(where.pointers, "  ",
          [&](const AddressPointer& pointer) { out.Wrap("  ", PointerText(trace, pointer)); });
  if (!where.neighbours.empty()) out << "\n" << out.Inked("BESIDE IT", Ink::kBold) << "\n";
  for (const AddressNeighbour& near : where.neighbours) {
    const Block& block = trace[near.block];
    const std::string text = NameOf(trace, near.block) + (near.above ? " begins " : " ends ") +
                             FormatBytes(near.distance) + (near.above ? " above" : " below");
    out.Wrap("  ",
             text + " it; allocated at " + PlacedAt(where, trace, block.allocated, block.stack));
  }
}

void RenderWhereJson(const Whereabouts& where, const std::vector<Address>& others, const Ran& trace,
                     std::ostream& out) {
  const auto holder = [&](const AddressHolder& held) {
    return AddressHolderJson(where, trace, held);
  };
  WriteDocument("graphkit-where",
                Json{{"address", HexText(where.address)},
                     {"at", PlaceJson(where, trace, where.moment.at, {})},
                     {"launch", where.moment.launch},
                     {"state", kStates[static_cast<size_t>(where.state)]},
                     {"answer", AnswerText(where, trace)},
                     {"holder", where.holder},
                     {"last", where.last},
                     {"holders", ListJson(where.holders, holder)},
                     {"pointers", ListJson(where.pointers, PointerJson)},
                     {"beside", ListJson(where.neighbours, NeighbourJson)},
                     {"other_addresses", ListJson(others, HexText)}},
                out);
}

}  // namespace graphkit
