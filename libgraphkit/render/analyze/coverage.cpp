#include "libgraphkit/render/analyze/coverage.h"

#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {

GRAPHKIT_JSON_OF(WorkCounts, kernels, copies, copied_bytes)

namespace {

constexpr size_t kCoverageColumns = 48;

constexpr std::array<const char*, 4> kBecause = {
    "never captured", "captured only where the capture broke", "in a graph that is never launched",
    "also in graphs that are launched"};
constexpr std::array<const char*, 4> kBecauseWords = {"never_captured", "capture_broke",
                                                      "never_launched", "also_in_graphs"};

std::string Percent(std::optional<double> share) { return share ? FormatPercent(*share) : "-"; }

void RenderShare(const CoverageShare& share, const TextOut& out) {
  const WorkCounts &graphs = share.in_graphs, &eager = share.eager;
  out << Table({{"", "in graphs", "eager", "share"},
                {"kernel launches", FormatCount(graphs.kernels), FormatCount(eager.kernels),
                 Percent(share.kernels())},
                {"copies", FormatCount(graphs.copies), FormatCount(eager.copies),
                 Percent(ShareOf(graphs.copies, eager.copies))},
                {"bytes copied", FormatBytes(graphs.copied_bytes), FormatBytes(eager.copied_bytes),
                 Percent(ShareOf(graphs.copied_bytes, eager.copied_bytes))}},
               "lrrr", "  ", out.style);
}

void RenderRows(const std::string& title, const std::vector<CoverageRow>& rows,
                const TextOut& out) {
  if (rows.empty()) return;
  const auto row = [](const CoverageRow& of) {
    const CoverageShare& share = of.share;
    return TextRow{Ellipsize(Printable(of.name), kCoverageColumns),
                   FormatCount(share.in_graphs.kernels), FormatCount(share.eager.kernels),
                   Percent(share.kernels())};
  };
  out << "\n";
  out.TopTable({title, "in graphs", "eager", "share"}, "lrrr", "  ", rows, row);
}

void RenderKernels(const Coverage& coverage, const Ran& trace, const TextOut& out) {
  if (coverage.kernels.empty()) return;
  const auto row = [&trace](const EagerKernel& kernel) {
    return TextRow{FormatCount(kernel.launches),
                   ShortName(Demangle(trace[trace[kernel.kernel].name]), kCoverageColumns),
                   kBecause[static_cast<size_t>(kernel.because)]};
  };
  out << "\n";
  out.TopTable({"launches", "kernel", "why it is eager"}, "rll", "  ", coverage.kernels, row);
}

Json ShareJson(const CoverageShare& share) {
  return Json{
      {"in_graphs", share.in_graphs}, {"eager", share.eager}, {"kernel_share", share.kernels()}};
}

Json CoverageRowJson(const CoverageRow& row) {
  Json json{{"name", row.name}};
  json.update(ShareJson(row.share));
  return json;
}

}  // namespace

void RenderCoverage(const Coverage& coverage, const Ran& trace, const TextOut& out) {
  if (!coverage.unknown.empty()) {
    out.Wrap("", "Coverage: unknown, " + coverage.unknown);
    return;
  }
  out.Wrap("", "Coverage: " + Percent(coverage.share.kernels()) +
                   " of kernel launches run in graphs, from the first of " +
                   Counted(coverage.graph_launches, "graph launch") + " on");
  RenderShare(coverage.share, out);
  if (coverage.before.kernels + coverage.before.copies > 0) {
    out.Wrap("  ", "Before that " + Counted(coverage.before.kernels, "kernel launch") + " and " +
                       FormatCount(coverage.before.copies) +
                       (coverage.before.copies == 1 ? " copy" : " copies") + ", which don't count");
  }
  if (coverage.conditional_kernels > 0) {
    out.Wrap("  ", FormatCount(coverage.conditional_kernels) +
                       " of those in graphs are in bodies of conditionals, counted once a launch");
  }
  if (coverage.broken_captures > 0) {
    out.Wrap("  ", Counted(coverage.broken_captures, "capture") +
                       " broke: graphkit check --fail-on capture-invalidated says why");
  }
  RenderRows("stream", coverage.by_stream, out);
  RenderRows("NVTX range", coverage.by_range, out);
  RenderKernels(coverage, trace, out);
  if (coverage.kernels.empty() && coverage.share.eager.kernels > 0) {
    out.Paragraph("",
                  "Which kernels these are, in which NVTX ranges, and why they are eager: "
                  "record with --scope all");
  }
}

Json CoverageJson(const Coverage& coverage, const Ran& trace) {
  Json json{{"unknown", NullIfEmpty(coverage.unknown)}};
  json.update(ShareJson(coverage.share));
  if (!coverage.unknown.empty()) json["kernel_share"] = nullptr;
  json["before_first_launch"] = coverage.before;
  GRAPHKIT_ADD_MEMBERS(json, coverage, graph_launches, conditional_kernels, broken_captures);
  json["by_stream"] = ListJson(coverage.by_stream, CoverageRowJson);
  json["by_range"] = ListJson(coverage.by_range, CoverageRowJson);
  json["eager_kernels"] = ListJson(coverage.kernels, [&](const EagerKernel& kernel) {
    return Json{{"kernel", trace[trace[kernel.kernel].name]},
                {"launches", kernel.launches},
                {"because", kBecauseWords[static_cast<size_t>(kernel.because)]}};
  });
  return json;
}

}  // namespace graphkit
