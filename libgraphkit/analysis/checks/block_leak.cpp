// block-leak: memory that was allocated and never freed: what leaked, and in one note what is kept.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/memory/unfreed.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/stack_name.h"

namespace graphkit {
namespace {

// In the order of PoolKind.
constexpr const char* kPoolKinds[] = {
    "device memory",       "a driver memory pool", "graph memory",  "an allocator's pool",
    "an allocator's pool", "pinned host memory",   "managed memory"};

// By its library's name for it, else by what graphs do with it.
std::string_view PurposeOf(const Facts& facts, const UnfreedSite& site) {
  const Trace& trace = facts.trace;
  const std::string_view role = RoleText(NameOfStack(trace, site.stack).role);
  if (!role.empty()) return role;
  if (trace[site.blocks.front()].graph.valid()) return "made in captures";
  return facts.lives().Touches(site.blocks.front()).empty() ? "other memory" : "inputs of graphs";
}

Finding LeakOf(const Facts& facts, const UnfreedSite& site) {
  const Trace& trace = facts.trace;
  Finding finding;
  finding.blocks = site.blocks;
  finding.bytes = site.bytes;
  const BlockId first = site.blocks.front();
  finding.graph = trace[first].graph;
  finding.evidence.push_back(AllocatedThere(facts, first));
  const PoolKind kind = site.pool.valid() ? trace[site.pool].kind : PoolKind::kDevice;
  finding.message = ListOf(finding.blocks) + " of " + kPoolKinds[static_cast<size_t>(kind)] +
                    (finding.blocks.size() == 1 ? " was" : " were") +
                    " never freed: " + FormatBytes(finding.bytes);
  if (site.grows()) {
    finding.message += ", and it grows: made by one line in " + Count(site.intervals, "interval") +
                       " between launches and captures";
  }
  finding.advice = "free the memory where its owner ends, or keep it in a pool that is destroyed";
  return finding;
}

// Memory that one line of the program, or of a library, keeps for one purpose.
struct KeptLine {
  std::string_view purpose;
  Bytes bytes = 0;
  std::vector<BlockId> blocks = {};
  StackId stack = {};
};

std::string LineOf(const Trace& trace, StackId stack) {
  const CallSite site = CallSiteOf(trace, stack);
  const std::optional<uint32_t> at = site.own ? site.own : site.inner;
  return at ? PlaceOfFrame(trace, *at) : "";
}

std::vector<KeptLine> LinesOf(const Facts& facts, const std::vector<const UnfreedSite*>& kept) {
  std::map<std::pair<std::string, std::string_view>, KeptLine> by_line;
  for (const UnfreedSite* site : kept) {
    const std::string_view purpose = PurposeOf(facts, *site);
    KeptLine& line = by_line[{LineOf(facts.trace, site->stack), purpose}];
    if (line.blocks.empty()) line = {.purpose = purpose, .stack = site->stack};
    line.bytes += site->bytes;
    line.blocks.insert(line.blocks.end(), site->blocks.begin(), site->blocks.end());
  }
  std::vector<KeptLine> lines;
  for (auto& [key, line] : by_line) lines.push_back(std::move(line));
  std::ranges::stable_sort(lines, std::greater(), &KeptLine::bytes);
  return lines;
}

// "1.5 GiB optimizer state, 512 MiB weights and buffers": the most bytes first.
std::string PurposesText(const std::vector<KeptLine>& lines) {
  std::vector<KeptLine> sums;
  for (const KeptLine& line : lines) {
    auto sum = std::ranges::find(sums, line.purpose, &KeptLine::purpose);
    if (sum == sums.end()) sum = sums.insert(sum, {.purpose = line.purpose});
    sum->bytes += line.bytes;
  }
  std::ranges::stable_sort(sums, std::greater(), &KeptLine::bytes);
  std::string text;
  for (const KeptLine& sum : sums) {
    text += (text.empty() ? "" : ", ") + FormatBytes(sum.bytes) + " " + std::string(sum.purpose);
  }
  return text;
}

// All that is kept, in one note: a line for each line of code, the most bytes first.
Finding KeptNote(const Facts& facts, const std::vector<const UnfreedSite*>& kept) {
  Finding note;
  note.severity = Severity::kNote;
  const std::vector<KeptLine> lines = LinesOf(facts, kept);
  for (const KeptLine& line : lines) {
    note.blocks.insert(note.blocks.end(), line.blocks.begin(), line.blocks.end());
    note.bytes += line.bytes;
    note.evidence.push_back({.text = FormatBytes(line.bytes) + " in " +
                                     Count(line.blocks.size(), "block") + ", " +
                                     std::string(line.purpose),
                             .blocks = line.blocks,
                             .stack = line.stack});
  }
  note.message = "kept until the end: " + Count(note.blocks.size(), "block") + ", " +
                 FormatBytes(note.bytes) + " (" + PurposesText(lines) + ")";
  return note;
}

}  // namespace

std::vector<Finding> FindBlockLeaks(const Facts& facts) {
  std::vector<Finding> findings;
  std::vector<const UnfreedSite*> kept;
  const std::vector<UnfreedSite> sites = FindUnfreed(facts);
  for (const UnfreedSite& site : sites) {
    if (site.leaked()) {
      findings.push_back(LeakOf(facts, site));
    } else {
      kept.push_back(&site);
    }
  }
  if (!kept.empty()) findings.push_back(KeptNote(facts, kept));
  return findings;
}

}  // namespace graphkit
