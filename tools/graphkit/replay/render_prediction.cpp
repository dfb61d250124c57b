#include "tools/graphkit/replay/render_prediction.h"

#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

GRAPHKIT_JSON_OF(NotJudged, in_no_segment, start_unknown, pool_unknown, restored, size_unknown,
                 age_unknown)

GRAPHKIT_JSON_OF(AllocatorOutcome, peak_reserved, reserved_at_end, peak_in_use, segments, failures)

namespace {

std::string MissText(const PredictionMiss& miss) {
  const std::string at = "event " + std::to_string(miss.event) + ": ";
  if (miss.segment) {
    return at + "only the " + (miss.recorded != 0 ? "record" : "model") +
           " has a segment operation at " +
           HexText(miss.recorded != 0 ? miss.recorded : miss.predicted);
  }
  return at + "recorded at " + HexText(miss.recorded) +
         (miss.predicted == 0 ? ", the model found no memory"
                              : ", predicted at " + HexText(miss.predicted));
}

std::string Share(uint64_t hits, uint64_t all) {
  return all == 0 ? "none to judge" : FormatCount(hits) + " of " + FormatCount(all) + " predicted";
}

// "96 events in no segment; 12 events in segments …"
std::string NotJudgedText(const NotJudged& left) {
  std::string text;
  const auto add = [&](uint64_t events, const std::string& where) {
    if (events == 0) return;
    text += (text.empty() ? "" : "; ") + FormatCount(events) +
            (events == 1 ? " event " : " events ") + where;
  };
  add(left.in_no_segment, "in no segment");
  add(left.start_unknown, "in segments whose start can't be told (" + left.why_unknown + ")");
  add(left.pool_unknown, "in segments that were given back, and may be of any pool");
  add(left.size_unknown, "behind a block whose size before recording began isn't known");
  add(left.age_unknown, "decided by the age of segments that were there before recording began");
  return text;
}

Json MissJson(const PredictionScore& score) {
  if (score.perfect()) return nullptr;
  const PredictionMiss& miss = score.misses.front();
  return Json{{"event", miss.event},
              {"what", miss.segment ? "segment" : "address"},
              {"recorded", miss.recorded == 0 ? Json(nullptr) : Json(HexText(miss.recorded))},
              {"predicted", miss.predicted == 0 ? Json(nullptr) : Json(HexText(miss.predicted))}};
}

// Against the model under the recorded settings.
std::string DifferenceText(Bytes bytes, Bytes base) {
  if (bytes == base) return "as the model";
  return bytes < base ? FormatBytes(base - bytes) + " less than the model"
                      : FormatBytes(bytes - base) + " more than the model";
}

std::vector<std::string> RowOf(std::string title, const AllocatorOutcome& outcome,
                               std::string difference) {
  return {std::move(title), FormatBytes(outcome.peak_reserved), std::move(difference),
          FormatBytes(outcome.reserved_at_end), FormatCount(outcome.failures)};
}

void RenderDevice(const WhatIf& device, const TextOut& out) {
  out << "device " << device.device << ": PyTorch's allocator, recorded and by the model\n";
  const Bytes base = device.rows.front().outcome.peak_reserved;
  TextRows rows = {{"settings", "peak reserved", "", "at the end", "failed"},
                   RowOf("recorded", device.recorded, "")};
  for (const WhatIfRow& row : device.rows) {
    const bool recorded = row.settings.empty();
    rows.push_back(
        RowOf(recorded ? "model, settings as recorded" : "model, " + Printable(row.settings),
              row.outcome, recorded ? "" : DifferenceText(row.outcome.peak_reserved, base)));
  }
  out << Table(rows, "lrlrr", "  ", out.style);
  if (device.capacity) {
    out.Wrap("  ", "with " + FormatBytes(*device.capacity) + " of device memory");
  }
  if (device.left_out > 0) {
    out.Wrap("  ", "left out: " + Counted(device.left_out, "event") +
                       " in memory that the file doesn't tell enough about");
  }
}

}  // namespace

PredictionOutcome OutcomeOf(std::span<const DevicePrediction> devices) {
  bool judged = false;
  bool whole = true;
  for (const DevicePrediction& device : devices) {
    if (!device.score.perfect()) return PredictionOutcome::kMissed;
    judged = judged || !device.score.nothing();
    whole = whole && device.score.not_judged.events() == 0;
  }
  if (!judged) return PredictionOutcome::kNothingToJudge;
  return whole ? PredictionOutcome::kPredicted : PredictionOutcome::kPartlyJudged;
}

void RenderPredictionText(std::span<const DevicePrediction> devices, std::ostream& out) {
  for (const DevicePrediction& device : devices) {
    const PredictionScore& score = device.score;
    TextRows rows = {{"addresses", Share(score.addresses_hit, score.addresses)},
                     {"segments", Share(score.segments_hit, score.segments)}};
    if (score.not_judged.restored > 0) {
      rows.push_back({"restored", FormatCount(score.not_judged.restored) +
                                      " placed by a checkpoint of their pool (cudagraph trees)"});
    }
    if (score.not_judged.events() > 0) {
      rows.push_back({"not judged", NotJudgedText(score.not_judged)});
    }
    if (!score.perfect()) {
      rows.push_back({"misses", FormatCount(score.misses.size())});
      rows.push_back({"first miss", MissText(score.misses.front())});
    }
    out << "device " << device.device << "\n" << Table(rows, "ll", "  ");
  }
}

void RenderPredictionJson(std::span<const DevicePrediction> devices, std::ostream& out) {
  Json list = Json::array();
  for (const DevicePrediction& device : devices) {
    const PredictionScore& score = device.score;
    list.push_back(Json{{"device", device.device},
                        {"addresses", score.addresses},
                        {"addresses_predicted", score.addresses_hit},
                        {"segments", score.segments},
                        {"segments_predicted", score.segments_hit},
                        {"misses", score.misses.size()},
                        {"not_judged", score.not_judged},
                        {"first_miss", MissJson(score)}});
  }
  WriteDocument("graphkit-prediction",
                Json{{"allocator", "pytorch"},
                     {"predicted", OutcomeOf(devices) == PredictionOutcome::kPredicted},
                     {"devices", list}},
                out);
}

void RenderPlacementsText(std::span<const PolicyPlacements> policies, const Ran& trace,
                          const TextOut& out) {
  TextRows rows;
  uint64_t left = 0;
  for (const PolicyPlacements& policy : policies) {
    const RecordedPlacements& found = policy.found;
    std::string text = found.compared == 0
                           ? "no block to compare"
                           : FormatCount(found.same) + " of " + Counted(found.compared, "block");
    if (found.first.valid()) text += "; the first elsewhere: " + NameOf(trace, found.first);
    rows.push_back({std::string(InfoOf(policy.policy).name), std::move(text)});
    left = std::max(left, found.not_compared);
  }
  out << "Placed as recorded\n" << Table(rows, "ll", "  ");
  if (left == 0) return;
  out.Wrap("", "Not compared: " + Counted(left, "block") +
                   " in no segment, or in a pool that was used outside of captures before");
}

void RenderPlacementsJson(std::span<const PolicyPlacements> policies, std::ostream& out) {
  Json list = Json::array();
  for (const PolicyPlacements& policy : policies) {
    const RecordedPlacements& found = policy.found;
    list.push_back(Json{{"policy", InfoOf(policy.policy).name},
                        {"compared", found.compared},
                        {"same", found.same},
                        {"not_compared", found.not_compared},
                        {"first_elsewhere", found.first}});
  }
  WriteDocument("graphkit-placements", Json{{"policies", list}}, out);
}

void RenderWhatIfText(std::span<const WhatIf> devices, const TextOut& out) {
  for (const WhatIf& device : devices) RenderDevice(device, out);
}

void RenderWhatIfJson(std::span<const WhatIf> devices, std::ostream& out) {
  const auto row_json = [](const WhatIfRow& row) {
    return Json{{"settings", row.settings.empty() ? Json(nullptr) : Json(row.settings)},
                {"outcome", row.outcome}};
  };
  const auto device_json = [&](const WhatIf& device) {
    return Json{
        {"device", device.device},           {"recorded_settings", device.recorded_settings},
        {"recorded", device.recorded},       {"model", ListJson(device.rows, row_json)},
        {"capacity_bytes", device.capacity}, {"left_out_events", device.left_out}};
  };
  WriteDocument("graphkit-what-if", Json{{"devices", ListJson(devices, device_json)}}, out);
}

}  // namespace graphkit
