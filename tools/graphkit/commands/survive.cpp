// `graphkit survive`: what graphs need when their memory is given away and comes back; what of it
// is free between launches, and in a plan at a node.
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/launches/borrow.h"
#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/plan/certificate.h"
#include "tools/graphkit/survive/render.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct SurviveArguments {
  std::string file;
  std::string plan;         // empty: none
  std::string certificate;  // the same
  MarkerRule rule = MarkerRule::kLastUse;
  std::optional<uint32_t> node;
  SurviveEvent event = SurviveEvent::kSleep;
  std::vector<std::string> keep;  // pools: by id, or by name
  View view;
};

bool Plans(const SurviveArguments& arguments) {
  return !arguments.plan.empty() || !arguments.certificate.empty() || arguments.node;
}

struct Surviving {
  std::vector<PoolBorrow> pools;
  std::vector<ContentRange> ranges;
  ContentBill bill;
  std::vector<Registration> registrations;
  HeldByGraphs held;
  std::optional<PlannedMemory> plan;
};

// The pools that are named, by id or by name.
Result<std::vector<PoolId>> FindKept(const Ran& trace, const SurviveArguments& arguments) {
  std::vector<PoolId> kept;
  for (const std::string& name : arguments.keep) {
    const size_t before = kept.size();
    for (const auto& [i, pool] : Enumerate(trace.pools)) {
      if (name == std::to_string(i) || name == trace[pool.name]) kept.emplace_back(i);
    }
    if (kept.size() > before) continue;
    return Error{.message = "there is no pool " + name,
                 .hint = "graphkit survive " + arguments.file + " lists the pools",
                 .file = arguments.file};
  }
  return kept;
}

// The plan only where it is needed.
Result<Surviving> FindSurviving(const Ran& trace, std::span<const PoolId> keep,
                                const SurviveArguments& arguments) {
  const Progress progress("analyzing " + arguments.file);
  const Facts facts(trace);
  Surviving found{.pools = FindBorrow(facts, arguments.rule),
                  .ranges = FindContent(facts, arguments.rule)};
  found.bill = BillContent(facts, found.ranges, found.pools, keep);
  found.registrations = FindRegistrations(facts, found.ranges);
  found.held = FindHeldByGraphs(facts);
  std::vector<WrongBorrow> wrong = ValidateBorrow(facts, found.pools);
  const auto add = [&wrong](const std::vector<WrongBorrow>& more) {
    wrong.insert(wrong.end(), more.begin(), more.end());
  };
  if (Plans(arguments)) {
    found.plan = PlanTrace(facts, arguments.rule);
    found.plan->borrow = PlanBorrow(facts, *found.plan, arguments.rule);
    add(ValidatePlanBorrow(facts, *found.plan));
    if (!VerifyPlan(facts, *found.plan, arguments.rule).empty()) wrong.push_back({});
  }
  if (arguments.node) {
    found.plan->borrow_at =
        BorrowAtNode(facts, *found.plan, arguments.rule, NodeId(*arguments.node));
    add(ValidateBorrowAt(facts, *found.plan, found.plan->borrow_at));
  }
  if (wrong.empty()) return found;
  return Error{.message = "block " + std::to_string(wrong[0].block.value) +
                          " needs lent memory at " + std::to_string(wrong[0].at),
               .hint = "nothing was written; this is an error of graphkit",
               .file = arguments.file};
}

Result<void> Write(const Surviving& found, const Ran& trace, std::span<const PoolId> keep,
                   const SurviveArguments& arguments) {
  if (!arguments.certificate.empty()) {
    const Assumption assumes =
        arguments.rule == MarkerRule::kAtFree ? Assumption::kTorchStreams : Assumption::kArguments;
    CertifiedMemory memory{.placed = *found.plan, .assumes = assumes};
    for (const PoolBorrow& pool : found.pools) {
      memory.lent.insert(memory.lent.end(), pool.free.begin(), pool.free.end());
    }
    const Result<void> written = WriteCertificate(memory, arguments.file, arguments.certificate);
    if (!written || arguments.certificate == "-") return written;
  }
  if (!arguments.plan.empty()) {
    const Result<void> written =
        WriteOutput(arguments.plan, [&](std::ostream& out) { RenderPlanJson(*found.plan, out); });
    if (!written || arguments.plan == "-") return written;
  }
  BorrowView borrow{.pools = found.pools, .graph_memory = FindGraphMemory(trace)};
  if (found.plan) {
    borrow.plan = &*found.plan;
    borrow.at_node = found.plan->borrow_at;
  }
  if (arguments.node) borrow.at = NodeId(*arguments.node);
  const SurviveView view{arguments.event,     keep,       found.bill, found.ranges,
                         found.registrations, found.held, borrow};
  return WriteView(
      arguments.view, [&](std::ostream& out) { RenderSurviveJson(view, trace, out); },
      [&](const TextOut& out) { RenderSurviveText(view, trace, out); });
}

int RunSurvive(const SurviveArguments& arguments) {
  const Result<Ran> trace =
      Plans(arguments) ? ReadWithMemory(arguments.file) : ReadInput(arguments.file);
  if (!trace) return PrintError(trace.error());
  if (arguments.node && *arguments.node >= trace->nodes.size()) {
    return PrintError(Error{.message = "there is no node " + std::to_string(*arguments.node),
                            .hint = "graphkit dot trace.json shows the nodes",
                            .file = arguments.file});
  }
  const Result<std::vector<PoolId>> keep = FindKept(*trace, arguments);
  if (!keep) return PrintError(keep.error());
  const Result<Surviving> found = FindSurviving(*trace, *keep, arguments);
  if (!found) return PrintError(found.error());
  const Result<void> written = Write(*found, *trace, *keep, arguments);
  return written ? WarnIncomplete(*trace, arguments.file) : PrintError(written.error());
}

}  // namespace

void AddSurviveCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<SurviveArguments>(
      app, exit_code, RunSurvive, "survive",
      "Find what memory of graphs must keep its content across a sleep",
      {"graphkit survive trace.json", "graphkit survive trace.json --event restart",
       "graphkit survive trace.json --keep weights --format json",
       "graphkit survive trace.json --node 12", "graphkit survive trace.json --plan plan.json"});
  AddTrace(*sub, arguments->file);
  AddChoice<SurviveEvent>(
      *sub, "--event", arguments->event,
      {{"sleep", SurviveEvent::kSleep},
       {"checkpoint", SurviveEvent::kCheckpoint},
       {"restart", SurviveEvent::kRestart}},
      "sleep (the default): physical memory is unmapped, and mapped again at its addresses; "
      "checkpoint: the driver saves and restores the process (cuda-checkpoint); restart: a new "
      "process");
  sub->add_option("--keep", arguments->keep, "Pools that keep their memory, by id or name")
      ->option_text("POOL…");
  sub->add_option("--node", arguments->node,
                  "Also list the plan's memory that is free while this node runs, and until when")
      ->option_text("NODE")
      ->check(CheckNotNegative);
  sub->add_option("--plan", arguments->plan, "Also write a plan with these ranges to FILE, as JSON")
      ->option_text("FILE");
  sub->add_option("--certificate", arguments->certificate,
                  "Also write a proof of all these ranges, and of that plan, to FILE, for "
                  "check_certificate.py")
      ->option_text("FILE");
  AddAssume(*sub, arguments->rule);
  AddView(*sub, arguments->view);
  AddTop(*sub, arguments->view.top);
}

}  // namespace graphkit
