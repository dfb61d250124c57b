#include <array>
#include <string>

#include "libgraphkit/render/json.h"
#include "libgraphkit/units.h"
#include "tools/graphkit/doctor/soft_inventory.h"

namespace graphkit {

GRAPHKIT_JSON_OF(SoftCount, functions, modelled, unchecked, missing, unseen)

namespace {

constexpr const char* kMeaning =
    "Modelled: a conformance test checks its effect and one of its errors. Unchecked: answers, and "
    "no test checks both. Missing: reports its name on stderr and returns \"not supported\".";
constexpr const char* kCoreName = "  streams, events, captures, graphs, memory";

bool IsListed(const SoftFunction& function, SoftList list) {
  const SoftState state = function.state();
  if (list == SoftList::kUnseen) return state != SoftState::kMissing && !function.seen;
  return list == SoftList::kAll || static_cast<uint8_t>(state) == static_cast<uint8_t>(list);
}

// The runtime alone has the functions that a graph program lives on.
bool HasCore(const SoftLibrary& library) { return !Core(library.functions).empty(); }

std::string PerCent(const SoftCount& count) {
  if (count.functions == 0) return "-";
  const size_t tenths = count.modelled * 1000 / count.functions;
  return FormatPercent(static_cast<double>(tenths) / 1000);
}

std::vector<std::string> CountRow(const std::string& name, const SoftCount& count) {
  return {name,           std::to_string(count.functions), std::to_string(count.modelled),
          PerCent(count), std::to_string(count.unchecked), std::to_string(count.missing)};
}

std::string UnseenText(const std::vector<SoftLibrary>& libraries) {
  size_t unseen = 0, answer = 0;
  for (const SoftLibrary& library : libraries) {
    const SoftCount count = Count(library.functions);
    unseen += count.unseen;
    answer += count.modelled + count.unchecked;
  }
  return "Unseen on hardware: " + std::to_string(unseen) + " of the " + std::to_string(answer) +
         " functions that answer. They follow NVIDIA's headers and documentation. A conformance "
         "program checked an effect of each of the others on an H200 (docs/hardware.md).";
}

void RenderList(const SoftLibrary& library, SoftList list, const TextOut& out) {
  TextRows rows;
  for (const SoftFunction& function : library.functions) {
    if (!IsListed(function, list)) continue;
    const std::string test = function.test.empty() ? "" : "checked by " + function.test;
    rows.push_back({function.name, StateName(function.state()), function.family, test});
  }
  if (rows.empty()) return;
  out << "\n"
      << out.Inked(library.name, Ink::kBold) << "\n"
      << Table(rows, "llll", "  ", out.style);
}

Json FunctionsJson(const SoftLibrary& library, SoftList list) {
  Json functions = Json::array();
  for (const SoftFunction& function : library.functions) {
    if (!IsListed(function, list)) continue;
    functions.push_back({{"name", function.name}, {"state", StateName(function.state())}});
    GRAPHKIT_ADD_MEMBERS(functions.back(), function, family, test, seen);
  }
  return functions;
}

}  // namespace

void RenderSoftText(const std::vector<SoftLibrary>& libraries, std::optional<SoftList> list,
                    const TextOut& out) {
  TextRows rows = {{"", "functions", "modelled", "", "unchecked", "missing"}};
  for (const SoftLibrary& library : libraries) {
    rows.push_back(CountRow(library.name, Count(library.functions)));
    if (HasCore(library)) rows.push_back(CountRow(kCoreName, Count(Core(library.functions))));
  }
  out << out.Inked("The software device", Ink::kBold) << " (simulated)\n\n"
      << Table(rows, "lrrrrr", "", out.style) << "\n"
      << Wrapped("", kMeaning, out.style) << Wrapped("", UnseenText(libraries), out.style);
  if (!list) return;
  for (const SoftLibrary& library : libraries) RenderList(library, *list, out);
}

void RenderSoftJson(const std::vector<SoftLibrary>& libraries, std::optional<SoftList> list,
                    std::ostream& out) {
  Json rows = Json::array();
  for (const SoftLibrary& library : libraries) {
    Json row = {{"name", library.name}, {"count", Count(library.functions)}};
    if (HasCore(library)) row["core"] = Count(Core(library.functions));
    if (list) row["list"] = FunctionsJson(library, *list);
    rows.push_back(std::move(row));
  }
  WriteDocument("graphkit-doctor-soft", Json{{"libraries", rows}}, out);
}

}  // namespace graphkit
