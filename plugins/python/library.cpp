// libgraphkit_python.so: what cudagraphkit/_native.py calls through ctypes, so that one package
// serves every Python. Traces are read, analyzed and planned here. Questions come as JSON; answers
// go back as JSON, and tables as bytes for numpy.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "libgraphkit/alloc/estimate/estimate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/checks/places.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/exec_memory.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/io/trace/trace_writer.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/ran/resolve.h"
#include "libgraphkit/render/analyze/json.h"
#include "libgraphkit/render/estimate/estimate.h"
#include "libgraphkit/render/plan/plan.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tables.h"

namespace graphkit {
namespace {

using nlohmann::json;

// The source of cudagraphkit.Error.
struct Failed : std::runtime_error {
  explicit Failed(const Error& error) : std::runtime_error(Describe(error)) {}
};

template <typename T>
T Take(Result<T> result) {
  if (!result) throw Failed(result.error());
  return std::move(*result);
}

// Names of a program may be in any encoding.
std::string TextOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string Process(const Ran& trace, const json&) {
  return TextOf({{"device", NameOf(trace.process.device)},
                 {"program", trace.process.program},
                 {"arguments", trace.process.args},
                 {"pid", trace.process.pid},
                 {"environment", trace.process.environment},
                 {"missing", IncompleteBecause(trace)}});
}

std::string GraphNames(const Ran& trace, const json&) {
  json names = json::array();
  for (const Graph& graph : trace.graphs) names.push_back(trace[graph.name]);
  return TextOf(names);
}

std::string KernelNames(const Ran& trace, const json&) {
  json names = json::array();
  for (const Kernel& kernel : trace.kernels) names.push_back(trace[kernel.name]);
  return TextOf(names);
}

// Each stack's frames: function, "file:line".
std::string Stacks(const Ran& trace, const json&) {
  json stacks = json::array();
  for (const Stack& stack : trace.stacks) {
    json frames = json::array();
    for (uint32_t i = 0; i < stack.frames.count; ++i) {
      const StackFrame& frame = trace.stack_frames[stack.frames.first + i];
      frames.push_back({trace[frame.function],
                        std::string(trace[frame.file]) + ":" + std::to_string(frame.line)});
    }
    stacks.push_back(std::move(frames));
  }
  return TextOf(stacks);
}

// Each stack's line and operation, "model.py:39 softmax"; empty where neither is known.
std::string Places(const Ran& trace, const json&) {
  json places = json::array();
  for (size_t i = 0; i < trace.stacks.size(); ++i) {
    std::string title = MemoryTitle(trace, StackId(i));
    const PlaceFrame line = LineOfStack(trace, StackId(i));
    if (title.empty() && line.line != 0) title = ShortPlace(line.file, line.line);
    places.push_back(std::move(title));
  }
  return TextOf(places);
}

// A line of JSON, padded to a multiple of 8 bytes, and the rows.
std::string Table(const Ran& trace, const json& question) {
  const std::string name = question.at("name");
  NumberTable table = MakeTable(trace, name);
  if (table.columns.empty()) throw Failed({.message = "no table '" + name + "'"});
  std::string answer = TextOf({{"columns", table.columns}, {"words", table.words}});
  answer.resize((answer.size() + 8) / 8 * 8, ' ');
  answer.back() = '\n';
  return answer + table.rows;
}

std::string AnalyzeTrace(const Ran& trace, const json& question) {
  AnalyzeOptions options;
  options.checks = question.at("checks");
  options.min_bytes = question.at("min_bytes");
  if (question.at("launch_edges")) options.edges = EdgeRule::kAllFull;
  const Facts facts = FindReportFacts(trace, options);
  Report report = Take(Analyze(facts, options));
  AddPlans(facts, &report);
  std::ostringstream out;
  RenderJson(report, trace, out);
  return out.str();
}

std::string PlanMemory(const Ran& trace, const json& question) {
  constexpr uint64_t kEffort = 20'000'000;
  const bool torch_streams = question.at("torch_streams");
  const MarkerRule rule = torch_streams ? MarkerRule::kAtFree : MarkerRule::kLastUse;
  const json &capacity = question.at("capacity"), &effort = question.at("effort");
  CapturePlannerOptions options;
  options.search.effort = effort.is_null() ? kEffort : effort.get<uint64_t>();
  if (effort.is_null() && !capacity.is_null()) options.search.capacity = capacity;
  const Facts facts(trace);
  PlannedMemory plan = PlanTrace(facts, rule, options);
  if (!VerifyPlan(facts, plan, rule).empty()) {
    throw Failed({.message = "the plan is wrong; this is an error of graphkit"});
  }
  if (!capacity.is_null()) plan.capacity = capacity.get<Bytes>();
  std::ostringstream out;
  RenderPlanJson(plan, out);
  return out.str();
}

Ran Load(const char* const* paths, uint64_t count, const std::string& kind);

std::string EstimateSizes(const Ran& trace, const json& question) {
  EstimateOptions options{.sizes = question.at("sizes"), .captured = question.at("captured")};
  const std::string costs = question.at("exec_costs");
  if (!costs.empty()) {
    const Ran measured = Load(std::array{costs.c_str()}.data(), 1, "");
    options.exec_model = CalibratedExecModel(measured, FindRoots(measured));
    if (options.exec_model->measured_execs == 0)
      throw Failed({.message = "no executable was measured in it", .file = costs});
  }
  if (std::ranges::count(options.sizes, 0u) + std::ranges::count(options.captured, 0u) > 0)
    throw Failed({.message = "a size is a number above 0"});
  std::ostringstream out;
  RenderEstimateJson(Take(EstimateMemory(trace, options)), out);
  return out.str();
}

struct Question {
  std::string_view about;
  std::string (*answer)(const Ran& trace, const json& question);
};

constexpr Question kQuestions[] = {
    {"process", Process},      {"graph_names", GraphNames}, {"kernel_names", KernelNames},
    {"stacks", Stacks},        {"places", Places},          {"table", Table},
    {"analyze", AnalyzeTrace}, {"plan", PlanMemory},        {"estimate", EstimateSizes},
};

std::string AnswerTo(const Ran& trace, const json& question) {
  const std::string about = question.at("about");
  for (const Question& known : kQuestions) {
    if (known.about == about) return known.answer(trace, question);
  }
  throw Failed({.message = "no question '" + about + "'"});
}

Ran Load(const char* const* paths, uint64_t count, const std::string& kind) {
  const FileFormat* format = kind.empty() ? nullptr : FindFormat(kind);
  if (!kind.empty() && !format) throw Failed({.message = "no kind of file '" + kind + "'"});
  std::vector<MergeInput> inputs;
  for (uint64_t i = 0; i < count; ++i) {
    inputs.push_back({paths[i], Take(ImportFile(paths[i], format))});
  }
  if (count == 1) return Resolve(std::move(inputs[0].imported.trace));
  return Resolve(Take(Merge(std::move(inputs))).trace);
}

std::string SizeOf(const std::string& text) {
  const std::optional<Bytes> bytes = ParseBytes(text);
  if (!bytes) throw Failed({.message = "invalid size '" + text + "'; write 4096, 1MiB or 1.5GiB"});
  return std::to_string(*bytes);
}

// The result of a call. `data` is the caller's, to be given to graphkit_free.
struct Answer {
  char* data = nullptr;
  uint64_t size = 0;
  int32_t failed = 0;  // 1: data says why, on one line
};

void Give(const std::string& text, bool failed, Answer* answer) {
  answer->data = static_cast<char*>(std::malloc(text.size() + 1));
  answer->size = answer->data ? text.size() : 0;
  answer->failed = failed || !answer->data;
  if (answer->data) std::memcpy(answer->data, text.c_str(), text.size() + 1);
}

// No exception leaves through the C interface.
template <typename Work>
void Answering(Answer* answer, const Work& work) {
  try {
    Give(work(), false, answer);
  } catch (const std::bad_alloc&) {
    Give("out of memory", true, answer);
  } catch (const std::exception& error) {
    Give(error.what(), true, answer);
  }
}

}  // namespace
}  // namespace graphkit

#define GRAPHKIT_EXPORT extern "C" __attribute__((visibility("default")))

// A trace of one file, or of several of one process; kind: "" for what its bytes say. Null when it
// failed; released by graphkit_unload.
GRAPHKIT_EXPORT graphkit::Ran* graphkit_load(const char* const* paths, uint64_t count,
                                             const char* kind, graphkit::Answer* answer) {
  graphkit::Ran* trace = nullptr;
  graphkit::Answering(answer, [&] {
    trace = new graphkit::Ran(graphkit::Load(paths, count, kind));
    return std::string();
  });
  return trace;
}

GRAPHKIT_EXPORT void graphkit_unload(graphkit::Ran* trace) { delete trace; }

// Writes it as a trace.
GRAPHKIT_EXPORT void graphkit_save(const graphkit::Ran* trace, const char* path,
                                   graphkit::Answer* answer) {
  graphkit::Answering(answer, [&] {
    const graphkit::Result<void> written = graphkit::WriteTrace(graphkit::AsRecorded(*trace), path);
    if (!written) throw graphkit::Failed(written.error());
    return std::string();
  });
}

// question: {"about": …, …} as in kQuestions.
GRAPHKIT_EXPORT void graphkit_ask(const graphkit::Ran* trace, const char* question,
                                  graphkit::Answer* answer) {
  graphkit::Answering(answer,
                      [&] { return graphkit::AnswerTo(*trace, nlohmann::json::parse(question)); });
}

// "1.5GiB" as a number of bytes.
GRAPHKIT_EXPORT void graphkit_parse_size(const char* text, graphkit::Answer* answer) {
  graphkit::Answering(answer, [&] { return graphkit::SizeOf(text); });
}

GRAPHKIT_EXPORT void graphkit_format_size(uint64_t size, graphkit::Answer* answer) {
  graphkit::Answering(answer, [&] { return graphkit::FormatBytes(size); });
}

GRAPHKIT_EXPORT void graphkit_free(char* data) { std::free(data); }
