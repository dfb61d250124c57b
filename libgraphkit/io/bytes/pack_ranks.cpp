#include "libgraphkit/io/bytes/pack_ranks.h"

#include <concepts>

#include "libgraphkit/io/bytes/pack.h"

namespace graphkit {

// A T, const or not.
template <typename V, typename T>
concept A = std::same_as<std::remove_const_t<V>, T>;

template <typename P, A<GraphContent> V>
void Fields(P& pack, V& value) {
  auto& [hash, sample] = value;
  pack(hash, sample);
}

template <typename P, A<RankGraph> V>
void Fields(P& pack, V& value) {
  auto& [name, ordinal, content, figures] = value;
  pack(name, ordinal, content, figures);
}

template <typename P, A<RankFinding> V>
void Fields(P& pack, V& value) {
  auto& [fingerprint, check, severity, message, count, bytes] = value;
  pack(fingerprint, check, severity, message, count, bytes);
}

template <typename P, A<RankSummary> V>
void Fields(P& pack, V& value) {
  auto& [trace, device, incomplete, program, structure, figures, graphs, findings] = value;
  pack(trace, device, incomplete, program, structure, figures, graphs, findings);
}

template <typename P, A<Evidence> V>
void Fields(P& pack, V& value) {
  auto& [text, nodes, edges, blocks, stack] = value;
  pack(text, nodes, edges, blocks, stack);
}

template <typename P, A<Finding> V>
void Fields(P& pack, V& value) {
  auto& [check, severity, message, advice, bytes, graph, nodes, blocks, streams, evidence,
         assumes] = value;
  pack(check, severity, message, advice, bytes, graph, nodes, blocks, streams, evidence, assumes);
}

template <typename P, A<ReusePair> V>
void Fields(P& pack, V& value) {
  auto& [earlier, later, bytes, assumes] = value;
  pack(earlier, later, bytes, assumes);
}

template <typename P, A<PoolShare> V>
void Fields(P& pack, V& value) {
  auto& [pool, blocks, total, peak, bound, exact, online] = value;
  pack(pool, blocks, total, peak, bound, exact, online);
}

template <typename P, A<AskedMemory> V>
void Fields(P& pack, V& value) {
  auto& [asked, used, free, nodes, inputs, other] = value;
  pack(asked, used, free, nodes, inputs, other);
}

template <typename P, A<GraphSummary> V>
void Fields(P& pack, V& value) {
  auto& [graph, name, origin, nodes, edges, by_type, programmatic, launch_completion, cross_stream,
         streams, launches, blocks, unknown, total, live, deferred, bound, exact, online, plan,
         extent, never_freed, never_freed_blocks, path, path_ns, calls, host_ns, width, pinned,
         pinned_blocks, peak_blocks, bound_blocks, pools, reuse, reuse_bytes] = value;
  pack(graph, name, origin, nodes, edges, by_type, programmatic, launch_completion, cross_stream,
       streams, launches, blocks, unknown, total, live, deferred, bound, exact, online, plan,
       extent, never_freed, never_freed_blocks, path, path_ns, calls, host_ns, width, pinned,
       pinned_blocks, peak_blocks, bound_blocks, pools, reuse, reuse_bytes);
}

template <typename P, A<ReportTotals> V>
void Fields(P& pack, V& value) {
  auto& [graphs, nodes, edges, blocks, launches, allocated, findings] = value;
  pack(graphs, nodes, edges, blocks, launches, allocated, findings);
}

template <typename P, A<Report> V>
void Fields(P& pack, V& value) {
  auto& [device, complete, incomplete, program, graphs, findings, unknown, memory, totals] = value;
  pack(device, complete, incomplete, program, graphs, findings, unknown, memory, totals);
}

template <typename P, A<PlaceFrame> V>
void Fields(P& pack, V& value) {
  auto& [function, file, line] = value;
  pack(function, file, line);
}

template <typename P, A<FindingPlace> V>
void Fields(P& pack, V& value) {
  auto& [frames, logical] = value;
  pack(frames, logical);
}

template <typename P, A<GateSubject> V>
void Fields(P& pack, V& value) {
  auto& [trace, report, places, leaks, contents, reserved, allocated] = value;
  pack(trace, report, places, leaks, contents, reserved, allocated);
}

namespace {

template <typename T>
std::string Pack(const T& value) {
  Packer pack;
  pack(value);
  return std::move(pack.bytes);
}

template <typename T>
std::optional<T> Unpack(std::string_view bytes) {
  T value;
  Unpacker unpack(bytes);
  unpack(value);
  return unpack.done() ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

std::string PackRank(const RankSummary& rank) { return Pack(rank); }
std::string PackSubject(const GateSubject& subject) { return Pack(subject); }
std::optional<RankSummary> UnpackRank(std::string_view bytes) { return Unpack<RankSummary>(bytes); }
std::optional<GateSubject> UnpackSubject(std::string_view bytes) {
  return Unpack<GateSubject>(bytes);
}

}  // namespace graphkit
