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

#include "libgraphkit/alloc/plan/plan_sequence.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/alloc/plan/planner.h"
#include "libgraphkit/alloc/plan/validate_plan.h"
#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/replay/replay_trace.h"
#include "libgraphkit/replay/trade.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/commands/plan_borrow.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

namespace {

struct PlanArguments {
  std::string file;
  std::string output;
  Format format = Format::kText;
  std::optional<Bytes> capacity;
  bool to_the_least = false;  // not only until the capacity holds it
  CapturePlannerOptions options;
  MarkerRule rule = MarkerRule::kLastUse;
  std::string sequence;  // launch order; empty: each graph has its own memory
  bool trade = false;
  bool borrow = false;
  std::optional<uint32_t> at;  // with --borrow: a node
  size_t top = TextStyle{}.top;
  int exit_code = kExitOk;  // that goes with the input
};

constexpr const char* kRecorded = "recorded";

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
    if (graph >= facts.blocks.size() || facts.roots[graph] != GraphId(graph)) {
      return Error{.message = "there is no graph " + word + " to be launched",
                   .hint = "graphkit analyze lists the graphs",
                   .file = arguments.file};
    }
    steps.emplace_back(graph);
  }
  return steps;
}

Result<PlannedMemory> PlanShared(const Facts& facts, const PlanArguments& arguments) {
  const Result<std::vector<GraphId>> steps = SequenceOf(facts, arguments);
  if (!steps) return steps.error();
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
  if (ids || text == kRecorded) return "";
  return "'" + text + "' is no launch order; write recorded, or graphs: 0,1,2";
}

// Placing asks the order alone, which has taken the edges in. What reading and ordering freed, and
// main.cpp keeps for what comes next, goes back as well: planning needs less.
void GiveBackMemory(Trace* trace) {
  trace->edges = EdgeColumn();
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

Result<PlannedMemory> PlanCaptures(PlanArguments& arguments) {
  Result<Trace> trace = ReadInput(arguments.file);
  if (!trace) return trace.error();
  if (const Result<void> holds = HoldsMemory(*trace, arguments.file); !holds) return holds.error();
  Progress progress("analyzing " + arguments.file);
  const Facts facts = FindFacts(*trace, {.scope = FactScope::kPlacement});
  GiveBackMemory(&*trace);
  progress.Next("planning " + arguments.file, trace->graphs.size());
  Result<PlannedMemory> made = arguments.sequence.empty()
                                   ? Result<PlannedMemory>(PlanTrace(
                                         facts, arguments.rule, arguments.options, progress.done()))
                                   : PlanShared(facts, arguments);
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

// The cost of less memory.
std::vector<Trade> FindAllTrades(const Trace& trace, MarkerRule rule,
                                 std::atomic<size_t>* steps_done) {
  const Facts facts = FindFacts(trace, {.scope = FactScope::kPlacement});
  std::vector<GraphId> graphs;
  for (size_t i = 0; i < facts.blocks.size(); ++i) {
    if (!BlocksByPool(facts, GraphId(i)).empty()) graphs.emplace_back(i);
  }
  return FindTrades(facts, graphs, rule, {}, steps_done);
}

int ShowTrade(const PlanArguments& arguments) {
  const std::string& file = arguments.file;
  const std::string& output = arguments.output;
  const Result<Trace> trace = ReadInput(file);
  if (!trace) return PrintError(trace.error());
  if (const Result<void> holds = HoldsMemory(*trace, file); !holds) {
    return PrintError(holds.error());
  }
  Progress progress("planning " + file, TradeOptions().steps);
  const std::vector<Trade> trades = FindAllTrades(*trace, arguments.rule, progress.done());
  const Result<void> written = WriteOutput(output.empty() ? "-" : output, [&](std::ostream& out) {
    if (arguments.format == Format::kJson || !output.empty()) {
      RenderTradeJson(trades, out);
    } else {
      RenderTradeText(trades, *trace, StyleFor("-", arguments.top), out);
    }
  });
  if (!written) return PrintError(written.error());
  return WarnIncomplete(*trace, file);
}

int RunPlan(PlanArguments& arguments) {
  const bool of_trace = arguments.trade || arguments.borrow || !arguments.sequence.empty();
  if (IsTable(arguments.file) && of_trace) {
    return PrintError(Error{
        .message = "plan: --sequence, --trade and --borrow are for a trace, not for a table"});
  }
  if (arguments.borrow) {
    return ShowBorrow({arguments.file, arguments.output, arguments.format, arguments.rule,
                       arguments.options, arguments.at, arguments.top});
  }
  if (arguments.trade) {
    return ShowTrade(arguments);
  }
  if (!arguments.to_the_least) arguments.options.search.capacity = arguments.capacity.value_or(0);
  Result<PlannedMemory> plan =
      IsTable(arguments.file) ? PlanTable(arguments) : PlanCaptures(arguments);
  if (!plan) return PrintError(plan.error());
  plan->capacity = arguments.capacity;
  const Result<void> written = WritePlan(*plan, arguments);
  if (!written) return PrintError(written.error());
  if (arguments.exit_code != kExitOk) return arguments.exit_code;
  return plan->fits() ? kExitOk : kExitFailed;
}

void AddLimits(CLI::App& sub, PlanArguments& arguments) {
  AddSize(sub, "--capacity", arguments.capacity,
          "stop searching when the plan fits, unless --effort or --time is given; fail (exit code "
          "1) when it needs more: 80GiB");
  const auto set_effort = [&arguments](const uint64_t& effort) {
    const uint64_t effort_of_look = PlannerOptions().effort / CapturePlannerOptions().looks;
    arguments.to_the_least = true;
    arguments.options.search.effort = effort;
    arguments.options.looks = effort / effort_of_look;
  };
  sub.add_option_function<uint64_t>(
         "--effort", set_effort,
         "how much to search, in blocks looked at; 0: greedily only (default: 6000000000)")
      ->option_text("N")
      ->check(CheckNotNegative);
  const auto set_time = [&arguments](const double& seconds) {
    arguments.to_the_least = true;
    arguments.options.search.seconds = seconds;
  };
  sub.add_option_function<double>(
         "--time", set_time,
         "stop searching after so many seconds; the plan then depends on the machine")
      ->option_text("S")
      ->check(CheckNotNegative);
  sub.add_option("--sequence", arguments.sequence,
                 "the graphs are launched in this order, one after the other, again and again, "
                 "and share their pools' memory")
      ->option_text("recorded|0,1,2,…")
      ->check(CheckSequence);
  sub.add_flag(
         "--trade", arguments.trade,
         "show instead which waits and frees would lower the peak most, and what they cost in "
         "critical path")
      ->excludes("--sequence")
      ->excludes("--capacity")
      ->excludes("--effort")
      ->excludes("--time");
  CLI::Option* borrow = sub.add_flag(
      "--borrow", arguments.borrow,
      "show instead what other work may use of the pools' memory between two launches; with -o the "
      "plan has the ranges, too");
  for (const char* other : {"--trade", "--sequence", "--capacity"}) borrow->excludes(other);
  sub.add_option("--at", arguments.at,
                 "with --borrow: also what of the plan's memory is free while this node runs, and "
                 "until when")
      ->option_text("NODE")
      ->check(CheckNotNegative)
      ->needs(borrow);
  AddCount(sub, "--top", arguments.top,
           "entries shown of each list in the text; 0: all (default: 10)");
  AddChoice<MarkerRule>(
      sub, "--assume", arguments.rule,
      {{"arguments", MarkerRule::kLastUse}, {"torch-streams", MarkerRule::kAtFree}},
      "what proofs may rest on: kernels touch only blocks in their arguments (default), or "
      "blocks are used until their free, on their streams");
}

}  // namespace

void AddPlanCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<PlanArguments>(
      app, exit_code, RunPlan, "plan", "Compute a memory placement with a low peak",
      {"graphkit plan trace.json -o plan.json", "graphkit plan trace.json --sequence recorded",
       "graphkit plan trace.json --trade", "graphkit plan trace.json --borrow --at 12",
       "graphkit plan trace.json --capacity 16GiB --time 60", "graphkit plan lifetimes.csv"});
  sub->add_option("input", arguments->file, "a trace, or a table id,lower,upper,size (.csv)")
      ->required();
  AddFormat(*sub, arguments->format);
  AddOutput(*sub, arguments->output, "also write the plan there, as JSON");
  AddLimits(*sub, *arguments);
}

}  // namespace graphkit
