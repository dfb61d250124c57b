#include "libgraphkit/render/report/html.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/json.h"
#include "libgraphkit/render/report/page_sources.h"
#include "tools/graphkit/attribute/render.h"

namespace graphkit {
namespace {

constexpr size_t kPageKernelColumns = 64;

// Texts by number, each once.
class PageTexts {
 public:
  size_t Of(const std::string& text) {
    const auto [at, is_new] = known_.try_emplace(text, list.size());
    if (is_new) list.push_back(text);
    return at->second;
  }
  std::vector<std::string> list;

 private:
  std::map<std::string, size_t> known_;
};

Json FramesOf(std::string_view stack) {
  Json frames = Json::array();
  while (!stack.empty()) {
    const std::string_view frame = stack.substr(0, stack.find('\n'));
    stack.remove_prefix(std::min(stack.size(), frame.size() + 1));
    frames.push_back(Printable(frame));
  }
  return frames;
}

// The nodes that ran: [graph, number in it, stack, size, kernel, line, ns, runs].
Json PageNodes(const Profile& profile, const Attribution& attribution, PageTexts* stacks,
               PageTexts* names) {
  Json nodes = Json::array();
  for (size_t graph = 0; graph < profile.graphs.size(); ++graph) {
    const Slice work = profile.graphs[graph].work;
    for (uint32_t i = 0; i < work.count; ++i) {
      const uint32_t at = work.first + i;
      const WorkTime& time = attribution.times[at];
      if (time.count == 0) continue;
      const ProfilePlace& place = profile.places[profile.captured[at].place];
      const std::string kernel =
          ShortName(Demangle(profile[attribution.ran_as[at]]), kPageKernelColumns);
      nodes.push_back({graph, i, stacks->Of(std::string(profile[place.stack])),
                       attribution.size_of[graph], names->Of(kernel),
                       names->Of(Printable(profile[place.line])), time.ns, time.count});
    }
  }
  return nodes;
}

}  // namespace

void RenderAttributionHtml(const Profile& profile, const Attribution& attribution,
                           const std::string& replay, std::ostream& out) {
  PageTexts stacks, names;
  Json nodes = PageNodes(profile, attribution, &stacks, &names);
  Json graphs = Json::array();
  for (const ProfiledCapture& graph : profile.graphs)
    graphs.push_back(Printable(profile[graph.source]) + " " + std::to_string(graphs.size()));
  const Json page = {
      {"replay", Printable(replay)},
      {"summary", AttributedSummary(attribution)},
      {"sizes",
       ListJson(
           attribution.sizes,
           [](const AttributedSize& size) {
             return Json{{"name", Printable(AttributedSizeName(size))}, {"replays", size.replays}};
           })},
      {"graphs", std::move(graphs)},
      {"stacks", ListJson(stacks.list, [](const std::string& stack) { return FramesOf(stack); })},
      {"names", names.list},
      {"nodes", std::move(nodes)}};
  WritePage({kSinglePage, kReportStyle, kAttributeScript, "attribute"}, Packed(Dump(page)), "",
            out);
}

}  // namespace graphkit
