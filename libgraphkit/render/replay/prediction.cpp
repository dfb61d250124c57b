#include "libgraphkit/render/replay/prediction.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libgraphkit/render/text_layout.h"

namespace graphkit {

namespace {

using Json = nlohmann::ordered_json;

std::string Hex(Address address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
  return text.data();
}

std::string MissText(const PredictionMiss& miss) {
  const std::string at = "event " + std::to_string(miss.event) + ": ";
  if (miss.segment) return at + "a segment operation that only the record or the model has";
  return at + "recorded at " + Hex(miss.recorded) +
         (miss.predicted == 0 ? ", the model found no memory"
                              : ", predicted at " + Hex(miss.predicted));
}

std::string Share(uint64_t hits, uint64_t all) {
  return FormatCount(hits) + " of " + FormatCount(all);
}

Json MissJson(const PredictionScore& score) {
  if (score.perfect()) return nullptr;
  const PredictionMiss& miss = score.misses.front();
  return Json{{"event", miss.event},
              {"what", miss.segment ? "segment" : "address"},
              {"recorded", miss.segment ? Json(nullptr) : Json(Hex(miss.recorded))},
              {"predicted", miss.predicted == 0 ? Json(nullptr) : Json(Hex(miss.predicted))}};
}

}  // namespace

void RenderPredictionText(std::span<const DevicePrediction> devices, std::ostream& out) {
  for (const DevicePrediction& device : devices) {
    const PredictionScore& score = device.score;
    std::vector<std::vector<std::string>> rows = {
        {"addresses", Share(score.addresses_hit, score.addresses) + " predicted"},
        {"segments", Share(score.segments_hit, score.segments) + " predicted"}};
    if (!score.perfect()) {
      rows.push_back({"misses", FormatCount(score.misses.size())});
      rows.push_back({"first miss", MissText(score.misses.front())});
    }
    out << "device " << device.device << "\n" << Table(rows, {false, false}, "  ");
  }
}

void RenderPredictionJson(std::span<const DevicePrediction> devices, std::ostream& out) {
  Json list = Json::array();
  bool perfect = true;
  for (const DevicePrediction& device : devices) {
    const PredictionScore& score = device.score;
    perfect = perfect && score.perfect();
    list.push_back(Json{{"device", device.device},
                        {"addresses", score.addresses},
                        {"addresses_predicted", score.addresses_hit},
                        {"segments", score.segments},
                        {"segments_predicted", score.segments_hit},
                        {"misses", score.misses.size()},
                        {"first_miss", MissJson(score)}});
  }
  const Json document{{"schema", "graphkit-prediction"},
                      {"version", 1},
                      {"allocator", "pytorch"},
                      {"predicted", perfect},
                      {"devices", list}};
  out << document.dump(2) << "\n";
}

}  // namespace graphkit
