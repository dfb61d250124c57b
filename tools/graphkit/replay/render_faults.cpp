#include "tools/graphkit/replay/render_faults.h"

#include <algorithm>
#include <string>

#include "libgraphkit/analysis/names/naming.h"
#include "tools/graphkit/replay/render.h"

namespace graphkit {

namespace {

constexpr size_t kPairs = 10;  // shown of a graph

std::string NodeText(const Ran& trace, NodeId node, const char* none) {
  return node ? Printable(NameOf(trace, node)) : none;
}

std::string PairText(const Ran& trace, const UnsafePair& pair) {
  return "block " + std::to_string(pair.earlier.value) + ", last used by " +
         NodeText(trace, pair.last_use, "its owner after the graph") + ", and block " +
         std::to_string(pair.later.value) + ", first used by " +
         NodeText(trace, pair.first_use, "its owner from the allocation on");
}

// The order that would have made it safe; none would where one node uses both.
std::string MissingText(const UnsafePair& pair) {
  if (pair.last_use && pair.last_use == pair.first_use) {
    return "one node uses both, so they can't share bytes";
  }
  const auto node = [](NodeId id, const char* none) {
    return id ? "node " + std::to_string(id.value) : std::string(none);
  };
  return "missing is " + node(pair.last_use, "the end of the first") + " before " +
         node(pair.first_use, "the allocation of the second");
}

void RenderUnsafe(const PolicyReplay& replay, const Ran& trace, std::ostream& out) {
  for (const GraphReplay& graph : replay.graphs) {
    if (graph.unsafe.empty()) continue;
    out << "\n"
        << ReplayName(replay) << ", graph " << graph.graph.value << ": "
        << Counted(graph.unsafe.size(), "pair")
        << (graph.unsafe.size() == 1 ? " of blocks shares" : " of blocks share")
        << " memory and nothing orders them\n";
    for (size_t i = 0; i < std::min(graph.unsafe.size(), kPairs); ++i) {
      out << "  " << PairText(trace, graph.unsafe[i]) << ": " << MissingText(graph.unsafe[i])
          << "\n";
    }
    if (graph.unsafe.size() > kPairs) {
      out << "  and " << Counted(graph.unsafe.size() - kPairs, "pair") << " more\n";
    }
  }
}

void RenderDestroyed(const PolicyReplay& replay, std::ostream& out) {
  if (replay.destroyed.empty()) return;
  const DestroyedOutput& first = replay.destroyed.front();
  const bool one = replay.destroyed.size() == 1;
  out << "\n"
      << ReplayName(replay) << ": " << Counted(replay.destroyed.size(), "output")
      << (one ? " is" : " are") << " overwritten by another graph while needed; the first is block "
      << first.output.value << ", by block " << first.by.value
      << (first.taker ? ", before graph " + std::to_string(first.taker.value) + " takes it"
                      : std::string("; no graph takes it, so anyone may read it"))
      << "\n";
}

// Where it ran, and with what in place of the recorded nodes.
std::string PlaceText(const std::string& on, uint64_t left_out) {
  std::string text = on == "soft"
                         ? "on the software device (simulated), host nodes in place of kernels,"
                         : "on the GPU, small kernels in place of the recorded nodes,";
  if (left_out != 0) text += " " + Counted(left_out, "programmatic edge") + " left out,";
  return text;
}

void RenderFault(const GraphExecution& execution, const Ran& trace, std::ostream& out) {
  const ExecutionFault& fault = execution.faults.front();
  out << "  graph " << execution.graph.value << ": bytes destroyed in "
      << Counted(execution.faults.size(), "order") << "; the first has seed " << fault.seed << ": "
      << PairText(trace, fault.pair) << ": " << MissingText(fault.pair) << "\n";
}

// How often, from which seed, and the first pair that destroyed one another's bytes.
void RenderExecution(const PolicyReplay& replay, const Ran& trace, std::ostream& out) {
  uint64_t checks = 0;
  uint64_t nodes = 0;
  uint64_t left_out = 0;
  for (const GraphExecution& execution : replay.executions) {
    checks += execution.checks;
    nodes += execution.nodes;
    left_out += execution.left_out;
  }
  if (replay.executions.empty()) return;
  const GraphExecution& first = replay.executions.front();
  out << ReplayName(replay) << ": executed " << PlaceText(first.on, left_out) << " in "
      << Counted(first.orders, "order") << " from seed " << first.seed << ", " << FormatCount(nodes)
      << " nodes, " << FormatCount(checks) << " canary checks"
      << (replay.executed_clean() ? ": clean\n" : "\n");
  for (const GraphExecution& execution : replay.executions) {
    if (!execution.faults.empty()) RenderFault(execution, trace, out);
  }
}

// Ranges that a plan lends, and the first block that needs some of them meanwhile.
void RenderLoans(const PolicyReplay& replay, std::ostream& out) {
  if (replay.lent == 0) return;
  out << "\n" << ReplayName(replay) << ": " << Counted(replay.lent, "lent range") << " checked";
  if (replay.wrong_loans.empty()) {
    out << ": no block needs them meanwhile\n";
    return;
  }
  const WrongBorrow& first = replay.wrong_loans.front();
  out << "; the first fault: block " << first.block.value << " needs bytes at " << first.at
      << " while they are lent\n";
}

}  // namespace

void RenderReplayFaults(std::span<const PolicyReplay> replays, const Ran& trace,
                        std::ostream& out) {
  for (const PolicyReplay& replay : replays) RenderUnsafe(replay, trace, out);
  for (const PolicyReplay& replay : replays) RenderDestroyed(replay, out);
  for (const PolicyReplay& replay : replays) RenderLoans(replay, out);
  const bool executed =
      std::ranges::any_of(replays, [](const auto& replay) { return !replay.executions.empty(); });
  if (executed) out << "\n";
  for (const PolicyReplay& replay : replays) RenderExecution(replay, trace, out);
}

}  // namespace graphkit
