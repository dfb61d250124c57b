#include "libgraphkit/analysis/checks/overwritten.h"

namespace graphkit {
namespace {

// Who writes over it, how sure that is, and who finds it so.
using Key = std::tuple<GraphId, Severity, bool, KernelId, NodeKind>;

Key KeyOf(const Trace& trace, const Overwrite& overwrite, Severity severity) {
  const bool used = overwrite.used.valid();
  if (overwrite.after == kNoUse) return {overwrite.graph, severity, used, {}, NodeKind::kEmpty};
  const EagerWork& work = trace.works[overwrite.after];
  return {overwrite.graph, severity, used, work.kernel, work.kind};
}

void AddEvidence(const Facts& facts, const Overwrite& overwrite, Finding* finding) {
  const Trace& trace = facts.trace;
  const auto add_work = [&](uint32_t work, const char* when) {
    if (work == kNoUse) return;
    finding->evidence.push_back(
        {.text =
             WorkText(trace, work) + " was submitted outside of graphs" +
             (trace.works[work].stream.valid() ? " on " + NameOf(trace, trace.works[work].stream)
                                               : std::string()) +
             when,
         .stack = trace.works[work].stack});
  };
  add_work(overwrite.before, ", before the launch");
  finding->evidence.push_back(
      {.text = LaunchText(trace, overwrite) + " runs " + NameOf(trace, overwrite.node),
       .nodes = {overwrite.node},
       .blocks = {overwrite.own},
       .stack = trace[overwrite.node].stack});
  const bool later = overwrite.after != kNoUse &&
                     trace.works[overwrite.after].seq > trace.launches[overwrite.launch].seq;
  add_work(overwrite.after, later ? ", after the launch" : ", before the launch");
  if (overwrite.used.valid()) finding->evidence.push_back(AllocatedThere(facts, overwrite.used));
  finding->evidence.push_back(AllocatedThere(facts, overwrite.own));
}

}  // namespace

std::string WorkText(const Trace& trace, uint32_t work) { return NameOf(trace, trace.works[work]); }

std::string LaunchText(const Trace& trace, const Overwrite& overwrite) {
  return LaunchText(trace, overwrite.launch, overwrite.graph);
}

std::vector<Finding> FindOverwritten(const Facts& facts, const DescribeOverwrite& describe) {
  const Trace& trace = facts.trace;
  const std::vector<Overwrite>& overwrites = facts.overwrites();
  if (overwrites.empty()) return {};
  std::map<Key, Finding> found;
  for (const Overwrite& overwrite : overwrites) {
    Finding described;
    if (!describe(overwrite, &described)) continue;
    const auto [place, fresh] =
        found.try_emplace(KeyOf(trace, overwrite, described.severity), std::move(described));
    Finding& finding = place->second;
    const BlockId about = overwrite.used.valid() ? overwrite.used : overwrite.own;
    if (AddOnce(about, &finding.blocks)) finding.bytes += RoundedSize(trace[about]);
    if (!fresh) continue;
    finding.graph = overwrite.graph;
    finding.nodes = {overwrite.node};
    finding.assumes = Assumption::kArguments;
    if (overwrite.after != kNoUse && trace.works[overwrite.after].stream.valid())
      finding.streams = {trace.works[overwrite.after].stream};
    AddEvidence(facts, overwrite, &finding);
  }
  for (auto& [key, finding] : found) {
    if (finding.blocks.size() > 1)
      finding.message += "; the same of " + Count(finding.blocks.size() - 1, "more block");
  }
  return TakeValues(&found);
}

}  // namespace graphkit
