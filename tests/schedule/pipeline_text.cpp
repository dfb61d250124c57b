#include "tests/schedule/pipeline_text.h"

#include "libgraphkit/group_by.h"

namespace graphkit {

namespace {

constexpr std::array<const char*, kBufferRoles> kRoleNames = {"input", "output", "output gradient",
                                                              "input gradient"};

std::string NameOf(PipelineRule rule) {
  for (const PipelineRuleInfo& info : PipelineRules()) {
    if (info.rule == rule) return std::string(info.name);
  }
  return "";
}

uint32_t MostHeld(const StepOrder& order) {
  const std::vector<uint32_t> held = ActivationsHeld(order);
  return held.empty() ? 0 : *std::ranges::max_element(held);
}

const PipelineMemory* Find(const RankPipeline& rank, PipelineRule rule) {
  for (const PipelineMemory& memory : rank.memory) {
    if (memory.rule == rule) return &memory;
  }
  return nullptr;
}

// Input buffers that Transformer Engine's rule takes, of those that graphs have.
std::string InputsText(const RankPipeline& rank) {
  const PipelineMemory* memory = Find(rank, PipelineRule::kTransformerEngine);
  if (memory == nullptr) return "";
  const RoleMemory& inputs = memory->roles[static_cast<size_t>(BufferRole::kInput)];
  return FormatCount(inputs.buffers) + " / " + FormatCount(inputs.uses);
}

void RenderRanks(const PipelineView& view, const TextOut& out) {
  TextRow head = {"rank", "warm-up", "held", "input buffers"};
  if (view.sizes_known && !view.ranks.empty()) {
    for (const PipelineMemory& memory : view.ranks[0].memory) head.push_back(NameOf(memory.rule));
  }
  TextRows rows = {head};
  for (const RankPipeline& rank : view.ranks) {
    TextRow row = {std::to_string(rank.rank), std::to_string(rank.warmup),
                   std::to_string(MostHeld(rank.order)), InputsText(rank)};
    for (const PipelineMemory& memory : rank.memory) {
      if (view.sizes_known) row.push_back(FormatBytes(memory.bytes));
    }
    rows.push_back(row);
  }
  out << Table(rows, std::string(head.size(), 'r'), "", out.style);
}

void RenderRules(const PipelineView& view, const RankPipeline& rank, const TextOut& out) {
  TextRow head = {"rule", "inputs", "outputs", "output gradients", "input gradients"};
  if (view.sizes_known) head.insert(head.begin() + 1, {"memory", "bound", "most at once"});
  TextRows rows = {head};
  for (const PipelineMemory& memory : rank.memory) {
    TextRow row = {NameOf(memory.rule)};
    if (view.sizes_known) {
      for (const Bytes bytes : {memory.bytes, memory.lower_bound, memory.live_peak()}) {
        row.push_back(FormatBytes(bytes));
      }
    }
    for (const RoleMemory& role : memory.roles) row.push_back(FormatCount(role.buffers));
    rows.push_back(row);
  }
  out << "\n" << Table(rows, "l" + std::string(head.size() - 1, 'r'), "", out.style);
}

// The buffers that lie at each address, in the order of their use: who takes over from whom.
void RenderMap(const PipelineMemory& memory, const TextOut& out) {
  const std::vector<uint32_t> by_place =
      IndicesBy(memory.buffers.size(), [&](uint32_t i) { return memory.offsets[i]; });
  out << "\n" << NameOf(memory.rule) << ": what lies where\n";
  for (size_t first = 0; first < by_place.size();) {
    const Bytes offset = memory.offsets[by_place[first]];
    std::string text;
    size_t i = first;
    for (; i < by_place.size() && memory.offsets[by_place[i]] == offset; ++i) {
      const GraphBuffer& buffer = memory.buffers[by_place[i]];
      if (!text.empty()) text += ", ";
      text += kRoleNames[static_cast<size_t>(buffer.role)];
      text += " " + std::to_string(buffer.chunk + 1) + "." + std::to_string(buffer.layer + 1) +
              " of microbatch " + std::to_string(buffer.microbatch);
    }
    out.Wrap("  at " + FormatBytes(offset) + ": ", text);
    first = i;
  }
}

void RenderDetails(const PipelineView& view, const RankPipeline& rank, const TextOut& out) {
  std::string held;
  for (const uint32_t count : ActivationsHeld(rank.order)) {
    held += (held.empty() ? "" : " ") + std::to_string(count);
  }
  out << "\nrank " << rank.rank << "\n";
  out.Wrap("order  ", StepOrderText(rank.order));
  out.Wrap("held   ", held);
  RenderRules(view, rank, out);
  for (const PipelineMemory& memory : rank.memory) {
    if (memory.rule != PipelineRule::kSeparate) RenderMap(memory, out);
  }
}

}  // namespace

void RenderPipelineText(const PipelineView& view, const TextOut& out) {
  out << Printable(view.title) << "\n\n";
  RenderRanks(view, out);
  for (const RankPipeline& rank : view.ranks) {
    if (view.details) RenderDetails(view, rank, out);
  }
}

}  // namespace graphkit
