#include "libgraphkit/render/finding_text.h"

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/printable.h"

namespace graphkit {
namespace {

Json LineJson(const PlaceFrame& line) {
  if (line == PlaceFrame()) return {{"file", nullptr}, {"line", nullptr}, {"function", nullptr}};
  return {{"file", line.file}, {"line", line.line}, {"function", Demangle(line.function)}};
}

}  // namespace

std::string_view RelativeTo(std::string_view root, std::string_view file) {
  while (root.ends_with('/')) root.remove_suffix(1);
  const bool below = !root.empty() && file.size() > root.size() + 1 && file.starts_with(root) &&
                     file[root.size()] == '/';
  return below ? file.substr(root.size() + 1) : file;
}

std::string LineText(const PlaceFrame& line, std::string_view root) {
  if (root.empty()) return Printable(ShortPlace(line.file, line.line));
  const std::string file = Printable(RelativeTo(root, line.file));
  return line.line == 0 ? file : file + ":" + std::to_string(line.line);
}

std::string WhereText(const Finding& finding, std::string_view root, std::string_view otherwise) {
  const PlaceFrame line = finding.line();
  return line == PlaceFrame() ? Printable(otherwise) : LineText(line, root);
}

std::string RowText(const Finding& first, size_t count, const std::string& where) {
  return (where.empty() ? "" : where + ": ") + SeverityName(first.severity) + ": " +
         Printable(first.message) + " [" + first.check + "]" + Times(count);
}

std::vector<std::string> SideTexts(const Finding& finding, std::string_view root) {
  std::vector<std::string> texts;
  if (finding.places.size() < 2) return texts;
  for (const FindingPlace& place : finding.places) {
    if (place.about.empty()) continue;
    texts.push_back(LineText(place.line, root) + ": " + Printable(place.about));
  }
  return texts;
}

void AddPlaces(const Finding& finding, Json& json) {
  json.update(LineJson(finding.line()));
  json["about"] = finding.places.empty() ? "" : finding.places[0].about;
  json["also"] = Json::array();
  for (size_t i = 1; i < finding.places.size(); ++i) {
    json["also"].push_back(LineJson(finding.places[i].line));
    json["also"].back()["about"] = finding.places[i].about;
  }
}

Json GroupsJson(const std::vector<FindingGroup>& groups) {
  return ListJson(groups, [](const FindingGroup& group) {
    return ListJson(group.rows, [](const FindingRow& row) { return Json(row.findings); });
  });
}

}  // namespace graphkit
