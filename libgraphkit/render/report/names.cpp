#include "libgraphkit/render/report/names.h"

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/render/dot/labels.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/names.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {

namespace {

constexpr size_t kTitleColumns = 48;
constexpr size_t kFullNameColumns = 4000;  // of a full name; the middle of longer ones is left out

}  // namespace

uint32_t TextList::Add(const std::string& text) {
  const auto [found, fresh] = numbers_.emplace(text, static_cast<uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(text);
  return found->second;
}

// Titles are told apart by their full names: two instances of a template have one each.
NodeTexts NameNodes(const Trace& trace) {
  NodeTexts texts;
  TextList full;
  std::vector<uint32_t> of_kernel(trace.kernels.size(), ~0u);
  std::vector<uint32_t> of_kind(256, ~0u);
  const auto add = [&](NodeId id) {
    const Node& node = trace[id];
    const bool kernel = node.kind == NodeKind::kKernel && node.kernel;
    std::string name = kernel ? Demangle(trace[trace[node.kernel].name]) : "";
    if (name.empty()) name = NodeKindName(node.kind);
    const uint32_t number = full.Add(Ellipsize(name, kFullNameColumns));
    if (number == texts.names.size()) {
      texts.names.push_back(full.texts().back());
      texts.short_names.push_back(NodeTitle(trace, id, kTitleColumns));
    }
    return number;
  };
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    const bool kernel = node.kind == NodeKind::kKernel && node.kernel;
    uint32_t& number =
        kernel ? of_kernel[node.kernel.index()] : of_kind[static_cast<size_t>(node.kind)];
    if (number == ~0u) number = add(NodeId(i));
    texts.name.push_back(number);
    texts.detail.push_back(texts.details.Add(NodeDetail(trace, NodeId(i))));
  }
  return texts;
}

Json StacksJson(const Trace& trace) {
  Json stacks = Json::array();
  for (const Stack& stack : trace.stacks) {
    Json frames = Json::array();
    for (uint32_t i = 0; i < stack.frames.count; ++i) {
      const StackFrame& frame = trace.stack_frames[stack.frames.first + i];
      const std::string_view function = trace[frame.function], file = trace[frame.file];
      frames.push_back(
          Json::array({Ellipsize(Demangle(function), kFullNameColumns), Printable(ShownFile(file)),
                       frame.line, IsLibraryFrame(function, file)}));
    }
    stacks.push_back(std::move(frames));
  }
  return stacks;
}

}  // namespace graphkit
