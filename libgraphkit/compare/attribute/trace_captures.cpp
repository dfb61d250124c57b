#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/attribute/attribute.h"
#include "libgraphkit/model/tool_ids.h"

namespace graphkit {
namespace {

// All ids that tools know a node by.
std::map<NodeId, std::vector<uint64_t>> ToolIdsOf(const Ran& trace,
                                                  const std::map<NodeId, uint64_t>& tool_ids) {
  std::map<NodeId, std::vector<uint64_t>> ids;
  for (const auto& [node, id] : tool_ids) ids[node].push_back(id);
  const ExecToolIds of(trace);
  for (size_t exec = 0; exec < trace.execs.size(); ++exec) {
    for (const ToolIdRun& run : of.Of(ExecId(exec))) {
      for (uint32_t i = 0; i < run.count; ++i)
        ids[NodeId(run.first.value + i)].push_back(run.tool_id + i);
    }
  }
  return ids;
}

std::optional<Bytes> TouchedBytes(const Ran& trace, const Node& node) {
  Bytes bytes = 0;
  for (uint32_t i = 0; i < node.accesses.count; ++i) {
    const Bytes length = trace.accesses[node.accesses.first + i].length;
    if (length == kLengthUnknown) return std::nullopt;
    bytes += length;
  }
  return node.accesses_complete ? std::optional(bytes) : std::nullopt;
}

// The program's frames, the outermost first.
std::string OwnFrames(const Ran& trace, StackId stack) {
  std::string text;
  if (!stack) return text;
  const std::span<const StackFrame> frames = StackFrames(trace, stack);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const std::string_view function = trace[frame->function], file = trace[frame->file];
    if (frame->line == 0 || IsLibraryFrame(function, file)) continue;
    text.append(text.empty() ? "" : "\n").append(file.substr(file.rfind('/') + 1));
    text += ":" + std::to_string(frame->line) + " " + std::string(function);
  }
  return text;
}

}  // namespace

void AddTraceCaptures(const Ran& trace, const std::string& name,
                      const std::map<NodeId, uint64_t>& tool_ids, Profile* profile) {
  const auto intern = [&](std::string_view text) {
    return text.empty() ? StringId() : profile->strings.Intern(text);
  };
  const std::map<NodeId, std::vector<uint64_t>> ids = ToolIdsOf(trace, tool_ids);
  std::vector<std::vector<CapturedWork>> by_graph(trace.graphs.size());
  for (const NodeId id : trace.graph_nodes) {
    const Node node = trace[id];
    if (node.kind > NodeKind::kMemset) continue;
    CapturedWork of{.work = {.kind = node.kind}, .bytes = TouchedBytes(trace, node)};
    if (node.kernel.valid()) of.work.kernel = intern(trace[trace[node.kernel].name]);
    if (node.shape < trace.shapes.size()) of.work.shape = trace.shapes[node.shape];
    if (const auto known = ids.find(id); known != ids.end()) of.work.ids = known->second;
    const std::span<const NodeLabel> labels = RowsAt(trace.node_labels, node.seq);
    of.place = static_cast<uint32_t>(profile->places.size());
    profile->places.push_back(
        {.line = intern(StackTitle(trace, node.stack)),
         .op = labels.empty() ? StringId() : intern(trace[labels.front().text]),
         .collective = intern(CollectivesText(trace, node.seq)),
         .stack = intern(OwnFrames(trace, node.stack))});
    by_graph[node.graph.index()].push_back(std::move(of));
  }
  for (std::vector<CapturedWork>& works : by_graph) {
    if (works.empty()) continue;
    const Slice slice{static_cast<uint32_t>(profile->captured.size()),
                      static_cast<uint32_t>(works.size())};
    profile->graphs.push_back({.source = intern(name), .work = slice});
    for (CapturedWork& work : works) profile->captured.push_back(std::move(work));
  }
}

}  // namespace graphkit
