// A small trace and the report on it, as the analysis would give it: what the presenters' tests
// draw.
//
//     stream 1:  k0 scale ───────────────→ k2 add
//     stream 2:     └──→ k1 copy (memcpy) ──┘          edge k0→k1 programmatic
#pragma once

#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

inline Ran SampleTrace() {
  Ran trace;
  trace.process.device = DeviceKind::kSoft;
  trace.process.program = "build/workloads/fork_join";
  trace.records = 12;
  trace.streams = {{.kind = StreamKind::kLegacyDefault}, {.handle = 1}, {.handle = 2}};
  trace.streams[2].name = trace.strings.Intern("copy");
  trace.stack_frames = {
      {trace.strings.Intern("cudaMallocAsync"), trace.strings.Intern("libcudart.so.13"), 0},
      {trace.strings.Intern("_Z4stepv"), trace.strings.Intern("step.cu"), 42}};
  trace.stacks = {{.frames = {0, 2}}};
  trace.kernels = {{.name = trace.strings.Intern("_Z5scaleIfEvPT_S0_i")},
                   {.name = trace.strings.Intern("_Z3addPKfS0_Pf")}};
  trace.shapes = {{.grid = {64, 1, 1}, .block = {256, 1, 1}, .shared_bytes = 0}};
  trace.graphs = {{.origin = GraphOrigin::kCapture, .name = trace.strings.Intern("step")}};
  const GraphId graph(0u);
  trace.nodes = {{.graph = graph,
                  .stream = StreamId(1u),
                  .seq = 4,
                  .kind = NodeKind::kKernel,
                  .kernel = KernelId(0u),
                  .shape = 0},
                 {.graph = graph, .stream = StreamId(2u), .seq = 5, .kind = NodeKind::kMemcpy},
                 {.graph = graph,
                  .stream = StreamId(1u),
                  .seq = 8,
                  .kind = NodeKind::kKernel,
                  .kernel = KernelId(1u),
                  .shape = 0}};
  trace.edges = {{.from = NodeId(0u),
                  .to = NodeId(1u),
                  .from_port = kPortProgrammatic,
                  .type = EdgeType::kProgrammatic,
                  .seq = 6},
                 {.from = NodeId(0u), .to = NodeId(2u), .seq = 9},
                 {.from = NodeId(1u), .to = NodeId(2u), .seq = 10}};
  trace.pools = {{.kind = PoolKind::kStream}};
  trace.blocks = {{.address = 0x1000, .size = 4 << 20, .pool = PoolId(0u), .graph = graph},
                  {.address = 0x800000,
                   .size = 1 << 20,
                   .pool = PoolId(0u),
                   .graph = graph,
                   .stack = StackId(0u)}};
  return trace;
}

inline Report SampleReport() {
  GraphSummary graph;
  graph.graph = GraphId(0u);
  graph.name = "step";
  graph.nodes = 3;
  graph.edges = 3;
  graph.nodes_by_type[static_cast<size_t>(NodeKind::kKernel)] = 2;
  graph.nodes_by_type[static_cast<size_t>(NodeKind::kMemcpy)] = 1;
  graph.programmatic_edges = 1;
  graph.cross_stream_edges = 2;
  graph.streams = 2;
  graph.blocks = 2;
  graph.total_bytes = 5 << 20;
  graph.peak_live_bytes = 5 << 20;
  graph.deferred_bytes = 1 << 20;
  graph.lower_bound_bytes = 4 << 20;
  graph.lower_bound_exact = true;
  graph.plan_bytes = 4 << 20;
  graph.never_freed_bytes = 1 << 20;
  graph.never_freed_blocks = 1;
  graph.critical_path_nodes = 3;
  graph.width = 2;
  graph.peak_blocks = {BlockId(1u), BlockId(0u)};
  graph.lower_bound_blocks = {BlockId(1u)};
  graph.pools = {{.blocks = 2,
                  .total_bytes = 5 << 20,
                  .peak_live_bytes = 5 << 20,
                  .lower_bound_bytes = 4 << 20,
                  .lower_bound_exact = true}};
  graph.pinned_bytes = 512;
  graph.pinned_blocks = 1;
  graph.reuse = {{BlockId(0u), BlockId(1u), 1 << 20, Assumption::kTorchStreams}};
  graph.reuse_bytes = 1 << 20;

  Finding finding;
  finding.check = "never-freed-block";
  finding.severity = Severity::kError;
  finding.message = "block 1 of 1 MiB is never freed";
  finding.advice = "free it on its stream before the capture ends, or allocate it outside";
  finding.bytes = 1 << 20;
  finding.graph = GraphId(0u);
  finding.blocks = {BlockId(1u)};
  finding.evidence = {
      {.text = "allocated in the capture", .blocks = {BlockId(1u)}, .stack = StackId(0u)}};
  finding.places = {{.line = {"_Z4stepv", "step.cu", 42}, .about = "allocated in the capture"}};

  Report report;
  report.device = DeviceKind::kSoft;
  report.program = "build/workloads/fork_join";
  report.graphs = {graph};
  report.findings = {finding};
  report.groups = GroupFindings(report.findings);
  const MemoryAt all = {.reserved = 5 << 20,
                        .in_use = 5 << 20,
                        .allocated = 5 << 20,
                        .requested = 5 << 20,
                        .blocks = 2};
  MemoryAt end = all;
  end.seq = 12;
  report.moments = {.peak_reserved = all,
                    .peak_in_use = all,
                    .peak_allocated = all,
                    .peak_requested = all,
                    .end = end};
  report.joins = {
      .captured_blocks = 4, .joined = 1, .without_stack = 1, .library_only = 1, .untouched = 1};
  report.totals = {.graphs = 1,
                   .nodes = 3,
                   .edges = 3,
                   .blocks = 2,
                   .launches = 2,
                   .allocated_bytes = 5 << 20,
                   .findings = {0, 0, 1}};
  return report;
}

}  // namespace graphkit
