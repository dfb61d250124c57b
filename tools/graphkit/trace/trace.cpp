// `graphkit trace`: runs a program with the tracer in it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

#include "libgraphkit/units.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/separator.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/doctor/cuda_probe.h"
#include "tools/graphkit/plugins.h"
#include "tools/graphkit/trace/lines.h"
#include "tools/graphkit/trace/outcome.h"
#include "tools/graphkit/trace/program.h"
#include "tools/graphkit/trace/torch.h"

namespace graphkit {

namespace {

namespace fs = std::filesystem;
using Environment = std::vector<std::pair<std::string, std::string>>;

enum class Device { kAuto, kCuda, kSoft };
enum class Scope { kGraphs, kAll };

constexpr int kOnlyFailures = -2;  // stacks where captures break, and nowhere else

struct TraceOptions {
  std::string output = "trace.json";
  Device device = Device::kAuto;
  Scope scope = Scope::kGraphs;
  int stacks = kOnlyFailures;  // frames a stack; 0 or -1, which a flag makes of 0: none
  uint64_t buffer = 0;         // bytes; 0: no wait for the disk
  bool no_torch = false;
  bool measure_execs = false;
};

int Fail(const Error& error) {
  PrintError(Describe(error));
  return kExitTrace;
}

std::string Getenv(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string SoftFolder() { return PluginFolder() + "/soft_cuda"; }

// Leads programs with a CUDA runtime inside, or with an RPATH to one, to the software device.
std::string AuditLibrary() { return SoftFolder() + "/libgraphkit_soft_audit.so"; }

Result<Device> PickDevice(Device asked) {
  if (asked == Device::kCuda) return asked;
  if (asked == Device::kAuto && HasGpu()) return Device::kCuda;
  if (!fs::exists(SoftFolder() + "/libcuda.so.1")) {
    return Error{.message = "no GPU here, and the software device is missing: " + SoftFolder(),
                 .hint = "build graphkit with its plugins (tools/setup.sh brings what they need)"};
  }
  return Device::kSoft;
}

// The absolute path of the trace, if it can be written there.
Result<std::string> CheckOutput(const std::string& output) {
  if (output.empty() || output == "-") {
    return Error{.message = "a trace is written to a file, not to stdout",
                 .hint = "name one with -o"};
  }
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(output), error);
  if (error) path = fs::absolute(output);
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    return Error{.message = output + " is not a file", .hint = "name another with -o"};
  }
  const std::string folder = path.parent_path().string();
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return Error{.message = "cannot write into " + folder + ": " + std::strerror(errno),
                 .hint = "name a place that can be written with -o"};
  }
  return path.string();
}

uint64_t InodeOf(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// `tell`: the name of the mailbox.
Environment EnvironmentFor(const TraceOptions& options, const std::string& path, Device device,
                           const std::string& tell) {
  const std::string tracer = PluginFolder() + "/" + kTracerPlugin;
  Environment environment = {
      {"CUDA_INJECTION64_PATH", tracer},
      {"GRAPHKIT_TRACE_OUT", path},
      {"GRAPHKIT_TRACE_TELL", tell},
      {"GRAPHKIT_TRACE_OLD", std::to_string(InodeOf(path))},
      {"GRAPHKIT_TRACE_SCOPE", options.scope == Scope::kAll ? "all" : ""},
      {"GRAPHKIT_TRACE_STACKS",
       options.stacks == kOnlyFailures ? "" : std::to_string(std::max(options.stacks, 0))},
      {"GRAPHKIT_TRACE_MEASURE_EXECS", options.measure_execs ? "1" : ""},
      {"GRAPHKIT_TRACE_BUFFER", std::to_string(options.buffer)}};
  if (Getenv("NVTX_INJECTION64_PATH").empty()) {
    environment.emplace_back("NVTX_INJECTION64_PATH", tracer);
  }
  if (Getenv("NCCL_PROFILER_PLUGIN").empty()) {
    environment.emplace_back("NCCL_PROFILER_PLUGIN", tracer);
  }
  if (!options.no_torch) {
    for (auto& variable : TorchHookEnvironment(path)) environment.push_back(std::move(variable));
  }
  if (device == Device::kSoft) {
    const std::string others = Getenv("LD_LIBRARY_PATH");
    environment.emplace_back("LD_LIBRARY_PATH",
                             SoftFolder() + (others.empty() ? "" : ":" + others));
    const std::string audits = Getenv("LD_AUDIT");
    environment.emplace_back("LD_AUDIT", AuditLibrary() + (audits.empty() ? "" : ":" + audits));
  }
  return environment;
}

// What the tracer tells of a process that initialised CUDA and did nothing that is recorded.
constexpr std::string_view kNothingToRecord = "nothing to record";

// `said`: by the tracer.
void SayOutcome(const std::string& path, uint64_t old_inode, int64_t started, bool soft,
                const std::string& program, std::vector<std::string> said) {
  const bool began = std::erase(said, kNothingToRecord) > 0;
  std::vector<std::string> others = OtherTraces(path, started);
  std::optional<TraceOutcome> outcome;
  if (InodeOf(path) != old_inode) outcome = InspectTrace(path);
  if (outcome) {
    PrintNote(DescribeOutcome(*outcome));
  } else if (others.empty() && !said.empty()) {
    PrintWarning("nothing was recorded: the tracer said \"" + said.front() + "\"");
  } else if (others.empty()) {
    PrintWarning(ExplainNoTrace(
        {.program = program, .elf = ReadElf(program), .soft = soft, .started = began}));
  }
  for (const std::string& other : others) {
    if (const auto more = InspectTrace(other)) PrintNote(DescribeOutcome(*more));
  }
  if (outcome) others.insert(others.begin(), path);
  for (const std::string& trace : others) AddSourceLines(trace);
  JoinSnapshots(others, LeftSnapshots(path, started));
}

int64_t WallClock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);  // as the file system stamps its files
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

int RunTrace(const TraceOptions& options, const std::vector<std::string>& words) {
  const Result<std::string> path = CheckOutput(options.output);
  if (!path) return Fail(path.error());
  const std::string tracer = PluginFolder() + "/" + kTracerPlugin;
  if (!fs::exists(tracer)) {
    return Fail({.message = "the tracer is missing: " + tracer,
                 .hint = "build graphkit with its plugins (tools/setup.sh brings what they need)"});
  }
  const Result<Device> device = PickDevice(options.device);
  if (!device) return Fail(device.error());
  const bool soft = *device == Device::kSoft;
  if (!Getenv("CUDA_INJECTION64_PATH").empty() && Getenv("CUDA_INJECTION64_PATH") != tracer) {
    PrintWarning("CUDA_INJECTION64_PATH names another tool; graphkit takes its place");
  }
  PrintNote(soft ? "on the software device: everything recorded is simulated" : "on the GPU");

  const uint64_t old_inode = InodeOf(*path);
  const int64_t started = WallClock();
  Mailbox mailbox;
  const ProgramEnd end = RunProgram(words, EnvironmentFor(options, *path, *device, mailbox.name()));
  if (end.start_error != 0) {
    PrintError("cannot execute " + words.front() + ": " + std::strerror(end.start_error));
    return end.exit_code;
  }
  if (end.signal != 0) {
    PrintWarning(words.front() + " was killed by signal " + std::to_string(end.signal) + " (" +
                 strsignal(end.signal) + ")");
  }
  SayOutcome(*path, old_inode, started, soft, FindProgram(words.front()), mailbox.Take());
  return end.exit_code;
}

// `graphkit trace … [--] program args…`: what follows the options, without the separator.
int Run(const CLI::App& sub, const TraceOptions& options) {
  std::vector<std::string> words = sub.remaining();
  const bool separated = TakeSeparator(words);
  if (words.empty()) {
    std::cerr << sub.help();
    return kExitTrace;
  }
  if (!separated && words.front().size() > 1 && words.front().front() == '-') {
    return Fail({.message = "trace has no option " + words.front(),
                 .hint = "see graphkit trace --help; what follows -- is the program"});
  }
  return RunTrace(options, words);
}

}  // namespace

void AddTraceCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand(
      "trace", "Run a program and record its captures, allocations and stream dependencies");
  const auto options = std::make_shared<TraceOptions>();
  AddOutput(*sub, options->output, "where the trace goes (trace.json)");
  AddChoice<Device>(
      *sub, "--device", options->device,
      {{"auto", Device::kAuto}, {"cuda", Device::kCuda}, {"soft", Device::kSoft}},
      "the GPU, or the software device; auto (the default): the GPU where there is one");
  AddChoice<Scope>(
      *sub, "--scope", options->scope, {{"graphs", Scope::kGraphs}, {"all", Scope::kAll}},
      "graphs, memory, what orders them, and work outside of captures that is submitted while one "
      "is open or uses graphs' memory (the default); or all work");
  sub->add_flag("--stacks{32}", options->stacks,
                "call stacks of nodes, work, memory, execs and failures, with source lines of what "
                "was compiled with -g: --stacks, or --stacks=FRAMES; without it only of calls that "
                "fail in captures; --stacks=0: of none")
      ->check(CLI::Range(0, 256));
  options->stacks = kOnlyFailures;  // a flag begins at 0
  sub->add_flag("--measure-execs", options->measure_execs,
                "read free device memory before and after each instantiation, upload and first "
                "launch: what executables take");
  AddSize(*sub, "--buffer", options->buffer,
          "how much of the trace may wait for the disk: the program waits when it is more; without "
          "this it never waits");
  sub->add_flag("--no-torch", options->no_torch,
                "leave PyTorch's memory history alone; without this it is recorded, with stacks, "
                "and joined into the trace");
  sub->prefix_command();
  SetExamples(*sub, {"graphkit trace ./app --its-option      # writes trace.json",
                     "graphkit trace -o step.json python train.py",
                     "graphkit trace --device soft ./app     # without a GPU, simulated"});
  sub->callback([sub, &exit_code, options] { exit_code = Run(*sub, *options); });
}

}  // namespace graphkit
