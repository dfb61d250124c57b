#include "plugins/soft_cuda/device/visible.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace graphkit::soft {
namespace {

std::optional<size_t> PlaceOfUuid(std::string_view begin, const std::vector<std::string>& uuids) {
  std::optional<size_t> found;
  for (size_t place = 0; place < uuids.size(); ++place) {
    if (!uuids[place].starts_with(begin)) continue;
    if (found) return std::nullopt;  // of two
    found = place;
  }
  return found;
}

std::optional<size_t> PlaceOf(std::string_view part, const std::vector<std::string>& uuids) {
  part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
  if (part.starts_with("GPU-")) return PlaceOfUuid(part, uuids);
  size_t place = 0;
  const auto read = std::from_chars(part.data(), part.data() + part.size(), place);
  if (read.ec != std::errc() || place >= uuids.size()) return std::nullopt;
  return place;
}

}  // namespace

std::vector<size_t> VisiblePlaces(std::string_view setting, const std::vector<std::string>& uuids) {
  std::vector<size_t> places;
  while (!setting.empty()) {
    const size_t end = std::min(setting.find(','), setting.size());
    const std::optional<size_t> place = PlaceOf(setting.substr(0, end), uuids);
    if (!place) break;
    if (std::find(places.begin(), places.end(), *place) != places.end()) return {};
    places.push_back(*place);
    setting.remove_prefix(std::min(end + 1, setting.size()));
  }
  return places;
}

}  // namespace graphkit::soft
