#include "libgraphkit/render/dot/dot.h"

#include "libgraphkit/analysis/names/titles.h"
#include "libgraphkit/render/dot/writer.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

namespace {

const char* FoldText(Fold fold) {
  if (fold == Fold::kNvtx) return ", NVTX ranges";
  return fold == Fold::kStreams ? ", stretches of streams" : ", straight chains";
}

std::vector<std::string> Notes(const Trace& trace, const DotOptions& options,
                               const Selection& selection, const FoldedGraphs& folded) {
  std::vector<std::string> notes;
  if (trace.process.device == DeviceKind::kSoft) notes.push_back(DeviceTitle(trace.process));
  AddMissingEdgeData(trace.process, notes);
  if (!IsComplete(trace)) notes.push_back("the trace is incomplete");
  if (selection.graphs_left_out > 0) {
    const uint64_t most = options.select.most_graphs;
    notes.push_back("the " + Counted(most, "graph") + " with the most nodes, of " +
                    FormatCount(most + selection.graphs_left_out));
  }
  if (options.select.focus) {
    notes.push_back("what lies at most " + Counted(options.select.depth, "edge") + " from node " +
                    std::to_string(options.select.focus.value));
  }
  if (!options.path.empty()) {
    notes.push_back("thick: the longest path, " + Counted(options.path.size(), "node"));
  }
  if (options.rank == RankBy::kCapture && folded.fold != Fold::kStreams) {
    notes.push_back("from top to bottom: the order of the calls");
  }
  if (folded.boxes.size() < folded.nodes) {
    notes.push_back(FormatCount(folded.nodes) + " nodes folded into " +
                    Counted(folded.boxes.size(), "group") + FoldText(folded.fold));
  }
  return notes;
}

}  // namespace

DotSummary RenderDot(const Trace& trace, const DotOptions& options, std::ostream& out) {
  const Selection selection = Select(trace, options.select);
  const FoldedGraphs folded = FoldGraphs(trace, selection.nodes, options.fold);
  const DotSummary summary{folded.nodes, folded.boxes.size(), folded.fold,
                           Notes(trace, options, selection, folded), selection.graphs_left_out};
  const Drawing drawing{trace, folded, selection.graphs, options, ColourNodes(trace, options)};
  WriteDot(drawing, DotLegend(drawing, summary.notes), out);
  return summary;
}

}  // namespace graphkit
