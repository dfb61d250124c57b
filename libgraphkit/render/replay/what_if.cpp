#include "libgraphkit/render/replay/what_if.h"

#include <string>
#include <vector>

#include "libgraphkit/render/json.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {

GRAPHKIT_JSON_OF(AllocatorOutcome, peak_reserved, reserved_at_end, peak_in_use, segments, failures)

namespace {

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

void RenderDevice(const WhatIf& device, const TextStyle& style, std::ostream& out) {
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
  out << Table(rows, "lrlrr", "  ", style);
  if (device.capacity) {
    out << Wrapped("  ", "with " + FormatBytes(*device.capacity) + " of device memory", style);
  }
  if (device.left_out > 0) {
    out << Wrapped("  ",
                   "left out: " + Counted(device.left_out, "event") +
                       " in memory that the file doesn't tell enough about",
                   style);
  }
}

}  // namespace

void RenderWhatIfText(std::span<const WhatIf> devices, const TextStyle& style, std::ostream& out) {
  for (const WhatIf& device : devices) RenderDevice(device, style, out);
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
