#include "libgraphkit/analysis/checks/places.h"

#include <algorithm>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {
namespace {

constexpr uint32_t kFramesKept = 32;
constexpr size_t kPlaces = 4;  // of a finding

std::vector<PlaceFrame> FramesOf(const Ran& trace, StackId stack) {
  std::vector<PlaceFrame> frames;
  const std::span<const StackFrame> all = StackFrames(trace, stack);
  for (const StackFrame& frame : all) {
    const std::string_view function = trace[frame.function], file = trace[frame.file];
    const bool last = &frame == &all.back();
    if (frames.empty() && !last && IsCudaFrame(function, file)) continue;
    frames.push_back({std::string(function), std::string(file), frame.line});
    if (frames.size() == kFramesKept) break;
  }
  return frames;
}

PlaceFrame LineOf(const std::vector<PlaceFrame>& frames) {
  const PlaceFrame* found = nullptr;
  for (const PlaceFrame& frame : frames) {
    if (frame.line == 0 || frame.file.empty()) continue;
    if (!IsLibraryFrame(frame.function, frame.file)) return frame;
    if (found == nullptr) found = &frame;
  }
  return found == nullptr ? PlaceFrame() : *found;
}

std::string LogicalName(const Ran& trace, const Finding& finding) {
  std::string name = "trace";
  if (finding.graph) {
    name = "graph " + std::to_string(finding.graph.value);
    const std::string_view text = trace[trace[finding.graph].name];
    if (!text.empty()) name += " " + std::string(text);
  }
  if (!finding.nodes.empty()) return name + "/node " + std::to_string(finding.nodes[0].value);
  if (!finding.blocks.empty()) return name + "/block " + std::to_string(finding.blocks[0].value);
  if (!finding.streams.empty()) return name + "/stream " + std::to_string(finding.streams[0].value);
  return name;
}

void AddPlace(const Ran& trace, StackId stack, const std::string& about, Finding* finding) {
  std::vector<FindingPlace>& places = finding->places;
  if (!stack || places.size() == kPlaces) return;
  FindingPlace place{.about = about, .frames = FramesOf(trace, stack)};
  place.line = LineOf(place.frames);
  if (!places.empty()) place.frames.clear();
  const bool known = std::ranges::find(places, place.line, &FindingPlace::line) != places.end();
  // A second place is one of its own.
  if (places.empty() || (!known && place.line != PlaceFrame())) places.push_back(std::move(place));
}

// By graph: the stack of its first node that has one.
std::vector<StackId> FirstStacks(const Ran& trace) {
  std::vector<StackId> stacks(trace.graphs.size());
  for (const Node node : trace.nodes) {
    if (node.graph && !stacks[node.graph.index()]) stacks[node.graph.index()] = node.stack;
  }
  return stacks;
}

}  // namespace

void FindPlaces(const Ran& trace, std::vector<Finding>* findings) {
  std::vector<StackId> first;
  for (Finding& finding : *findings) {
    finding.logical = LogicalName(trace, finding);
    for (const Evidence& evidence : finding.evidence)
      AddPlace(trace, evidence.stack, evidence.text, &finding);
    if (finding.places.empty()) AddPlace(trace, StackOf(finding, trace), "", &finding);
    if (finding.places.empty() && finding.nodes.empty() && finding.graph) {
      if (first.empty()) first = FirstStacks(trace);
      AddPlace(trace, first[finding.graph.index()], "its first node", &finding);
    }
    finding.missing_line = MissingLine(finding, trace);
  }
}

PlaceFrame LineOfStack(const Ran& trace, StackId stack) { return LineOf(FramesOf(trace, stack)); }

}  // namespace graphkit
