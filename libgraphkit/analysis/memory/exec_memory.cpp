#include "libgraphkit/analysis/memory/exec_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/checked_number.h"

namespace graphkit {
namespace {

// By generation of drivers, from `since` on. NVIDIA publishes no figures: these are of one measured
// GPU and of whole programs, with their sources in docs/memory.md. What a copy or another node
// takes is published nowhere: the interval goes from nothing to a kernel's.
struct DriverRow {
  int since;
  std::array<ByteRange, kExecParts> parts;
};
constexpr Bytes KiB(Bytes count) { return count * 1024; }
constexpr ByteRange kExec = {0, KiB(64), kDriverChunk};
constexpr std::array kDrivers = {
    // 64 KB for each kernel launch.
    DriverRow{1, {kExec, {KiB(10), KiB(64), KiB(80)}, {0, KiB(64), KiB(80)}, {0, KiB(1), KiB(80)}}},
    // About 10 KB for each kernel node; graphs of a server take a third to the row above.
    DriverRow{12040,
              {kExec, {KiB(5) / 2, KiB(10), KiB(24)}, {0, KiB(8), KiB(24)}, {0, KiB(1), KiB(24)}}},
    // 90 KiB and 2.2 KiB for each kernel node on an H200 with driver 580; 2.7 KB of a program.
    DriverRow{13000,
              {ByteRange{0, KiB(90), kDriverChunk},
               {KiB(1), KiB(5) / 2, KiB(10)},
               {0, KiB(2), KiB(10)},
               {0, KiB(1), KiB(10)}}}};
// Any driver since 12.4.
constexpr std::array<ByteRange, kExecParts> kUnknownDriver = {
    {kExec, {KiB(1), KiB(10), KiB(24)}, {0, KiB(8), KiB(24)}, {0, KiB(1), KiB(24)}}};

using Vector = std::array<double, kExecParts>;
using Matrix = std::array<Vector, kExecParts>;

Vector AsVector(const ExecPartCounts& counts) {
  Vector v{};
  for (size_t i = 0; i < kExecParts; ++i) v[i] = static_cast<double>(counts[i]);
  return v;
}

double Dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < kExecParts; ++i) sum += a[i] * b[i];
  return sum;
}

// The table counts as a measurement that may be off by all of its interval: it holds where nothing
// was measured, and gives way where something was.
double Deviation(const ByteRange& range) {
  return std::max(1.0, static_cast<double>(range.high - range.low));
}

// Execs whose parts are equal, and what readings say that they took together.
struct MeasuredExecs {
  ExecPartCounts counts{};
  uint64_t execs = 0;
  Bytes sum = 0;
  Bytes least = 0;
  Bytes most = 0;

  // Of one of them. Readings are multiples of a chunk; where in its chunk each begins is chance, so
  // that the error of the sum grows as the root of their number.
  ByteRange each() const {
    const double count = static_cast<double>(execs);
    const double off = static_cast<double>(kDriverChunk) / std::sqrt(count);
    const double mean = static_cast<double>(sum) / count;
    return {NearestBytes(mean - off), NearestBytes(mean), NearestBytes(mean + off)};
  }
};

// A reading lies within a chunk around what was taken; half a chunk is a careful deviation.
double Variance(const MeasuredExecs& group) {
  const double chunk = static_cast<double>(kDriverChunk) / 2;
  return chunk * chunk / static_cast<double>(group.execs);
}

double Mean(const MeasuredExecs& group) {
  return static_cast<double>(group.sum) / static_cast<double>(group.execs);
}

// By how much the groups are further off than their errors say: the model isn't linear in its
// parts, or readings were disturbed unseen.
double Misfit(const Vector& fitted, std::span<const MeasuredExecs> groups) {
  double sum = 0;
  for (const MeasuredExecs& group : groups) {
    const double off = Mean(group) - Dot(AsVector(group.counts), fitted);
    sum += off * off / Variance(group);
  }
  return std::max(1.0, std::sqrt(sum / static_cast<double>(groups.size())));
}

// The readings of one exec.
struct Reading {
  int64_t taken = 0;
  bool usable = true;
  bool made = false;       // its instantiation was measured
  bool on_device = false;  // and its upload, or first launch
};

// Memory was taken or given back meanwhile, by another thread or by whom we don't see.
bool IsDisturbed(const ExecReading& reading) {
  return reading.disturbed || reading.after > reading.before;
}

std::vector<Reading> ReadingsOf(const Ran& trace) {
  std::vector<Reading> readings(trace.execs.size());
  for (const ExecReading& one : trace.exec_readings) {
    Reading& reading = readings[one.exec.index()];
    reading.taken += static_cast<int64_t>(one.before) - static_cast<int64_t>(one.after);
    if (IsDisturbed(one)) reading.usable = false;
    (one.call == ExecCall::kInstantiate ? reading.made : reading.on_device) = true;
  }
  for (Reading& reading : readings) reading.usable = reading.usable && reading.made;
  return readings;
}

// By graph: its first memory node. Uploads and launches of execs take these nodes' memory as well.
std::vector<Seq> FirstMemoryNodes(const Ran& trace, const std::vector<GraphId>& roots) {
  std::vector<Seq> first(trace.graphs.size(), kNever);
  for (const Node& node : trace.nodes) {
    Seq& known = first[roots[node.graph.index()].index()];
    if (node.kind == NodeKind::kMemAlloc) known = std::min(known, node.seq);
  }
  return first;
}

struct Measured {
  std::vector<Reading> readings;                  // by exec
  std::vector<ExecPartCounts> counts;             // likewise
  std::map<ExecPartCounts, MeasuredExecs> alike;  // those that were measured
  std::vector<MeasuredExecs> whole;               // of these: launched or uploaded
};

void AddTo(const ExecPartCounts& counts, Bytes taken, MeasuredExecs* group) {
  group->least = group->execs == 0 ? taken : std::min(group->least, taken);
  group->most = std::max(group->most, taken);
  group->counts = counts;
  group->sum += taken;
  ++group->execs;
}

Measured Measure(const Ran& trace, const std::vector<GraphId>& roots) {
  Measured measured{.readings = ReadingsOf(trace),
                    .counts = CountExecParts(trace, roots),
                    .alike = {},
                    .whole = {}};
  const std::vector<Seq> memory_nodes = FirstMemoryNodes(trace, roots);
  std::map<ExecPartCounts, MeasuredExecs> whole;
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    Reading& reading = measured.readings[i];
    const Exec& exec = trace.execs[i];
    if (exec.graph && memory_nodes[roots[exec.graph.index()].index()] < exec.created)
      reading.usable = false;
    if (!reading.usable) continue;
    const auto taken = static_cast<Bytes>(reading.taken);
    AddTo(measured.counts[i], taken, &measured.alike[measured.counts[i]]);
    if (reading.on_device) AddTo(measured.counts[i], taken, &whole[measured.counts[i]]);
  }
  for (const auto& [counts, group] : whole) measured.whole.push_back(group);
  return measured;
}

// Linear least squares over the groups, each weighted by its error, with the table as one more
// observation. What the groups don't tell stays as the table has it.
ExecModel Calibrate(const ExecModel& table, std::span<const MeasuredExecs> groups) {
  if (groups.empty()) return table;
  // One group after the other corrects the fit, and what is left of its doubt.
  Vector fitted{};
  Matrix covariance{};
  for (size_t i = 0; i < kExecParts; ++i) {
    const double deviation = Deviation(table.parts[i]);
    fitted[i] = static_cast<double>(table.parts[i].bytes);
    covariance[i][i] = deviation * deviation;
  }
  uint64_t execs = 0;
  for (const MeasuredExecs& group : groups) {
    const Vector counts = AsVector(group.counts);
    Vector gain{};
    for (size_t i = 0; i < kExecParts; ++i) gain[i] = Dot(covariance[i], counts);
    const double variance = Variance(group) + Dot(gain, counts);
    const double off = Mean(group) - Dot(counts, fitted);
    for (size_t i = 0; i < kExecParts; ++i) {
      fitted[i] += gain[i] * off / variance;
      for (size_t j = 0; j < kExecParts; ++j) covariance[i][j] -= gain[i] * gain[j] / variance;
    }
    execs += group.execs;
  }
  const double misfit = Misfit(fitted, groups);
  ExecModel model{.measured_execs = execs};
  for (size_t i = 0; i < kExecParts; ++i) {
    const double deviation = std::sqrt(std::max(0.0, covariance[i][i]));
    const double off = 3 * misfit * deviation;
    const ByteRange& known = table.parts[i];
    const ByteRange range = {NearestBytes(fitted[i] - off), NearestBytes(fitted[i]),
                             NearestBytes(fitted[i] + off)};
    // Too little was measured to say more than the table, but it may say that the table is wrong.
    const bool vague = deviation > Deviation(known) / 4;
    const bool agrees = known.low <= range.bytes && range.bytes <= known.high;
    model.parts[i] = vague && agrees ? known : range;
  }
  return model;
}

ExecModel ModelOf(const Ran& trace, const Measured& measured) {
  return Calibrate(PublishedExecModel(trace.process.driver_version), measured.whole);
}

// A life begins or ends: what is given back at a place can be taken there.
struct Step {
  Seq seq;
  bool begins;
  uint32_t cost;  // index
};

ExecPeak PeakOf(const Ran& trace, const std::vector<ExecCost>& costs,
                const std::vector<uint32_t>& which) {
  std::vector<Step> steps;
  for (const uint32_t i : which) {
    const Exec& exec = trace[costs[i].exec];
    steps.push_back({exec.created, true, i});
    if (exec.destroyed != kNever) steps.push_back({exec.destroyed, false, i});
  }
  std::ranges::sort(steps, {}, [](const Step& step) { return std::tuple(step.seq, step.begins); });
  ExecPeak peak, now;
  for (const Step& step : steps) {
    const ByteRange& bytes = costs[step.cost].bytes;
    if (step.begins) {
      now.bytes += bytes;
      ++now.execs;
      now.at = step.seq;
      if (now.bytes.bytes > peak.bytes.bytes || peak.execs == 0) peak = now;
      continue;
    }
    now.bytes = {now.bytes.low - bytes.low, now.bytes.bytes - bytes.bytes,
                 now.bytes.high - bytes.high};
    --now.execs;
  }
  return peak;
}

ExecPart PartOf(NodeKind kind) {
  if (kind == NodeKind::kKernel || kind == NodeKind::kUnknown) return ExecPart::kKernel;
  const bool copies = kind == NodeKind::kMemcpy || kind == NodeKind::kMemset;
  return copies ? ExecPart::kCopy : ExecPart::kOther;
}

}  // namespace

ExecModel PublishedExecModel(int driver_version) {
  const auto next = std::ranges::upper_bound(kDrivers, driver_version, {}, &DriverRow::since);
  return {.parts = next == kDrivers.begin() ? kUnknownDriver : std::prev(next)->parts};
}

std::vector<ExecPartCounts> CountExecParts(const Ran& trace, const std::vector<GraphId>& roots) {
  std::vector<ExecPartCounts> now(trace.graphs.size()), counts(trace.execs.size());
  const auto count_of = [&](const Node& node) -> uint64_t& {
    return now[roots[node.graph.index()].index()][static_cast<size_t>(PartOf(node.kind))];
  };
  const auto destroyed_at = [&](NodeId node) { return trace[node].destroyed; };
  std::vector<NodeId> destroyed;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (destroyed_at(NodeId(i)) != kNever) destroyed.emplace_back(i);
  }
  std::ranges::sort(destroyed, {}, destroyed_at);
  size_t made = 0, gone = 0;
  for (size_t i = 0; i < trace.execs.size(); ++i) {  // in order of creation
    const Exec& exec = trace.execs[i];
    for (; made < trace.nodes.size() && trace.nodes[made].seq < exec.created; ++made)
      ++count_of(trace.nodes[made]);
    for (; gone < destroyed.size() && destroyed_at(destroyed[gone]) < exec.created; ++gone)
      --count_of(trace[destroyed[gone]]);
    if (exec.graph) counts[i] = now[roots[exec.graph.index()].index()];
    counts[i][static_cast<size_t>(ExecPart::kExec)] = 1;
  }
  return counts;
}

std::vector<ExecPartCounts> CountGraphParts(const Ran& trace, const std::vector<GraphId>& roots) {
  std::vector<ExecPartCounts> counts(trace.graphs.size());
  for (size_t i = 0; i < trace.graphs.size(); ++i)
    counts[i][static_cast<size_t>(ExecPart::kExec)] = roots[i] == GraphId(i) ? 1 : 0;
  for (const NodeId id : trace.graph_nodes) {
    const Node& node = trace[id];
    ++counts[roots[node.graph.index()].index()][static_cast<size_t>(PartOf(node.kind))];
  }
  return counts;
}

ExecModel CalibratedExecModel(const Ran& trace, const std::vector<GraphId>& roots) {
  return ModelOf(trace, Measure(trace, roots));
}

std::optional<ExecMemory> FindExecMemory(const Ran& trace, const std::vector<GraphId>& roots) {
  if (trace.execs.empty()) return std::nullopt;
  const Measured measured = Measure(trace, roots);
  ExecMemory memory{.model = ModelOf(trace, measured), .readings = trace.exec_readings.size()};
  for (const ExecReading& one : trace.exec_readings) memory.disturbed_readings += IsDisturbed(one);
  const ExecSource modelled =
      memory.model.measured_execs > 0 ? ExecSource::kCalibrated : ExecSource::kEstimated;
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < trace.execs.size(); ++i) {
    ExecCost cost{.exec = ExecId(i), .graph = trace.execs[i].graph, .source = modelled};
    if (measured.readings[i].usable) {
      const MeasuredExecs& alike = measured.alike.at(measured.counts[i]);
      cost.source = ExecSource::kMeasured;
      cost.bytes = alike.each();
      cost.measured_least = alike.least;
      cost.measured_most = alike.most;
      cost.measured_alike = alike.execs;
    } else {
      cost.bytes = memory.model.Of(measured.counts[i]);
    }
    memory.source = std::min(memory.source, cost.source);
    memory.execs.push_back(cost);
    all.push_back(i);
  }
  memory.peak = PeakOf(trace, memory.execs, all);
  return memory;
}

std::vector<ExecPeak> ExecPeaks(const Ran& trace, const ExecMemory& memory) {
  std::vector<std::vector<uint32_t>> by_graph(trace.graphs.size());
  for (uint32_t i = 0; i < memory.execs.size(); ++i) {
    if (memory.execs[i].graph) by_graph[memory.execs[i].graph.index()].push_back(i);
  }
  std::vector<ExecPeak> peaks;
  for (const std::vector<uint32_t>& execs : by_graph)
    peaks.push_back(execs.empty() ? ExecPeak() : PeakOf(trace, memory.execs, execs));
  return peaks;
}

}  // namespace graphkit
