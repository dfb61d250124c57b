// `graphkit plan`: where blocks should lie.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/alloc/plan/planner.h"
#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/plan/certificate.h"
#include "tools/graphkit/plan/trade.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct PlanArguments {
  std::string file;
  std::string output;
  std::string certificate;
  Format format = Format::kText;
  std::optional<Bytes> capacity;
  bool to_the_least = false;  // not only until the capacity holds it
  CapturePlannerOptions options;
  MarkerRule rule = MarkerRule::kLastUse;
  bool trade = false;       // what would lower the peak, in place of a plan
  size_t top = View{}.top;  // of its entries
  std::string sequence;     // launch order; empty: that of graphs which share a pool
  int exit_code = kExitOk;  // that goes with the input
};

constexpr const char* kRecorded = "recorded";
constexpr const char* kNone = "none";  // each graph has its own memory

PlannedMemory Describe(LifetimeTable table, const Plan& plan) {
  PlannedMemory planned;
  const LifetimeProblem& problem = table.problem;
  planned.peak = plan.peak;
  planned.lower_bound = plan.lower_bound;
  planned.arenas.push_back(
      {.blocks = problem.blocks.size(), .peak = plan.peak, .lower_bound = plan.lower_bound});
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    planned.placements.push_back(
        {.block = i, .offset = plan.offsets[i], .size = problem.blocks[i].size});
  }
  planned.names = std::move(table.ids);
  return planned;
}

Result<PlannedMemory> PlanTable(const PlanArguments& arguments) {
  Result<LifetimeTable> table = ReadLifetimeCsv(arguments.file);
  if (!table) return table.error();
  if (table->problem.blocks.empty()) {
    return Error{.message = "nothing to judge: the table has no rows",
                 .file = arguments.file,
                 .kind = Error::Kind::kIncomplete};
  }
  PlannerOptions search = arguments.options.search;
  Progress progress("planning " + arguments.file, search.effort);
  search.progress = [&](const PlanProgress& now) { *progress.done() = now.effort; };
  const Plan plan = PlanLifetimes(table->problem, search);
  const std::vector<PlanViolation> wrong = ValidatePlan(table->problem, plan);
  if (!wrong.empty()) {
    return Error{.message = "the plan is wrong: " + DescribeViolation(wrong.front(), plan),
                 .hint = "nothing was written; this is an error of graphkit",
                 .file = arguments.file};
  }
  return Describe(std::move(*table), plan);
}

bool IsTable(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".CSV") || path.ends_with(".txt");
}

// "recorded", or graphs by id.
Result<std::vector<GraphId>> SequenceOf(const Facts& facts, const PlanArguments& arguments) {
  if (arguments.sequence == kRecorded) {
    Result<std::vector<GraphId>> steps = RecordedSequence(facts);
    if (steps) return steps;
    Error error = steps.error();
    error.file = arguments.file;
    return error;
  }
  std::vector<GraphId> steps;
  std::istringstream words(arguments.sequence);
  for (std::string word; std::getline(words, word, ',');) {
    uint32_t graph = GraphId::kNone;
    std::from_chars(word.data(), word.data() + word.size(), graph);  // digits; unchanged: too many
    if (graph >= facts.blocks().size() || facts.roots()[graph] != GraphId(graph)) {
      return Error{.message = "there is no graph " + word + " to be launched",
                   .hint = "graphkit analyze lists the graphs",
                   .file = arguments.file};
    }
    steps.emplace_back(graph);
  }
  return steps;
}

Result<PlannedMemory> PlanGraphs(const Facts& facts, const PlanArguments& arguments,
                                 std::atomic<size_t>* done) {
  Result<std::vector<GraphId>> steps = std::vector<GraphId>();
  if (arguments.sequence.empty()) {
    steps = SequenceOfSharers(facts);
  } else if (arguments.sequence != kNone) {
    steps = SequenceOf(facts, arguments);
  }
  if (!steps) return steps.error();
  if (steps->empty()) return PlanTrace(facts, arguments.rule, arguments.options, done);
  PlannedMemory plan = PlanSequence(facts, *steps, arguments.rule, arguments.options);
  if (const auto wrong = ValidateSequence(facts, plan); !wrong.empty()) {
    return Error{.message = "the plan is wrong: block " + std::to_string(wrong[0].by.value) +
                            " destroys block " + std::to_string(wrong[0].output.value),
                 .hint = "nothing was written; this is an error of graphkit",
                 .file = arguments.file};
  }
  return plan;
}

std::string CheckSequence(const std::string& text) {
  const bool ids = !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos &&
                   text.size() < 1'000'000 && text.front() != ',' &&
                   text.find(",,") == std::string::npos;
  if (ids || text == kRecorded || text == kNone) return "";
  return "'" + text + "' is no launch order; write recorded, none, or graphs: 0,1,2";
}

// What reading and ordering freed, and main.cpp keeps for what comes next: planning needs less.
void GiveBackMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

Result<PlannedMemory> PlanCaptures(PlanArguments& arguments) {
  const Result<Ran> trace = ReadWithMemory(arguments.file);
  if (!trace) return trace.error();
  Progress progress("analyzing " + arguments.file);
  const Facts facts(*trace);
  facts.lives();
  GiveBackMemory();
  progress.Next("planning " + arguments.file, trace->graphs.size());
  Result<PlannedMemory> made = PlanGraphs(facts, arguments, progress.done());
  if (!made) return made.error();
  PlannedMemory plan = std::move(*made);
  const std::vector<UnsafePair> wrong = VerifyPlan(facts, plan, arguments.rule);
  if (!wrong.empty()) {
    return Error{.message = "the plan is wrong: block " + std::to_string(wrong[0].earlier.value) +
                            " and block " + std::to_string(wrong[0].later.value) + " overlap",
                 .hint = "nothing was written; this is an error of graphkit",
                 .file = arguments.file};
  }
  arguments.exit_code = WarnIncomplete(*trace, arguments.file);
  return plan;
}

Result<void> WritePlan(const PlannedMemory& plan, const PlanArguments& arguments) {
  const auto json = [&plan](std::ostream& out) { RenderPlanJson(plan, out); };
  if (!arguments.output.empty()) {
    const Result<void> written = WriteOutput(arguments.output, json);
    if (!written || arguments.output == "-") return written;
  }
  if (arguments.format == Format::kJson) return WriteOutput("-", json);
  return WriteOutput("-", [&plan](std::ostream& out) { RenderPlanText(plan, out); });
}

bool LacksTraceFile(const PlanArguments& arguments) {
  return IsTable(arguments.file) || arguments.file == "-";
}

int RunPlan(PlanArguments& arguments) {
  if (arguments.trade) {
    const bool json = arguments.format == Format::kJson || arguments.output.ends_with(".json");
    return WriteTrades(arguments.file, arguments.rule,
                       {.output = arguments.output.empty() ? "-" : arguments.output,
                        .format = json ? Format::kJson : Format::kText,
                        .top = arguments.top});
  }
  if (IsTable(arguments.file) && !arguments.sequence.empty()) {
    return PrintError(Error{.message = "plan: --sequence is for a trace, not for a table"});
  }
  if (!arguments.certificate.empty() && LacksTraceFile(arguments)) {
    return PrintError(Error{.message = "plan: --certificate needs a trace in a file"});
  }
  if (!arguments.to_the_least) arguments.options.search.capacity = arguments.capacity.value_or(0);
  Result<PlannedMemory> plan =
      IsTable(arguments.file) ? PlanTable(arguments) : PlanCaptures(arguments);
  if (!plan) return PrintError(plan.error());
  plan->capacity = arguments.capacity;
  const bool fits = plan->fits();
  Result<void> written = WritePlan(*plan, arguments);
  if (written && !arguments.certificate.empty()) {
    const Assumption assumes =
        arguments.rule == MarkerRule::kLastUse ? Assumption::kArguments : Assumption::kTorchStreams;
    written = WriteCertificate({.placed = std::move(*plan), .assumes = assumes}, arguments.file,
                               arguments.certificate);
  }
  if (!written) return PrintError(written.error());
  if (arguments.exit_code != kExitOk) return arguments.exit_code;
  return fits ? kExitOk : kExitFailed;
}

void AddLimits(CLI::App& sub, PlanArguments& arguments) {
  AddSize(
      sub, "--capacity", arguments.capacity,
      "Fail when the plan needs more (exit code 1); stop searching when it fits, unless --effort "
      "or --time is given");
  const auto set_effort = [&arguments](const uint64_t& effort) {
    arguments.to_the_least = true;
    arguments.options.search.effort = effort;
  };
  sub.add_option_function<uint64_t>(
         "--effort", set_effort,
         "Search effort in block visits; 0: greedy only (default: 6000000000)")
      ->option_text("N")
      ->check(CheckNotNegative);
  const auto set_time = [&arguments](const double& seconds) {
    arguments.to_the_least = true;
    arguments.options.search.seconds = seconds;
  };
  sub.add_option_function<double>(
         "--time", set_time,
         "Stop searching after this many seconds; the plan then depends on the machine")
      ->option_text("S")
      ->check(CheckNotNegative);
  sub.add_option("--sequence", arguments.sequence,
                 "Plan for graphs that share their pools and are launched in this order, again and "
                 "again (default: recorded where graphs were captured into one pool, else none)")
      ->option_text("recorded|none|0,1,2,…")
      ->check(CheckSequence);
  AddAssume(sub, arguments.rule);
}

}  // namespace

void AddPlanCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<PlanArguments>(
      app, exit_code, RunPlan, "plan", "Compute a memory placement with a low peak",
      {"graphkit plan trace.json -o plan.json", "graphkit plan trace.json --sequence recorded",
       "graphkit plan trace.json --capacity 16GiB --time 60", "graphkit plan trace.json --trade",
       "graphkit plan lifetimes.csv"});
  sub->add_option("input", arguments->file, "Trace, or table id,lower,upper,size (.csv)")
      ->required();
  AddFormat(*sub, arguments->format);
  AddOutput(*sub, arguments->output, "Also write the plan to FILE, as JSON");
  sub->add_option("--certificate", arguments->certificate,
                  "Also write a proof of the plan and its bound to FILE, for check_certificate.py")
      ->option_text("FILE");
  AddLimits(*sub, *arguments);
  sub->add_flag("--trade", arguments->trade,
                "Find the waits and frees that would lower the peak, and their cost in critical "
                "path, in place of a plan")
      ->excludes(sub->get_option("--capacity"), sub->get_option("--effort"),
                 sub->get_option("--time"), sub->get_option("--sequence"),
                 sub->get_option("--certificate"));
  AddTop(*sub, arguments->top);
}

}  // namespace graphkit
