#include "tools/graphkit/plan/certificate.h"

#include <zlib.h>

#include <ostream>
#include <span>

#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/json.h"
#include "tools/graphkit/files/output.h"

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

// What is lent between launches, and at a node.
void RenderLoans(const PlannedMemory& plan, uint32_t arena, std::ostream& out) {
  Json loans = Json::array();
  for (const BorrowedRange& range : plan.borrow.value_or(std::vector<BorrowedRange>())) {
    if (range.arena == arena) loans.push_back({range.offset, range.size});
  }
  for (const BorrowAt& lent : plan.borrow_at) {
    const auto& [at, offset, size] = lent.range;
    if (at == arena) loans.push_back({offset, size, lent.at.value, lent.last.value});
  }
  if (!loans.empty()) out << ",\n   \"loans\": " << Dump(loans);
}

Json LentJson(std::span<const Interval<Address>> lent) {
  Json ranges = Json::array();
  for (const Interval<Address>& range : lent) ranges.push_back({range.begin, range.size()});
  return ranges;
}

Json TraceHash(std::string_view text) {
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  return {{"bytes", text.size()}, {"crc32", crc32_z(0, bytes, text.size())}};
}

}  // namespace

void RenderCertificate(const CertifiedMemory& memory, std::string_view trace, std::ostream& out) {
  const PlannedMemory& plan = memory.placed;
  out << "{\"schema\": \"graphkit-certificate\", \"version\": 1,\n \"trace\": "
      << Dump(TraceHash(trace)) << ",\n";
  if (!memory.allocator.empty()) out << " \"allocator\": " << Json(memory.allocator) << ",\n";
  out << " \"assumes\": " << Json(NameOf(memory.assumes)) << ",\n \"peak_bytes\": " << plan.peak
      << ", \"lower_bound_bytes\": " << plan.lower_bound << ",\n";
  if (!plan.sequence.empty()) out << " \"sequence\": " << Dump(Json(plan.sequence)) << ",\n";
  if (!memory.captured.empty()) out << " \"captured\": " << Dump(Json(memory.captured)) << ",\n";
  if (!memory.lent.empty()) out << " \"lent\": " << Dump(LentJson(memory.lent)) << ",\n";
  out << " \"arenas\": [";
  const char* before = "\n  ";
  for (uint32_t i = 0; i < plan.arenas.size(); ++i) {
    const PlannedArena& arena = plan.arenas[i];
    out << before << "{\"graph\": " << Json(arena.graph) << ", \"pool\": " << Json(arena.pool)
        << ", \"peak_bytes\": " << arena.peak << ", \"lower_bound_bytes\": " << arena.lower_bound
        << ",\n   \"heaviest\": " << Dump(Json(arena.heaviest)) << ",\n   \"blocks\": [";
    RenderBlocks(plan.placements, i, out);
    out << ']';
    RenderLoans(plan, i, out);
    out << '}';
    before = ",\n  ";
  }
  out << "]}\n";
}

Result<void> WriteCertificate(const CertifiedMemory& memory, const std::string& trace,
                              const std::string& output) {
  const Result<FileBytes> file = ReadFile(trace);
  if (!file) return file.error();
  if (!file->text.starts_with("{\"schema\":\"graphkit-trace\"")) {
    return Error{.message = "a certificate is about a trace, which this isn't",
                 .hint = "graphkit import makes one",
                 .file = trace};
  }
  return WriteOutput(output,
                     [&](std::ostream& out) { RenderCertificate(memory, file->text, out); });
}

}  // namespace graphkit
