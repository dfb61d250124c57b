// A trace that can be read can be shown: traces of testdata with a few values changed and records
// added, moved, lost or repeated give an error of one line, or a trace of which every view is made:
// JSON that is valid, and no figure that wrapped around below zero.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "libgraphkit/alloc/estimate/estimate.h"
#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/compare/diff.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "libgraphkit/ran/resolve.h"
#include "libgraphkit/render/analyze/coverage.h"
#include "libgraphkit/render/analyze/json.h"
#include "libgraphkit/render/analyze/text.h"
#include "libgraphkit/render/diff/json.h"
#include "libgraphkit/render/dot/dot.h"
#include "libgraphkit/render/estimate/estimate.h"
#include "libgraphkit/render/explain/explain.h"
#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/render/report/html.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/random.h"
#include "tools/graphkit/check/check.h"
#include "tools/graphkit/export/export.h"
#include "tools/graphkit/plan/find_trades.h"
#include "tools/graphkit/replay/render.h"
#include "tools/graphkit/survive/render.h"

namespace graphkit {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;
using Random = std::mt19937_64;

// Records that the golden traces lack; the numbers are changed like those of other records.
const Lines kMore = {
    R"({"type":"eager","stream":0,"kernels":5,"copies":2,"copied_bytes":8192,"others":1},)",
    R"({"type":"exec_memory","exec":0,"call":"instantiate","before":90000000,"after":80000000},)",
    R"({"type":"exec_memory","exec":0,"call":"launch","before":80000000,"after":70000000},)",
    R"({"type":"work","kind":"kernel","stream":0,"kernel":0,"access":[[0,"w",0,-1]],"complete":true},)",
    R"({"type":"work","kind":"memcpy","stream":0,"access":[[0,"r",0,64],[1,"w",0,64]]},)",
    R"({"type":"launch","exec":0,"stream":0},)",
    R"({"type":"node_destroyed","node":1},)",
    R"({"type":"edge_removed","edge":0},)",
    R"({"type":"graph_destroyed","graph":0},)",
    R"({"type":"exec_destroyed","exec":0},)",
    R"({"type":"exec_updated","exec":0,"graph":0,"result":1,"node":0,"from":1},)",
    R"({"type":"node_set","node":0,"exec":0,"what":"disabled"},)",
    R"({"type":"free","memory":0,"stream":0},)",
    R"({"type":"free_requested","memory":0,"stream":0},)",
    R"({"type":"segment_freed","segment":0},)",
    R"({"type":"record_stream","memory":0,"stream":1},)",
    R"({"type":"dropped","records":3},)",
    R"({"type":"sync","what":"stream","stream":0},)",
};

size_t Below(Random& random, size_t end) { return end == 0 ? 0 : random() % end; }

// A number as it may stand there, or as it may not.
std::string NumberText(Random& random) {
  static const char* const kOdd[] = {"-1",
                                     "255",
                                     "65536",
                                     "4294967294",
                                     "4294967295",
                                     "72057594037927936",
                                     "4611686018427387904",
                                     "9223372036854775807",
                                     "18446744073709551615",
                                     "1e3",
                                     "0.5"};
  if (random() % 4 == 0) return kOdd[Below(random, std::size(kOdd))];
  return std::to_string(Below(random, random() % 2 == 0 ? 4 : 30));
}

void ChangeNumber(Random& random, std::string* line) {
  std::vector<std::pair<size_t, size_t>> numbers;
  for (size_t at = 0; at < line->size();) {
    const size_t begin = line->find_first_of("0123456789", at);
    if (begin == std::string::npos) break;
    at = std::min(line->find_first_not_of("0123456789", begin), line->size());
    numbers.emplace_back(begin, at - begin);
  }
  if (numbers.empty()) return;
  const auto [begin, length] = numbers[Below(random, numbers.size())];
  line->replace(begin, length, NumberText(random));
}

// `,"key":…` up to the next key.
void LoseKey(Random& random, std::string* line) {
  std::vector<size_t> keys;
  for (size_t at = line->find(",\""); at != std::string::npos; at = line->find(",\"", at + 1))
    keys.push_back(at);
  if (keys.empty()) return;
  const size_t which = Below(random, keys.size());
  const size_t end = which + 1 < keys.size() ? keys[which + 1] : line->rfind('}');
  if (end > keys[which]) line->erase(keys[which], end - keys[which]);
}

void ChangeOnce(Random& random, Lines* lines) {
  const size_t at = 1 + Below(random, lines->size() - 1);
  std::string& line = (*lines)[at];
  const auto place = lines->begin() + static_cast<ptrdiff_t>(at);
  switch (random() % 16) {
    case 0:
      return LoseKey(random, &line);
    case 1:
      lines->insert(place, line);
      return;
    case 2:
      if (lines->size() > 2) lines->erase(place);
      return;
    case 3:
      return line.swap((*lines)[1 + Below(random, lines->size() - 1)]);
    case 4:
    case 5:
    case 6: {
      std::string more = kMore[Below(random, kMore.size())];
      if (random() % 2 == 0) ChangeNumber(random, &more);
      lines->insert(place, more);
      return;
    }
    default:
      return ChangeNumber(random, &line);
  }
}

// Mostly without its last line, which counts the records.
std::string Changed(Random& random, Lines lines) {
  if (random() % 4 != 0) lines.pop_back();
  for (size_t i = 1 + Below(random, 2); i > 0; --i) ChangeOnce(random, &lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (random() % 32 == 0) text.resize(Below(random, text.size()));
  return text;
}

// Numbers beyond all memory that the trace itself doesn't have.
bool Wrapped(const nlohmann::json& value, const std::string& text) {
  if (value.is_array())
    return std::ranges::any_of(value, [&](const auto& part) { return Wrapped(part, text); });
  if (value.is_object()) {
    return std::ranges::any_of(value.items(), [&](const auto& item) {
      const bool tools_id = item.key().ends_with("tool_id") || item.key() == "node_ids";
      return !tools_id && Wrapped(item.value(), text);
    });
  }
  if (!value.is_number_unsigned()) return false;
  const auto number = value.get<uint64_t>();
  return number > (uint64_t{1} << 63) && text.find(std::to_string(number)) == std::string::npos;
}

// Renders what a command would write.
class Views {
 public:
  explicit Views(const std::string& text) : text_(text) {}

  template <typename Render>
  void Text(const char* name, Render render) {
    CAPTURE(std::string(name));
    std::ostringstream out;
    render(out);
    const std::string shown = out.str();
    for (const std::string nonsense :
         {"-nan", " nan", " inf ", "16 EiB", "16.0 EiB", "1844674407"}) {
      if (text_.find(nonsense) != std::string::npos) continue;
      CHECK_MESSAGE(shown.find(nonsense) == std::string::npos, nonsense, "\n", shown);
    }
  }

  template <typename Render>
  void Json(const char* name, Render render) {
    CAPTURE(std::string(name));
    std::ostringstream out;
    render(out);
    const nlohmann::json json = nlohmann::json::parse(out.str(), nullptr, false);
    CHECK_MESSAGE(!json.is_discarded(), out.str());
    CHECK_MESSAGE(!Wrapped(json, text_), out.str());
  }

 private:
  const std::string& text_;
};

void ShowReport(const Ran& trace, const Report& report, Views& views) {
  views.Text("analyze", [&](std::ostream& out) { RenderText(report, trace, {{}, out}); });
  for (const BillBy by : {BillBy::kBlock, BillBy::kStack, BillBy::kStream, BillBy::kPool}) {
    const auto bills = BillMemory(trace, report, by);
    const auto held = BillHeld(trace, by, {});
    views.Json("analyze",
               [&](std::ostream& out) { RenderJson(report, trace, out, bills, held, by); });
  }
  const Explanation explanation =
      Explain("trace.json", {}, trace, AccountForMemory(Facts(trace)), &report);
  views.Text("explain", [&](auto& out) {
    RenderExplanation(explanation, trace, false, {{}, out});
  });
  views.Json("explain", [&](auto& out) { RenderExplanationJson(explanation, out); });
  const TraceDiff diff = DiffTraces(trace, report, trace, report);
  CHECK(diff.equal());
  views.Json("diff", [&](auto& out) { RenderDiffJson(diff, {trace, "a"}, {trace, "b"}, out); });
}

void ShowGate(const Ran& trace, const Report& report, Views& views) {
  const GateConfig config{.fail_on_severity = Severity::kNote,
                          .limits = {{"max-deferred", 0},
                                     {"max-peak", 1},
                                     {"max-idle", 0},
                                     {"max-exec-bytes", 1},
                                     {"max-leaks", 0},
                                     {"max-reserved-over-allocated", 1.0},
                                     {"min-coverage", 0.9}}};
  GateRun run;
  run.subjects.push_back(MakeGateSubject("trace.json", Facts(trace), report));
  run.verdict = JudgeGate(run.subjects, config, {});
  views.Text("check", [&](auto& out) { RenderCheckText(run, {{}, out}); });
  views.Text("check, Markdown", [&](auto& out) { RenderCheckMarkdown(run, {{}, out}); });
  views.Text("check, GitHub", [&](auto& out) { RenderGithubAnnotations(run, out); });
  views.Text("check, JUnit", [&](auto& out) { RenderJunit(run, out); });
  views.Json("check", [&](auto& out) { RenderCheckJson(run, out); });
  views.Json("check, SARIF", [&](auto& out) { RenderSarif(run, "1", out); });
}

void ShowDrawings(const Ran& trace, Views& views) {
  for (const Fold fold : {Fold::kNone, Fold::kChains, Fold::kStreams, Fold::kNvtx}) {
    const DotOptions options{.fold = fold, .details = {true, true, true}};
    views.Text("dot", [&](auto& out) { RenderDot(trace, options, out); });
  }
  for (const ExportFormat format : {ExportFormat::kPerfetto, ExportFormat::kJson})
    views.Json("export", [&](auto& out) { RenderExport(trace, {.format = format}, out); });
  for (const CsvTable table : {CsvTable::kNodes, CsvTable::kEdges, CsvTable::kBlocks,
                               CsvTable::kLaunches, CsvTable::kExecNodes})
    views.Text("export", [&](auto& out) { RenderCsv(trace, table, out); });
  const Coverage coverage = FindCoverage(Facts(trace));
  views.Text("coverage", [&](auto& out) { RenderCoverage(coverage, trace, {{}, out}); });
  views.Json("coverage", [&](auto& out) { out << CoverageJson(coverage, trace); });
}

void ShowPlans(const Ran& trace, Random& random, Views& views) {
  const Facts facts(trace);
  const CapturePlannerOptions little{.search = {.effort = 200'000}};
  for (const MarkerRule rule : {MarkerRule::kLastUse, MarkerRule::kAtFree}) {
    const std::vector<PoolBorrow> pools = FindBorrow(facts, rule);
    CHECK(ValidateBorrow(facts, pools).empty());
    PlannedMemory plan = PlanTrace(facts, rule, little);
    plan.borrow = PlanBorrow(facts, plan, rule);
    CHECK(ValidatePlanBorrow(facts, plan).empty());
    CHECK(VerifyPlan(facts, plan, rule).empty());
    BorrowView view{.pools = pools, .plan = &plan};
    std::vector<BorrowAt> ranges;
    if (!trace.nodes.empty()) {
      view.at = NodeId(Below(random, trace.nodes.size()));
      ranges = BorrowAtNode(facts, plan, rule, view.at);
      CHECK(ValidateBorrowAt(facts, plan, ranges).empty());
      view.at_node = ranges;
    }
    views.Json("plan", [&](auto& out) { RenderPlanJson(plan, out); });
    const std::vector<ContentRange> content = FindContent(facts, rule);
    for (size_t i = 1; i < content.size(); ++i)
      CHECK(content[i - 1].bytes.end <= content[i].bytes.begin);
    const ContentBill bill = BillContent(facts, content, pools);
    const std::vector<Registration> registrations = FindRegistrations(facts, content);
    const HeldByGraphs held = FindHeldByGraphs(facts);
    for (const SurviveEvent event :
         {SurviveEvent::kSleep, SurviveEvent::kCheckpoint, SurviveEvent::kRestart}) {
      const SurviveView survive{event, {}, bill, content, registrations, held, view};
      views.Json("survive", [&](auto& out) { RenderSurviveJson(survive, trace, out); });
      views.Text("survive", [&](auto& out) { RenderSurviveText(survive, trace, {{}, out}); });
    }
  }
}

void ShowReplays(const Ran& trace, const Report& report, Views& views) {
  const Facts facts(trace);
  std::vector<PolicyKind> policies;
  for (const PolicyInfo& info : Policies()) policies.push_back(info.kind);
  const CapturePlannerOptions little{.search = {.effort = 200'000}};
  const ReplayOptions options{.verify = true, .config = {}, .planner = little};
  const std::vector<PolicyReplay> replays = ReplayTrace(facts, policies, options);
  for (const PolicyReplay& replay : replays) {
    CAPTURE(ReplayName(replay));
    if (replay.policy == PolicyKind::kReuse) CHECK(replay.verified);
  }
  views.Json("replay", [&](auto& out) { RenderReplayJson(replays, {}, trace, out); });
  const Facts drawn = FindReportFacts(trace, {});
  std::ostringstream page;
  RenderReportHtml({drawn, report, replays.data()}, page);
}

void ShowAll(const Ran& trace, const std::string& text, Random& random) {
  Views views(text);
  const std::string written = *FormatTrace(AsRecorded(trace));
  const Result<Trace> again = ParseTrace(written, "again");
  REQUIRE_MESSAGE(again, Describe(again.error()));
  CHECK(*FormatTrace(*again) == written);
  for (const EdgeRule edges : {EdgeRule::kCompletion, EdgeRule::kAllFull}) {
    const AnalyzeOptions options{.edges = edges};
    const Facts facts = FindReportFacts(trace, options);
    Result<Report> report = Analyze(facts, options);
    REQUIRE(report);
    AddPlans(facts, &*report);
    ShowReport(trace, *report, views);
    if (edges == EdgeRule::kAllFull) continue;
    ShowGate(trace, *report, views);
    ShowReplays(trace, *report, views);
  }
  ShowDrawings(trace, views);
  ShowPlans(trace, random, views);
  const auto estimate = EstimateMemory(trace, {.sizes = {1, 7, 4'000'000'000}});
  if (!estimate) return;
  views.Text("estimate", [&](auto& out) { RenderEstimate(*estimate, {{}, out}); });
  views.Json("estimate", [&](auto& out) { RenderEstimateJson(*estimate, out); });
}

std::vector<Lines> Originals() {
  std::vector<fs::path> paths;
  for (const char* folder : {"traces/soft", "nccl-traces"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(GRAPHKIT_TESTDATA) / folder)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<Lines> originals;
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    Lines& lines = originals.emplace_back();
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  return originals;
}

TEST_CASE("every view of a changed trace is made") {
  const uint64_t seed = RandomSeed();
  const std::vector<Lines> originals = Originals();
  REQUIRE(originals.size() > 10);
  const char* folder = std::getenv("GRAPHKIT_CHANGED_TRACES");  // keeps them, for a closer look
  size_t read = 0;
  for (int round = 0; round < RandomRounds(150); ++round) {
    const uint64_t round_seed = seed + static_cast<uint64_t>(round);
    CAPTURE(round_seed);
    Random random(round_seed);
    const std::string text = Changed(random, originals[Below(random, originals.size())]);
    const Result<Trace> trace = ParseTrace(text, "changed.json");
    if (!trace) {
      CHECK(Describe(trace.error()).starts_with("changed.json"));
      CHECK(Describe(trace.error()).find('\n') == std::string::npos);
      continue;
    }
    ++read;
    if (folder) std::ofstream(fs::path(folder) / (std::to_string(round) + ".json")) << text;
    ShowAll(Resolve(*trace), text, random);
  }
  CHECK(read > 10);
}

}  // namespace
}  // namespace graphkit
