#include "libgraphkit/render/pipeline/pipeline.h"

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

GRAPHKIT_JSON_OF(RoleMemory, uses, buffers)
GRAPHKIT_JSON_OF(ReplayDeparture, launch, graph, after, round)

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

void RenderPool(const PoolReplays& pool, const Trace& trace, const TextOut& out) {
  const bool kept = pool.departure_count == 0;
  out.Wrap("", PoolTitle(trace, pool.pool) + ": " + Counted(pool.captured.size(), "graph") + ", " +
                   Counted(pool.launches, "launch") + " in " + Counted(pool.rounds, "round") +
                   ", " +
                   out.Inked(kept ? "all in the order of the captures"
                                  : FormatCount(pool.departure_count) + " out of order",
                             kept ? Ink::kGreen : Ink::kRed));
  for (size_t i = 0; i < out.Shown(pool.departures.size()); ++i) {
    const ReplayDeparture& departure = pool.departures[i];
    out.Wrap("  - ", "launch " + std::to_string(departure.launch) + " runs " +
                         GraphTitle(trace, departure.graph) + " after " +
                         GraphTitle(trace, departure.after) + ", which was captured later (round " +
                         std::to_string(departure.round) + ")");
  }
}

constexpr std::array<const char*, kBufferRoles> kRoles = {"input", "output", "output_grad",
                                                          "input_grad"};

Json MemoryJson(const PipelineMemory& memory, const PipelineView& view) {
  Json json{{"rule", NameOf(memory.rule)}};
  if (view.sizes_known) {
    json["bytes"] = memory.bytes;
    json["lower_bound_bytes"] = memory.lower_bound;
    json["live_bytes_by_step"] = memory.live_by_step;
  }
  for (size_t role = 0; role < kBufferRoles; ++role) {
    json[kRoles[role]] = memory.roles[role];
  }
  if (!view.details) return json;
  Json map = Json::array();
  for (size_t i = 0; i < memory.buffers.size(); ++i) {
    const GraphBuffer& buffer = memory.buffers[i];
    map.push_back({{"role", kRoles[static_cast<size_t>(buffer.role)]}});
    GRAPHKIT_ADD_MEMBERS(map.back(), buffer, chunk, layer, microbatch);
    map.back()["offset"] = memory.offsets[i];
    GRAPHKIT_ADD_MEMBERS(map.back(), buffer, size, step, freed_by);
  }
  json["map"] = map;
  return json;
}

Json RankPipelineJson(const RankPipeline& rank, const PipelineView& view) {
  const auto memory = [&view](const PipelineMemory& of) { return MemoryJson(of, view); };
  return {{"rank", rank.rank},
          {"warmup", rank.warmup},
          {"order", StepOrderText(rank.order)},
          {"held", ActivationsHeld(rank.order)},
          {"memory", ListJson(rank.memory, memory)}};
}

Json PoolJson(const PoolReplays& pool) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, pool, pool, captured, launches, rounds);
  json["out_of_order"] = pool.departure_count;
  json["departures"] = pool.departures;
  return json;
}

Json FindingJson(const Finding& finding) {
  Json json;
  GRAPHKIT_ADD_MEMBERS(json, finding, check, severity, message, advice, bytes, graph);
  return json;
}

}  // namespace

void RenderPipelineText(const PipelineView& view, const TextOut& out) {
  out << Printable(view.title) << "\n\n";
  RenderRanks(view, out);
  for (const RankPipeline& rank : view.ranks) {
    if (view.details) RenderDetails(view, rank, out);
  }
}

void RenderReplaysText(const PoolReplayView& view, const Trace& trace, const TextOut& out) {
  if (view.pools.empty()) out << "no two graphs share a private pool\n";
  for (const PoolReplays& pool : view.pools) RenderPool(pool, trace, out);
  for (const Finding& finding : view.findings) {
    out.Paragraph(std::string(SeverityName(finding.severity)) + "  " + finding.check + "  ",
                  Printable(finding.message));
    if (!finding.advice.empty()) out.Wrap("       ", Printable(finding.advice));
  }
}

void RenderPipelineJson(const PipelineView& view, std::ostream& out) {
  const auto rank = [&view](const RankPipeline& of) { return RankPipelineJson(of, view); };
  WriteDocument("graphkit-pipeline",
                Json{{"title", view.title}, {"ranks", ListJson(view.ranks, rank)}}, out);
}

void RenderReplaysJson(const PoolReplayView& view, std::ostream& out) {
  WriteDocument("graphkit-replays",
                Json{{"pools", ListJson(view.pools, PoolJson)},
                     {"findings", ListJson(view.findings, FindingJson)}},
                out);
}

}  // namespace graphkit
