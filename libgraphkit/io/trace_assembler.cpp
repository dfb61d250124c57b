#include "libgraphkit/io/trace_assembler.h"

#include "libgraphkit/io/memory_limits.h"
#include "libgraphkit/large_pages.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

// "no graphs were", "only 1 graph was", "only 3 graphs were".
std::string OnlySome(size_t count, std::string_view what) {
  if (count == 0) return "no " + std::string(what) + " were";
  if (count == 1) return "only 1 " + std::string(what.substr(0, what.size() - 1)) + " was";
  return "only " + std::to_string(count) + " " + std::string(what) + " were";
}

}  // namespace

bool TraceAssembler::Fail(std::string message, std::string hint) {
  problem_ = {std::move(message), std::move(hint)};
  return false;
}

bool TraceAssembler::FailNext(uint32_t id, size_t count, const char* what) {
  return Fail("has id " + std::to_string(id) + ", but the next of the " + what + " is " +
                  std::to_string(count),
              "ids count from 0 in order of appearance");
}

bool TraceAssembler::FailReference(const char* key, uint32_t id, size_t count, const char* what) {
  return Fail(std::string("has ") + key + " " + std::to_string(id) + ", but " +
                  OnlySome(count, what) + " declared before it",
              "the file is damaged, or what wrote it is wrong");
}

StringId TraceAssembler::Intern(std::string_view text) {
  return text.empty() ? StringId() : trace_.strings.Intern(text);
}

void TraceAssembler::SetTime(Nanoseconds time) {
  trace_.times.resize(size_t{place()} + 1);
  trace_.times.back() = time;
}

bool TraceAssembler::Add(const EndRecord& r) {
  const auto check = [&](const char* key, uint64_t counted, uint64_t read) {
    if (counted == kNotCounted || counted == read) return true;
    return Fail(std::string("counts ") + std::to_string(counted) + " " + key + ", but " +
                    std::to_string(read) + " were read",
                "lines were lost or added after the file was written");
  };
  ended_ = check("records", r.records, trace_.records) &&
           check("graphs", r.graphs, trace_.graphs.size()) &&
           check("nodes", r.nodes, trace_.nodes.size()) &&
           check("edges", r.edges, trace_.edges.size()) &&
           check("blocks", r.blocks, trace_.blocks.size()) &&
           check("launches", r.launches, trace_.launches.size());
  return ended_;
}

void TraceAssembler::MakeRoom(double times) {
  constexpr size_t kFew = 1024;
  constexpr double kSpare = 1.02;
  const auto grow = [&](auto& column) {
    const auto expected = static_cast<size_t>(static_cast<double>(column.size()) * times * kSpare);
    if (column.size() < kFew || expected <= column.capacity()) return;
    column.reserve(expected);
    const size_t used = column.size() * sizeof(column[0]);
    WishForLargePages(reinterpret_cast<std::byte*>(column.data()) + used,
                      column.capacity() * sizeof(column[0]) - used);
  };
  grow(trace_.nodes);
  grow(trace_.edges);
  grow(trace_.accesses);
  grow(trace_.blocks);
  grow(trace_.block_streams);
  grow(trace_.stream_ops);
  grow(trace_.frontier_entries);
  grow(trace_.tool_id_runs);
  grow(trace_.launches);
  grow(trace_.works);
  grow(trace_.times);
}

bool TraceAssembler::Finish() {
  trace_.completeness.truncated = !ended_;
  if (const std::optional<BadMemory> bad = FindBadMemory(trace_)) {
    Fail(bad->message, "the file is damaged, or what wrote it is wrong");
    problem_.place = bad->place;
    return false;
  }
  if (!ended_ || expected_graphs_.empty()) {
    ApplyNodeChanges(&trace_);
    return true;
  }
  const auto& [graph, expected] = *expected_graphs_.begin();
  Fail("node " + std::to_string(expected.parent.value) + " holds graph " +
           std::to_string(graph.value) + ", but " + OnlySome(trace_.graphs.size(), "graphs") +
           " in the file",
       "the file is damaged, or what wrote it is wrong");
  problem_.place = expected.place;
  return false;
}

}  // namespace graphkit
