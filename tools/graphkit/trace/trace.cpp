// `graphkit trace`: runs a program with the tracer in it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <random>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/file_mark.h"
#include "libgraphkit/units.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/separator.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/doctor/cuda_probe.h"
#include "tools/graphkit/plugins.h"
#include "tools/graphkit/terminal/talk.h"
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

// Bytes for libraries that scripts and env(1) preload, which aren't known here: jemalloc's 2.6 KiB.
// More would leave too little of small threads' stacks, which hold it too.
constexpr uint64_t kLeastTls = 4096;
constexpr int kUsualStacks = -2;  // as many frames as the tracer takes by itself

struct TraceOptions {
  std::string output = "trace.json";
  Device device = Device::kAuto;
  Scope scope = Scope::kGraphs;
  int stacks = kUsualStacks;  // frames a stack; 0 or -1, which a flag makes of 0: none
  uint64_t buffer = 0;        // bytes; 0: no wait for the disk
  bool no_stacks = false;
  bool no_torch = false;
  bool verbose = false;
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

// The package for other processors goes without the software device.
std::string HowToGetSoftDevice() {
#ifdef __x86_64__
  return HowToGetParts(PluginFolder());
#else
  return "trace on a machine with a GPU, or on x86-64";
#endif
}

std::string SoftFolder() { return PluginFolder() + "/soft_cuda"; }

// Leads programs with a CUDA runtime inside, or with an RPATH to one, to the software device.
std::string AuditLibrary() { return SoftFolder() + "/libgraphkit_soft_audit.so"; }

Result<Device> PickDevice(Device asked) {
  if (asked == Device::kCuda) return asked;
  if (asked == Device::kAuto && HasGpu()) return Device::kCuda;
  if (!fs::exists(SoftFolder() + "/libcuda.so.1")) {
    const std::string no_gpu = asked == Device::kAuto ? "no GPU here, and " : "";
    return Error{.message = no_gpu + "this build lacks the software device",
                 .hint = HowToGetSoftDevice()};
  }
  return Device::kSoft;
}

// A program that opens a library which a build lacks gets NVIDIA's own, or none, and crashes.
void WarnOfMissingParts() {
  const std::vector<std::string> missing = MissingSoftParts(PluginFolder());
  if (missing.empty()) return;
  PrintWarning("this build of the software device lacks " + NameSome(missing) +
               ", so programs that use " + (missing.size() == 1 ? "it" : "one of them") +
               " fail: " + HowToGetSoftDevice());
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

int64_t WallClock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);  // as the file system stamps its files
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// One run of `graphkit trace`, and the files that stood at its place before.
struct TraceRun {
  std::string path;                // of the trace
  std::string id;                  // that its traces have
  std::string old;                 // its mark; empty: no file, or one that may not be replaced
  std::vector<FileBeside> beside;  // as traces of its other processes would be named
  int64_t started = 0;             // wall clock, ns
  bool soft = false;
  std::string program;  // as found
};

TraceRun BeginRun(const std::string& path, bool soft, const std::string& program) {
  TraceRun run{.path = path, .soft = soft, .program = program};
  std::random_device random;
  run.id = HexText(uint64_t{random()} << 32 | random()).substr(2);
  // Before the file is looked at, as another run may replace it meanwhile, and that one's isn't
  // old.
  run.old = FileMark(path);
  const std::optional<TraceOutcome> old = InspectTrace(path);
  if (old && old->writing) {
    run.old.clear();
    PrintWarning(
        path + " is being written by process " + std::to_string(old->pid) +
        ", of another run: this one's traces have their processes' numbers in their names");
  }
  run.beside = OtherTraces(path);
  run.started = WallClock();
  return run;
}

// `tell`: the name of the mailbox.
Environment EnvironmentFor(const TraceOptions& options, const TraceRun& run,
                           const std::string& tell) {
  const std::string tracer = PluginFolder() + "/" + kTracerPlugin;
  Environment environment = {
      {"CUDA_INJECTION64_PATH", tracer},
      {"GRAPHKIT_TRACE_OUT", run.path},
      {"GRAPHKIT_TRACE_TELL", tell},
      {"GRAPHKIT_TRACE_OLD", run.old},
      {"GRAPHKIT_TRACE_RUN", run.id},
      {"GRAPHKIT_TRACE_SCOPE", options.scope == Scope::kAll ? "all" : ""},
      {"GRAPHKIT_TRACE_STACKS", options.no_stacks ? "0"
                                : options.stacks == kUsualStacks
                                    ? ""
                                    : std::to_string(std::max(options.stacks, 0))},
      {"GRAPHKIT_TRACE_MEASURE_EXECS", options.measure_execs ? "1" : ""},
      {"GRAPHKIT_TRACE_BUFFER", std::to_string(options.buffer)}};
  if (Getenv("NVTX_INJECTION64_PATH").empty()) {
    environment.emplace_back("NVTX_INJECTION64_PATH", tracer);
  }
  if (Getenv("NCCL_PROFILER_PLUGIN").empty()) {
    environment.emplace_back("NCCL_PROFILER_PLUGIN", tracer);
  }
  if (!options.no_torch) {
    for (auto& variable : PythonHookEnvironment(run.path))
      environment.push_back(std::move(variable));
  }
  if (run.soft) {
    const std::string others = Getenv("LD_LIBRARY_PATH");
    const std::string libraries = SoftFolder() + (others.empty() ? "" : ":" + others);
    environment.emplace_back("LD_LIBRARY_PATH", libraries);
    const std::string audits = Getenv("LD_AUDIT");
    environment.emplace_back("LD_AUDIT", AuditLibrary() + (audits.empty() ? "" : ":" + audits));
    const uint64_t tls = std::max(StartupTls(run.program, libraries), kLeastTls);
    environment.emplace_back("GLIBC_TUNABLES", TunablesWithTls(Getenv("GLIBC_TUNABLES"), tls));
  }
  return environment;
}

// The tracer's message for a process that initialised CUDA and did nothing that is recorded.
constexpr std::string_view kNothingToRecord = "nothing to record";
// The tracer's prefix for a line that the program's stderr couldn't take.
constexpr std::string_view kUnsaid = "unsaid: ";

// So that the trace of an earlier run isn't taken for this one's.
void MoveOldAside(const TraceRun& run) {
  const std::string mark = FileMark(run.path);
  if (mark.empty()) return;
  if (mark != run.old) {
    PrintWarning(run.path + " is another run's");
    return;
  }
  const std::string aside = run.path + ".old";
  if (std::rename(run.path.c_str(), aside.c_str()) == 0) {
    PrintWarning(run.path + " was there before this run: it is " + aside + " now");
  } else {
    PrintWarning(run.path +
                 " was there before this run, and can't be moved: " + std::strerror(errno));
  }
}

// Before the run began, and not written to since.
bool WasBefore(const TraceRun& run, const FileBeside& file) {
  return std::ranges::find(run.beside, file) != run.beside.end();
}

// Traces that processes of an earlier run left beside this one's would be taken for its ranks.
void MoveEarlierAside(const TraceRun& run) {
  std::vector<std::string> earlier;
  for (const FileBeside& file : OtherTraces(run.path)) {
    if (!WasBefore(run, file)) continue;
    const std::optional<TraceOutcome> trace = InspectTrace(file.path);
    if (!trace || trace->writing) continue;
    if (std::rename(file.path.c_str(), (file.path + ".old").c_str()) == 0) {
      earlier.push_back(file.path);
    }
  }
  if (earlier.empty()) return;
  const bool one = earlier.size() == 1;
  PrintNote((one ? earlier[0] + " is" : std::to_string(earlier.size()) + " traces beside it are") +
            " of an earlier run, and renamed: " + earlier[0] + ".old" + (one ? "" : ", …"));
}

void ExplainNothing(const TraceRun& run, const std::vector<std::string>& said, bool began) {
  if (!said.empty()) {
    PrintWarning("no trace of this run: the tracer reported \"" + said.front() + "\"");
  } else {
    PrintWarning(ExplainNoTrace(
        {.program = run.program, .elf = ReadElf(run.program), .soft = run.soft, .started = began}));
  }
  MoveOldAside(run);
}

// Lines that the program's stderr couldn't take are said here.
void SayUnsaid(std::vector<std::string>& said) {
  for (std::string& line : said) {
    if (!line.starts_with(kUnsaid)) continue;
    line.erase(0, kUnsaid.size());
    PrintWarning(line);
  }
}

// `said`: by the tracer.
void SayOutcome(const TraceRun& run, std::vector<std::string> said, bool verbose) {
  const bool began = std::erase(said, kNothingToRecord) > 0;
  SayUnsaid(said);
  std::vector<std::string> traces;
  if (FileMark(run.path) != run.old) traces.push_back(run.path);
  for (const FileBeside& file : OtherTraces(run.path)) {
    if (!WasBefore(run, file)) traces.push_back(file.path);
  }
  std::vector<int64_t> others;  // processes of other runs
  std::erase_if(traces, [&](const std::string& trace) {
    const auto outcome = InspectOwn(trace, run.id);
    if (outcome) PrintNote(DescribeOutcome(*outcome));
    if (!outcome) others.push_back(InspectTrace(trace).value_or(TraceOutcome()).pid);
    return !outcome;
  });
  if (traces.empty()) ExplainNothing(run, said, began);
  if (!traces.empty()) MoveEarlierAside(run);
  for (const std::string& trace : traces) AddSourceLines(trace);
  std::vector<LeftSnapshot> snapshots = LeftSnapshots(run.path, run.started);
  std::erase_if(snapshots, [&others](const LeftSnapshot& snapshot) {
    return std::ranges::find(others, snapshot.pid) != others.end();
  });
  JoinSnapshots(traces, snapshots, verbose);
  if (traces.size() == 1) PrintNote("next: graphkit " + ShellWord(traces.front()));
}

// Why a program didn't start, and how it would.
std::string ExplainStart(const std::string& program, int error) {
  const bool python = program.ends_with(".py"), named = program.find('/') != program.npos;
  std::error_code ignored;
  if (!fs::exists(program, ignored)) {
    return "cannot execute " + program + ": " + std::strerror(error);
  }
  const std::string again = "; try graphkit trace " +
                            std::string(python  ? "python "
                                        : named ? ""
                                                : "./") +
                            program;
  if (!named && error == ENOENT) return program + " isn't on the PATH" + again;
  if (error == EACCES) return program + " isn't executable" + (python ? again : "");
  return "cannot execute " + program + ": " + std::strerror(error);
}

// Options that stand behind the program, which gets them: "-o foo.json"; empty: none.
std::string BehindProgram(const std::vector<std::string>& words) {
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i] == "-o" || words[i] == "--output") return words[i] + " " + words[i + 1];
  }
  return "";
}

int RunTrace(const TraceOptions& options, const std::vector<std::string>& words) {
  const Result<std::string> path = CheckOutput(options.output);
  if (!path) return Fail(path.error());
  const std::string tracer = PluginFolder() + "/" + kTracerPlugin;
  if (!fs::exists(tracer)) {
    return Fail({.message = "this build lacks the tracer", .hint = HowToGetParts(PluginFolder())});
  }
  const Result<Device> device = PickDevice(options.device);
  if (!device) return Fail(device.error());
  const bool soft = *device == Device::kSoft;
  if (!Getenv("CUDA_INJECTION64_PATH").empty() && Getenv("CUDA_INJECTION64_PATH") != tracer) {
    PrintWarning("CUDA_INJECTION64_PATH names another tool; graphkit takes its place");
  }
  if (soft) WarnOfMissingParts();
  PrintNote(soft ? "on the software device: everything recorded is simulated" : "on the GPU");

  const TraceRun run = BeginRun(*path, soft, FindProgram(words.front()));
  Mailbox mailbox;
  const ProgramEnd end = RunProgram(words, EnvironmentFor(options, run, mailbox.name()));
  if (end.start_error != 0) {
    PrintError(ExplainStart(words.front(), end.start_error));
    return end.exit_code;
  }
  if (end.signal != 0) {
    PrintWarning(words.front() + " was killed by signal " + std::to_string(end.signal) + " (" +
                 strsignal(end.signal) + ")");
  }
  SayOutcome(run, mailbox.Take(), options.verbose);
  const std::string behind = BehindProgram(words);
  const std::string mark = FileMark(run.path);
  if (!behind.empty() && (mark.empty() || mark == run.old)) {
    PrintNote(behind +
              " came after the program, so the program got it; options of graphkit trace "
              "come before it");
  }
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
  AddOutput(*sub, options->output, "Write the trace to FILE (trace.json)");
  AddChoice<Device>(
      *sub, "--device", options->device,
      {{"auto", Device::kAuto}, {"cuda", Device::kCuda}, {"soft", Device::kSoft}},
      "Run on the GPU or the software device; auto (the default): the GPU where there is one");
  AddChoice<Scope>(
      *sub, "--scope", options->scope, {{"graphs", Scope::kGraphs}, {"all", Scope::kAll}},
      "Record graphs, memory, their order, and the work outside of captures that concerns them "
      "(the default); or all work");
  sub->add_flag("--stacks{256}", options->stacks,
                "Record at most FRAMES frames of each call stack (256)")
      ->check(CLI::Range(0, 256));
  options->stacks = kUsualStacks;  // a flag begins at 0
  sub->add_flag("--no-stacks", options->no_stacks,
                "Don't record call stacks; by default those of nodes, work, memory, execs "
                "and failures are, with source lines of code compiled with -g");
  sub->add_flag("--measure-execs", options->measure_execs,
                "Measure the memory of executables: read free device memory before and after each "
                "instantiation, upload and first launch");
  AddSize(*sub, "--buffer", options->buffer,
          "Let the program wait when more of the trace than this waits for the disk; by default it "
          "never waits");
  sub->add_flag(
      "--no-torch", options->no_torch,
      "Don't record PyTorch's memory history; by default it is recorded, with stacks, and "
      "joined into the trace");
  sub->add_flag("-v,--verbose", options->verbose,
                "Also print the parts of PyTorch's memory history and of the trace that aren't "
                "joined");
  sub->prefix_command();
  SetExamples(*sub, {"graphkit trace ./app --its-option      # writes trace.json",
                     "graphkit trace -o step.json python train.py",
                     "graphkit trace --device soft ./app     # without a GPU, simulated"});
  sub->callback([sub, &exit_code, options] { exit_code = Run(*sub, *options); });
}

}  // namespace graphkit
