#include "libgraphkit/analysis/memory/memory_bill.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/analysis/memory/timeline.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/checked_number.h"

namespace graphkit {
namespace {

// The lines under their names, those of most bytes first.
template <typename Line, typename BytesOf>
std::vector<Line> Sorted(std::map<std::string, Line> by_name, BytesOf bytes_of) {
  std::vector<Line> lines;
  for (auto& [name, line] : by_name) {
    line.name = name;
    lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(lines, std::ranges::greater(), bytes_of);
  return lines;
}

// The line that a block is billed to.
std::string BillName(const Ran& trace, BlockId id, BillBy by, BlockClasses classes) {
  const Block& block = trace[id];
  if (by == BillBy::kBlock) return "block " + std::to_string(id.value);
  if (by == BillBy::kStream) return StreamTitle(trace, block.stream);
  if (by == BillBy::kPool) return PoolTitle(trace, block.pool);
  if (by == BillBy::kContent) return std::string(classes[id.index()]);
  const std::string at = StackTitle(trace, block.stack);
  return at.empty() ? kNoStack : at;
}

MemoryBill BillGraph(const Ran& trace, const GraphSummary& graph,
                     const std::vector<BlockId>& blocks, BillBy by, BlockClasses classes) {
  std::map<BlockId, Bytes> reuse;  // of a block that lies over several earlier ones, the largest
  for (const ReusePair& pair : graph.reuse) {
    Bytes& bytes = reuse[pair.later];
    bytes = std::max(bytes, pair.bytes);
  }
  std::map<std::string, BillLine> lines;
  for (const BlockId id : blocks) {
    BillLine& line = lines[BillName(trace, id, by, classes)];
    const Bytes bytes = RoundUp(trace[id].size, kBlockGranularity);
    ++line.blocks;
    line.bytes += bytes;
    if (!trace[id].freed()) line.never_freed_bytes += bytes;
    if (const auto found = reuse.find(id); found != reuse.end()) line.reuse_bytes += found->second;
  }
  return {graph.graph, Sorted(std::move(lines), &BillLine::bytes)};
}

// The device that had the most in use.
std::optional<DeviceIndex> BusiestDevice(const MemoryTimeline& timeline) {
  const std::vector<DeviceIndex>& all = timeline.devices();
  const auto busiest = std::ranges::max_element(
      all, {}, [&](DeviceIndex device) { return timeline.Of(device).peak_in_use.in_use; });
  return busiest == all.end() ? std::nullopt : std::optional(*busiest);
}

Result<Seq> SeqOf(uint64_t number, const std::vector<Seq>& events, const Ran& trace) {
  const uint64_t count = events.empty() ? trace.records : events.size();
  if (number < count) return events.empty() ? static_cast<Seq>(number) : events[number];
  const std::string things = events.empty() ? "records" : "events";
  return Error{.message = "--at " + std::to_string(number) + ": it has " + FormatCount(count) +
                          " " + things + ", the first is 0",
               .hint = "write peak or end"};
}

}  // namespace

std::vector<MemoryBill> BillMemory(const Ran& trace, const Report& report, BillBy by,
                                   BlockClasses classes) {
  const std::vector<GraphId> roots = FindRoots(trace);
  const std::vector<bool> backs_segment = BacksSegment(trace);
  std::vector<std::vector<BlockId>> blocks(trace.graphs.size());
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const GraphId graph = trace.blocks[i].graph;
    if (graph && !backs_segment[i]) blocks[roots[graph.index()].index()].push_back(BlockId(i));
  }
  std::vector<MemoryBill> bills;
  for (const GraphSummary& graph : report.graphs) {
    const std::vector<BlockId>& of_graph = blocks[graph.graph.index()];
    if (!of_graph.empty()) bills.push_back(BillGraph(trace, graph, of_graph, by, classes));
  }
  return bills;
}

MemoryBill SumBills(const std::vector<MemoryBill>& bills) {
  std::map<std::string, BillLine> lines;
  for (const MemoryBill& bill : bills) {
    for (const BillLine& line : bill.lines) {
      BillLine& sum = lines.try_emplace(line.name, BillLine{.name = {}, .graphs = 0}).first->second;
      sum.blocks += line.blocks;
      sum.bytes += line.bytes;
      sum.never_freed_bytes += line.never_freed_bytes;
      sum.reuse_bytes += line.reuse_bytes;
      ++sum.graphs;
    }
  }
  return {GraphId(), Sorted(std::move(lines), &BillLine::bytes)};
}

bool HaveSegments(BillBy by) { return by == BillBy::kPool || by == BillBy::kStream; }

std::vector<HeldLine> BillHeld(const Ran& trace, BillBy by, const HeldAt& at,
                               BlockClasses classes) {
  const MemoryHistory* history = HistoryOf(trace);
  const Seq first_event = history != nullptr ? history->seq : 0;
  const Seq seq = std::min(at.seq, kNever - 1);
  const std::vector<bool> backs_segment = BacksSegment(trace);
  const std::vector<DeviceIndex> devices = DevicesOfBlocks(trace);
  const auto there = [&](const Block& block, size_t i) {
    return block.allocated <= seq && seq < block.free_completed &&
           (!at.device || devices[i] == *at.device);
  };
  std::map<std::string, HeldLine> lines;
  for (const Segment& segment : trace.segments) {
    if (!HaveSegments(by) || segment.allocated > seq || seq >= segment.freed) continue;
    if (segment.block && !there(trace[segment.block], segment.block.index())) continue;
    HeldLine& line = lines[by == BillBy::kPool ? PoolTitle(trace, segment.pool)
                                               : StreamTitle(trace, segment.stream)];
    ++line.segments;
    line.segment_bytes += segment.size;
  }
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    if (backs_segment[i] || !there(block, i)) continue;
    std::string name = BillName(trace, BlockId(i), by, classes);
    if (name == kNoStack && block.allocated < first_event) name = kBeforeRecording;
    HeldLine& line = lines[std::move(name)];
    ++line.blocks;
    line.block_bytes += AllocatedSize(block);
  }
  return Sorted(std::move(lines), [](const HeldLine& line) {
    return std::tuple(line.segment_bytes, line.block_bytes);
  });
}

std::string RecordText(const std::vector<Seq>& events, Seq seq) {
  if (events.empty()) return "record " + FormatCount(seq);
  const auto event = std::ranges::lower_bound(events, seq) - events.begin();
  return "event " + FormatCount(static_cast<uint64_t>(event));
}

std::string CheckMoment(const std::string& text) {
  if (text == "peak" || text == "end" || ParseNumber<uint64_t>(text)) return "";
  return "invalid moment '" + text + "'; write peak, end, or the number of an event";
}

Result<HeldAt> FindHeldAt(const std::string& text, const Ran& trace) {
  if (text.empty() || text == "end") return HeldAt();
  const MemoryFacts facts(trace);
  const MemoryTimeline& timeline = facts.timeline();
  const std::optional<DeviceIndex> device = BusiestDevice(timeline);
  const std::vector<Seq> events = PlacesOfEvents(trace, device.value_or(0));
  HeldAt at{.name = text, .device = device};
  MemoryAt moment;
  if (const auto number = ParseNumber<uint64_t>(text)) {
    const Result<Seq> seq = SeqOf(*number, events, trace);
    if (!seq) return seq.error();
    moment = timeline.After(device.value_or(0), *seq);
    at.text = std::string("after ") + (events.empty() ? "record " : "event ") +
              FormatCount(*number) + ", " + FormatBytes(moment.in_use) + ",";
  } else {
    moment = (device ? timeline.Of(*device) : timeline.all()).peak_in_use;
    at.text = "at the peak in use, " + FormatBytes(moment.in_use) + " (" +
              RecordText(events, moment.seq) + "),";
  }
  at.seq = moment.seq;
  return at;
}

}  // namespace graphkit
