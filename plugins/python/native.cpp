// graphkit._native: what graphkit/*.py makes the package of. Traces are read, analyzed and planned
// here, without the interpreter's lock; results go over as JSON, and columns as bytes for numpy.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <sstream>
#include <stdexcept>
#include <utility>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/io/import/import.h"
#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/io/trace/trace_file.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/analyze/analyze.h"
#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tables.h"

namespace nb = nanobind;

namespace graphkit {
namespace {

// What graphkit.Error is made of.
struct Failed : std::runtime_error {
  explicit Failed(const Error& error) : std::runtime_error(Describe(error)) {}
};

template <typename T>
T Take(Result<T> result) {
  if (!result) throw Failed(result.error());
  return std::move(*result);
}

class Loaded {
 public:
  explicit Loaded(Trace trace) : trace_(std::move(trace)) {}

  const Trace& trace() const { return trace_; }

  std::vector<std::string> Missing() const { return IncompleteBecause(trace_); }

  std::vector<std::string> Names(const std::string& of) const {
    std::vector<std::string> names;
    if (of == "graphs") {
      for (const Graph& graph : trace_.graphs) names.emplace_back(trace_[graph.name]);
    } else if (of == "kernels") {
      for (const Kernel& kernel : trace_.kernels) names.emplace_back(trace_[kernel.name]);
    } else {
      throw Failed({.message = "no names of '" + of + "'"});
    }
    return names;
  }

  // Each stack's frames: function, file, line.
  std::vector<std::vector<std::pair<std::string, std::string>>> Stacks() const {
    std::vector<std::vector<std::pair<std::string, std::string>>> stacks;
    for (const Stack& stack : trace_.stacks) {
      stacks.emplace_back();
      for (uint32_t i = 0; i < stack.frames.count; ++i) {
        const StackFrame& frame = trace_.stack_frames[stack.frames.first + i];
        stacks.back().emplace_back(
            std::string(trace_[frame.function]),
            std::string(trace_[frame.file]) + ":" + std::to_string(frame.line));
      }
    }
    return stacks;
  }

  std::string AnalyzeJson(std::vector<std::string> checks, Bytes min_bytes,
                          bool launch_edges) const {
    AnalyzeOptions options;
    options.checks = std::move(checks);
    options.min_bytes = min_bytes;
    if (launch_edges) options.edges = EdgeRule::kAllFull;
    const Facts facts = FindReportFacts(trace_, options);
    Report report = Take(Analyze(facts, options));
    AddPlans(facts, &report);
    std::ostringstream out;
    RenderJson(report, trace_, out);
    return out.str();
  }

  std::string PlanJson(bool torch_streams, std::optional<Bytes> capacity,
                       std::optional<uint64_t> effort) const {
    constexpr uint64_t kEffort = 20'000'000;
    const MarkerRule rule = torch_streams ? MarkerRule::kAtFree : MarkerRule::kLastUse;
    CapturePlannerOptions options;
    options.search.effort = effort.value_or(kEffort);
    if (!effort) options.search.capacity = capacity.value_or(0);
    const Facts facts = FindFacts(trace_, {.scope = FactScope::kPlacement});
    PlannedMemory plan = PlanTrace(facts, rule, options);
    if (!VerifyPlan(facts, plan, rule).empty()) {
      throw Failed({.message = "the plan is wrong; this is an error of graphkit"});
    }
    plan.capacity = capacity;
    std::ostringstream out;
    RenderPlanJson(plan, out);
    return out.str();
  }

 private:
  Trace trace_;
};

Loaded Load(const std::string& path, const std::string& kind) {
  const ImportFormat* format = kind.empty() ? nullptr : FindImportFormat(kind);
  if (!kind.empty() && !format) throw Failed({.message = "no kind of file '" + kind + "'"});
  return Loaded(Take(ImportFile(path, format)).trace);
}

Loaded MergeFiles(const std::vector<std::string>& paths) {
  std::vector<MergeInput> inputs;
  for (const std::string& path : paths) inputs.push_back({path, Take(ImportFile(path))});
  return Loaded(Take(Merge(std::move(inputs))).trace);
}

void Save(const Loaded& loaded, const std::string& path) {
  if (const Result<void> written = WriteTrace(loaded.trace(), path); !written) {
    throw Failed(written.error());
  }
}

nb::tuple TableOf(const Loaded& loaded, const std::string& name) {
  NumberTable table;
  {
    const nb::gil_scoped_release release;
    table = MakeTable(loaded.trace(), name);
  }
  if (table.columns.empty()) throw Failed({.message = "no table '" + name + "'"});
  return nb::make_tuple(table.columns, nb::bytes(table.rows.data(), table.rows.size()),
                        table.words);
}

Bytes ParseSize(const std::string& text) {
  const std::optional<Bytes> bytes = ParseBytes(text);
  if (!bytes) throw Failed({.message = "'" + text + "' is no size; write 4096, 1MiB or 1.5GiB"});
  return *bytes;
}

}  // namespace
}  // namespace graphkit

NB_MODULE(_native, module) {
  using namespace graphkit;
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  nb::exception<Failed>(module, "Error", PyExc_ValueError);
  nb::class_<Loaded>(module, "Loaded")
      .def_prop_ro("device", [](const Loaded& self) { return NameOf(self.trace().process.device); })
      .def_prop_ro("program", [](const Loaded& self) { return self.trace().process.program; })
      .def_prop_ro("arguments", [](const Loaded& self) { return self.trace().process.args; })
      .def_prop_ro("pid", [](const Loaded& self) { return self.trace().process.pid; })
      .def_prop_ro("environment",
                   [](const Loaded& self) { return self.trace().process.environment; })
      .def_prop_ro("missing", &Loaded::Missing)
      .def("names", &Loaded::Names, nb::arg("of"))
      .def("stacks", &Loaded::Stacks)
      .def("table", &TableOf, nb::arg("name"))
      .def("save", &Save, nb::arg("path"), Unlocked())
      .def("analyze", &Loaded::AnalyzeJson, nb::arg("checks"), nb::arg("min_bytes"),
           nb::arg("launch_edges"), Unlocked())
      .def("plan", &Loaded::PlanJson, nb::arg("torch_streams"), nb::arg("capacity").none(),
           nb::arg("effort").none(), Unlocked());
  module.def("load", &Load, nb::arg("path"), nb::arg("kind"), Unlocked());
  module.def("merge", &MergeFiles, nb::arg("paths"), Unlocked());
  module.def("table_names", &TableNames);
  module.def("parse_size", &ParseSize, nb::arg("text"));
  module.def(
      "format_size", [](Bytes size) { return FormatBytes(size); }, nb::arg("size"));
}
