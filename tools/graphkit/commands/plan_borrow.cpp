#include "tools/graphkit/commands/plan_borrow.h"

#include <vector>

#include "libgraphkit/alloc/plan/plan_borrow.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/memory/borrow.h"
#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/replay/replay_trace.h"
#include "libgraphkit/replay/validate_borrow.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {
namespace {

struct Borrowed {
  std::vector<PoolBorrow> pools;
  std::optional<PlannedMemory> plan;
};

Error WrongError(const WrongBorrow& wrong, const std::string& file) {
  return {.message = "block " + std::to_string(wrong.block.value) + " needs what is lent at " +
                     std::to_string(wrong.at),
          .hint = "nothing was written; this is an error of graphkit",
          .file = file};
}

// The plan only where it is asked for.
Result<Borrowed> FindBorrowed(const Trace& trace, const BorrowArguments& arguments) {
  const Facts facts = FindFacts(trace, {.scope = FactScope::kPlacement});
  Borrowed found{.pools = FindBorrow(facts, arguments.rule)};
  std::vector<WrongBorrow> wrong = ValidateBorrow(facts, found.pools);
  if (!arguments.output.empty() || arguments.at) {
    found.plan = PlanTrace(facts, arguments.rule, arguments.options);
    found.plan->borrow = PlanBorrow(facts, *found.plan, arguments.rule);
    const std::vector<WrongBorrow> more = ValidatePlanBorrow(facts, *found.plan);
    wrong.insert(wrong.end(), more.begin(), more.end());
    if (!VerifyPlan(facts, *found.plan, arguments.rule).empty()) wrong.push_back({});
  }
  if (arguments.at) {
    const NodeId at(*arguments.at);
    found.plan->borrow_at = BorrowAtNode(facts, *found.plan, arguments.rule, at);
    const std::vector<WrongBorrow> more =
        ValidateBorrowAt(facts, *found.plan, at, found.plan->borrow_at);
    wrong.insert(wrong.end(), more.begin(), more.end());
  }
  if (!wrong.empty()) return WrongError(wrong[0], arguments.file);
  return found;
}

}  // namespace

int ShowBorrow(const BorrowArguments& arguments) {
  const Result<Trace> trace = ReadInput(arguments.file);
  if (!trace) return PrintError(trace.error());
  if (const Result<void> holds = HoldsMemory(*trace, arguments.file); !holds) {
    return PrintError(holds.error());
  }
  if (arguments.at && *arguments.at >= trace->nodes.size()) {
    return PrintError(Error{.message = "there is no node " + std::to_string(*arguments.at),
                            .hint = "graphkit dot trace.json shows the nodes",
                            .file = arguments.file});
  }
  const Progress progress("planning " + arguments.file);
  const Result<Borrowed> found = FindBorrowed(*trace, arguments);
  if (!found) return PrintError(found.error());
  if (!arguments.output.empty()) {
    const Result<void> written = WriteOutput(
        arguments.output, [&](std::ostream& out) { RenderPlanJson(*found->plan, out); });
    if (!written) return PrintError(written.error());
  }
  if (arguments.output == "-") return WarnIncomplete(*trace, arguments.file);
  const BorrowView view{.pools = found->pools,
                        .plan = found->plan ? &*found->plan : nullptr,
                        .at = arguments.at ? NodeId(*arguments.at) : NodeId(),
                        .at_node = found->plan ? std::span<const BorrowAt>(found->plan->borrow_at)
                                               : std::span<const BorrowAt>(),
                        .graph_memory = FindGraphMemory(*trace)};
  const Result<void> shown = WriteOutput("-", [&](std::ostream& out) {
    if (arguments.format == Format::kJson) {
      RenderBorrowJson(view, *trace, out);
    } else {
      RenderBorrowText(view, *trace, StyleFor("-", arguments.top), out);
    }
  });
  if (!shown) return PrintError(shown.error());
  return WarnIncomplete(*trace, arguments.file);
}

}  // namespace graphkit
