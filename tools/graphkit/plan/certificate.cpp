#include "tools/graphkit/plan/certificate.h"

#include <zlib.h>

#include <ostream>
#include <span>

#include "libgraphkit/render/json.h"

namespace graphkit {
namespace {

// A block a line.
void RenderBlocks(std::span<const Placement> placements, uint32_t arena, std::ostream& out) {
  const char* before = "\n    ";
  for (const Placement& placed : placements) {
    if (placed.arena != arena) continue;
    out << before << '[' << placed.block << ',' << placed.offset << ',' << placed.size << ']';
    before = ",\n    ";
  }
}

Json TraceHash(std::string_view text) {
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  return {{"bytes", text.size()}, {"crc32", crc32_z(0, bytes, text.size())}};
}

}  // namespace

void RenderCertificate(const PlannedMemory& plan, std::string_view trace, std::ostream& out) {
  out << "{\"schema\": \"graphkit-certificate\", \"version\": 1,\n \"trace\": "
      << Dump(TraceHash(trace)) << ",\n \"assumes\": \"arguments\",\n \"peak_bytes\": " << plan.peak
      << ", \"lower_bound_bytes\": " << plan.lower_bound << ",\n";
  if (!plan.sequence.empty()) out << " \"sequence\": " << Dump(Json(plan.sequence)) << ",\n";
  out << " \"arenas\": [";
  const char* before = "\n  ";
  for (uint32_t i = 0; i < plan.arenas.size(); ++i) {
    const PlannedArena& arena = plan.arenas[i];
    out << before << "{\"graph\": " << Json(arena.graph) << ", \"pool\": " << Json(arena.pool)
        << ", \"peak_bytes\": " << arena.peak << ", \"lower_bound_bytes\": " << arena.lower_bound
        << ",\n   \"heaviest\": " << Dump(Json(arena.heaviest)) << ",\n   \"blocks\": [";
    RenderBlocks(plan.placements, i, out);
    out << "]}";
    before = ",\n  ";
  }
  out << "]}\n";
}

}  // namespace graphkit
