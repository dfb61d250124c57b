#include "plugins/soft_cuda/device/gpu.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

namespace graphkit::soft {
namespace {

constexpr unsigned long kMostGpus = 64;

std::vector<std::string_view> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// A whole number above 0 at the begin of the text, and the rest of it.
std::optional<unsigned long> Number(std::string_view text, std::string_view* rest) {
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value == 0) return std::nullopt;
  *rest = text.substr(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<unsigned long> WholeNumber(std::string_view text) {
  std::string_view rest;
  const auto value = Number(text, &rest);
  return rest.empty() ? value : std::nullopt;
}

// "9.0" is 90, "12.0" is 120.
std::optional<unsigned> Architecture(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot + 2 != text.size()) return std::nullopt;
  const auto major = WholeNumber(text.substr(0, dot));
  const char minor = text.back();
  if (!major || minor < '0' || minor > '9') return std::nullopt;
  return static_cast<unsigned>(*major) * 10 + static_cast<unsigned>(minor - '0');
}

template <typename From, typename To>
bool Set(const std::optional<From>& value, To* to) {
  if (value) *to = static_cast<To>(*value);
  return value.has_value();
}

bool SetFigure(std::string_view key, std::string_view value, GpuFigures* gpu,
               unsigned long* count) {
  if (key == "name") return Set(std::optional(std::string(value)), &gpu->name);
  if (key == "memory") return Set(ReadBytes(value), &gpu->bytes);
  if (key == "capability") return Set(Architecture(value), &gpu->architecture);
  if (key == "multiprocessors") return Set(WholeNumber(value), &gpu->multiprocessors);
  return key == "count" && Set(WholeNumber(value), count);
}

// "name=small,memory=8GiB,count=2"; the first part that can't be read, or nothing.
std::optional<std::string> AddGpus(std::string_view text, std::vector<GpuFigures>* gpus) {
  GpuFigures gpu;
  unsigned long count = 1;
  for (std::string_view part : Split(text, ",")) {
    part = Trimmed(part);
    const size_t equals = part.find('=');
    const bool read = equals != std::string_view::npos &&
                      SetFigure(part.substr(0, equals), part.substr(equals + 1), &gpu, &count);
    if (!read || count > kMostGpus) return std::string(part);
  }
  gpus->insert(gpus->end(), count, gpu);
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> ReadBytes(std::string_view text) {
  std::string_view unit;
  const auto value = Number(text, &unit);
  if (!value) return std::nullopt;
  if (unit == "GiB") return uint64_t{*value} << 30;
  if (unit == "MiB") return uint64_t{*value} << 20;
  return unit.empty() ? std::optional<uint64_t>(*value) : std::nullopt;
}

std::vector<GpuFigures> ReadGpus(std::string_view setting, std::string* problem) {
  std::vector<GpuFigures> gpus;
  const auto count = WholeNumber(Trimmed(setting));
  if (count && *count <= kMostGpus) return std::vector<GpuFigures>(*count);
  for (std::string_view line : Split(setting, ";\n")) {
    line = Trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (const auto wrong = AddGpus(line, &gpus)) {
      *problem = "'" + *wrong + "' isn't name=, memory=, capability=, multiprocessors= or count=";
      return {GpuFigures{}};
    }
  }
  if (gpus.empty()) gpus.emplace_back();
  return gpus;
}

std::vector<GpuFigures> ConfiguredGpus() {
  const char* value = std::getenv("GRAPHKIT_SOFT_DEVICES");
  std::string setting = value != nullptr ? value : "";
  std::string problem;
  if (setting.find('/') != std::string::npos) {
    std::ifstream file(setting);
    if (!file) problem = "'" + setting + "' can't be read";
    setting = std::string(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<GpuFigures> gpus = ReadGpus(setting, &problem);
  if (!problem.empty()) {
    std::fprintf(stderr, "graphkit soft device: GRAPHKIT_SOFT_DEVICES: %s; there is one device\n",
                 problem.c_str());
  }
  return gpus;
}

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
