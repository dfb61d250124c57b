#include "tests/analysis/checks/run.h"

#include <utility>

#include "libgraphkit/analysis/checks/checks.h"

namespace graphkit {

std::vector<Finding> Run(std::string_view check, Ran trace) {
  for (Kernel& kernel : trace.kernels) kernel.has_layout = true;
  return RunCheck(*FindCheck(check), Facts(trace, {.bound_time_limit = std::chrono::seconds(3)}));
}

std::vector<Finding> Run(std::string_view check, TraceBuilder* trace) {
  return Run(check, trace->Build());
}

Finding RunForOne(std::string_view check, TraceBuilder* trace) {
  std::vector<Finding> findings = Run(check, trace);
  return findings.size() == 1 ? std::move(findings[0]) : Finding();
}

CrossedBlock::CrossedBlock() {
  graph = t.BeginCapture(a, "step");
  x = t.Alloc(a, 4096);
  write = t.Kernel(a, "write", {Writes(x)});
  t.Order(a, b);
  read = t.Kernel(b, "read", {Reads(x)});
  t.RecordStream(x, b);
}

BlockId CrossedBlock::Allocate(Bytes size) {
  const BlockId block = t.Alloc(a, size);
  t.Kernel(a, "use", {Writes(block)});
  t.Free(block);
  return block;
}

void CrossedBlock::Request(BlockId block) {
  t.RequestFree(block);
  requested.push_back(block);
}

void CrossedBlock::End() {
  t.EndCapture(a);
  for (const BlockId block : requested) t.CompleteFree(block);
}

Ran OfHistory(Ran trace) {
  trace.process.device = DeviceKind::kImported;
  trace.nodes.ChangeAll([](Node& node) { node.source = Source::kDerived; });
  return trace;
}

}  // namespace graphkit
