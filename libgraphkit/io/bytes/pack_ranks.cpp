#include "libgraphkit/io/bytes/pack_ranks.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "libgraphkit/ids.h"

namespace graphkit {

// A struct is packed by its fields, which a structured binding names all: one that is forgotten
// doesn't compile.
void Fields(auto& pack, GraphContent& value) {
  auto& [hash, sample] = value;
  pack(hash, sample);
}

void Fields(auto& pack, RankGraph& value) {
  auto& [name, ordinal, content, figures] = value;
  pack(name, ordinal, content, figures);
}

void Fields(auto& pack, RankFinding& value) {
  auto& [fingerprint, check, severity, message, count, bytes] = value;
  pack(fingerprint, check, severity, message, count, bytes);
}

void Fields(auto& pack, PlaceFrame& value) {
  auto& [function, file, line] = value;
  pack(function, file, line);
}

void Fields(auto& pack, Communicator& value) {
  auto& [key, ranks, rank, created, destroyed] = value;
  pack(key, ranks, rank, created, destroyed);
}

void Fields(auto& pack, Collective& value) {
  auto& [seq, communicator, kind, type, count, peer] = value;
  pack(seq, communicator, kind, type, count, peer);
}

void Fields(auto& pack, RankOperation& value) {
  auto& [what, node, place, body] = value;
  pack(what, node, place, body);
}

void Fields(auto& pack, RankProgram& value) {
  auto& [graph, name, operations] = value;
  pack(graph, name, operations);
}

void Fields(auto& pack, RankRun& value) {
  auto& [program, times] = value;
  pack(program, times);
}

void Fields(auto& pack, RankCollectives& value) {
  auto& [communicators, places, programs, captured, executed, works] = value;
  pack(communicators, places, programs, captured, executed, works);
}

void Fields(auto& pack, RankSummary& value) {
  auto& [trace, device, incomplete, program, structure, figures, graphs, findings, collectives] =
      value;
  pack(trace, device, incomplete, program, structure, figures, graphs, findings, collectives);
}

void Fields(auto& pack, Evidence& value) {
  auto& [text, nodes, edges, blocks, stack] = value;
  pack(text, nodes, edges, blocks, stack);
}

void Fields(auto& pack, Finding& value) {
  auto& [check, severity, harm, message, advice, bytes, graph, nodes, blocks, streams, evidence,
         assumes] = value;
  pack(check, severity, harm, message, advice, bytes, graph, nodes, blocks, streams, evidence,
       assumes);
}

void Fields(auto& pack, ReusePair& value) {
  auto& [earlier, later, bytes, assumes] = value;
  pack(earlier, later, bytes, assumes);
}

void Fields(auto& pack, PoolShare& value) {
  auto& [pool, blocks, total, peak, bound, exact, online] = value;
  pack(pool, blocks, total, peak, bound, exact, online);
}

void Fields(auto& pack, AskedMemory& value) {
  auto& [asked, used, free, nodes, inputs, other] = value;
  pack(asked, used, free, nodes, inputs, other);
}

void Fields(auto& pack, ByteRange& value) {
  auto& [low, bytes, high] = value;
  pack(low, bytes, high);
}

void Fields(auto& pack, ExecPeak& value) {
  auto& [bytes, execs, at] = value;
  pack(bytes, execs, at);
}

void Fields(auto& pack, ExecCost& value) {
  auto& [exec, graph, source, bytes, least, most, alike] = value;
  pack(exec, graph, source, bytes, least, most, alike);
}

void Fields(auto& pack, ExecModel& value) {
  auto& [parts, measured] = value;
  pack(parts, measured);
}

void Fields(auto& pack, ExecMemory& value) {
  auto& [execs, peak, source, model, readings, disturbed] = value;
  pack(execs, peak, source, model, readings, disturbed);
}

void Fields(auto& pack, EarlyStart& value) {
  auto& [from_port, triggers, writes, waits] = value;
  pack(from_port, triggers, writes, waits);
}

void Fields(auto& pack, EarlyLaunches& value) {
  auto& [producer, consumer, start, edges, first] = value;
  pack(producer, consumer, start, edges, first);
}

void Fields(auto& pack, GraphSummary& value) {
  auto& [graph, name, origin, nodes, edges, by_type, programmatic, launch_completion, cross_stream,
         early, streams, launches, execs, exec_peak, exec_source, blocks, unknown, total, live,
         deferred, bound, exact, online, plan, extent, never_freed, never_freed_blocks, path,
         path_ns, calls, host_ns, width, pinned, pinned_blocks, peak_blocks, bound_blocks, pools,
         reuse, reuse_bytes] = value;
  pack(graph, name, origin, nodes, edges, by_type, programmatic, launch_completion, cross_stream,
       early, streams, launches, execs, exec_peak, exec_source, blocks, unknown, total, live,
       deferred, bound, exact, online, plan, extent, never_freed, never_freed_blocks, path, path_ns,
       calls, host_ns, width, pinned, pinned_blocks, peak_blocks, bound_blocks, pools, reuse,
       reuse_bytes);
}

void Fields(auto& pack, ReportTotals& value) {
  auto& [graphs, nodes, edges, blocks, launches, allocated, findings] = value;
  pack(graphs, nodes, edges, blocks, launches, allocated, findings);
}

void Fields(auto& pack, BlockJoins& value) {
  auto& [captured, joined, no_stream, no_stack, library, untouched, unread] = value;
  pack(captured, joined, no_stream, no_stack, library, untouched, unread);
}

void Fields(auto& pack, MemoryAt& value) {
  auto& [seq, reserved, segments, in_use, allocated, requested, blocks, of_graphs] = value;
  pack(seq, reserved, segments, in_use, allocated, requested, blocks, of_graphs);
}

void Fields(auto& pack, MemoryMoments& value) {
  auto& [reserved, in_use, allocated, requested, outside, end] = value;
  pack(reserved, in_use, allocated, requested, outside, end);
}

void Fields(auto& pack, Report& value) {
  auto& [device, complete, incomplete, program, graphs, findings, unknown, memory, moments, execs,
         joins, totals] = value;
  pack(device, complete, incomplete, program, graphs, findings, unknown, memory, moments, execs,
       joins, totals);
}

void Fields(auto& pack, FindingPlace& value) {
  auto& [frames, logical] = value;
  pack(frames, logical);
}

void Fields(auto& pack, GateSubject& value) {
  auto& [trace, report, places, leaks, contents, reserved, outside, allocated, in_use, idle,
         coverage, unknown_coverage, collectives] = value;
  pack(trace, report, places, leaks, contents, reserved, outside, allocated, in_use, idle, coverage,
       unknown_coverage, collectives);
}

namespace {

// Values to bytes, or back. Bytes that don't fit leave `ok` false, and values that are empty.
class Archive {
 public:
  Archive() = default;  // packs
  explicit Archive(std::string_view bytes) : unpacks_(true), left_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (Take(values), ...);
  }
  std::string bytes;
  bool ok = true;
  bool done() const { return ok && left_.empty(); }

 private:
  void Raw(void* data, size_t size) {
    if (!unpacks_) {
      bytes.append(static_cast<const char*>(data), size);
    } else if (size > left_.size()) {
      ok = false;
    } else if (ok && size > 0) {
      std::memcpy(data, left_.data(), size);
      left_.remove_prefix(size);
    }
  }
  // Makes room for as many elements, each of at least a byte, as there are.
  void Resize(auto& values) {
    uint64_t size = values.size();
    Take(size);
    if (unpacks_ && size > left_.size()) ok = false;
    values.resize(ok ? size : 0);
  }

  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void Take(T& value) {
    Raw(&value, sizeof value);
  }
  void Take(std::string& text) {
    Resize(text);
    Raw(text.data(), text.size());
  }
  template <typename Tag>
  void Take(Id<Tag>& id) {
    Take(id.value);
  }
  template <typename T>
  void Take(std::vector<T>& values) {
    Resize(values);
    for (T& value : values) Take(value);
  }
  template <typename T, size_t kSize>
  void Take(std::array<T, kSize>& values) {
    for (T& value : values) Take(value);
  }
  template <typename T>
  void Take(std::optional<T>& value) {
    bool is = value.has_value();
    Take(is);
    if (!is) return value.reset();
    Take(value ? *value : value.emplace());
  }
  template <typename T>
  requires std::is_aggregate_v<T>
  void Take(T& value) { Fields(*this, value); }

  bool unpacks_ = false;
  std::string_view left_;
};

template <typename T>
std::string Pack(T value) {
  Archive archive;
  archive(value);
  return std::move(archive.bytes);
}

template <typename T>
std::optional<T> Unpack(std::string_view bytes) {
  T value;
  Archive archive(bytes);
  archive(value);
  return archive.done() ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

std::string PackRank(const RankSummary& rank) { return Pack(rank); }
std::string PackSubject(const GateSubject& subject) { return Pack(subject); }
std::optional<RankSummary> UnpackRank(std::string_view bytes) { return Unpack<RankSummary>(bytes); }
std::optional<GateSubject> UnpackSubject(std::string_view bytes) {
  return Unpack<GateSubject>(bytes);
}

}  // namespace graphkit
