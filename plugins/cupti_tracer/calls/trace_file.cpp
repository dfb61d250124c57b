#include "plugins/cupti_tracer/calls/trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "libgraphkit/file_mark.h"
#include "libgraphkit/temporary_name.h"

namespace graphkit {
namespace {

uint64_t NumberOf(const char* text) {
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

// Without std::filesystem, which more than doubles the library.
std::string Absolute(const std::string& path) {
  char folder[PATH_MAX];
  if (path.starts_with('/') || getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

std::string_view NameOfFile(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// The program and its arguments, as it was started, or the title that it gave itself since: that is
// written over them and padded with NULs.
std::vector<std::string> CommandLine() {
  std::vector<std::string> words;
  FILE* file = std::fopen("/proc/self/cmdline", "re");
  char* word = nullptr;
  size_t size = 0;
  while (file != nullptr && getdelim(&word, &size, '\0', file) >= 0) words.emplace_back(word);
  std::free(word);
  if (file != nullptr) std::fclose(file);
  return words;
}

// The file that runs, where the program's name doesn't begin that file's: a server's process is
// "VLLM::EngineCore", run by python3.11. Empty: it does, or the file isn't known.
std::string OtherExecutable(std::string_view program) {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  const std::string_view file(path, size > 0 ? static_cast<size_t>(size) : 0);
  return NameOfFile(file).starts_with(NameOfFile(program)) ? std::string() : std::string(file);
}

uint64_t ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Another program may cut the file short while it is mapped: a store behind its end raises SIGBUS.
RecordFile* guarded = nullptr;
struct sigaction before_ours {};

void OnBusError(int, siginfo_t* info, void*) {
  const int error = errno;
  const bool fault = info->si_code > 0;
  if (!fault || guarded == nullptr || !guarded->Cover(info->si_addr)) {
    sigaction(SIGBUS, &before_ours, nullptr);  // it isn't ours, and comes again without us
    if (!fault) raise(SIGBUS);
  }
  errno = error;
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == OnBusError;
}

void Guard(RecordFile* file) {
  guarded = file;
  struct sigaction now {};
  if (sigaction(SIGBUS, nullptr, &now) != 0 || IsOurs(now)) return;
  before_ours = now;
  struct sigaction ours {};
  ours.sa_sigaction = OnBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGBUS, &ours, nullptr);
}

// A handler that the program has set since then stays.
void EndGuard(const RecordFile* file) {
  struct sigaction now {};
  if (guarded != file || file == nullptr) return;
  guarded = nullptr;
  if (sigaction(SIGBUS, nullptr, &now) == 0 && IsOurs(now)) {
    sigaction(SIGBUS, &before_ours, nullptr);
  }
}

}  // namespace

TraceTarget TargetFromEnvironment() {
  TraceTarget target;
  const char* out = std::getenv("GRAPHKIT_TRACE_OUT");
  target.path = Absolute(out != nullptr && *out != '\0' ? out : "trace.json");
  target.max_bytes = NumberOf(std::getenv("GRAPHKIT_TRACE_LIMIT"));
  target.buffer = NumberOf(std::getenv("GRAPHKIT_TRACE_BUFFER"));
  if (const char* run = std::getenv("GRAPHKIT_TRACE_RUN")) target.run = run;
  if (const char* old = std::getenv("GRAPHKIT_TRACE_OLD")) {
    target.old = old;
    return target;
  }
  target.old = FileMark(target.path);
  setenv("GRAPHKIT_TRACE_OUT", target.path.c_str(), 1);
  setenv("GRAPHKIT_TRACE_OLD", target.old.c_str(), 1);
  return target;
}

std::string PathForProcess(const std::string& path, int64_t pid, int again) {
  std::string middle = "." + std::to_string(pid);
  if (again > 1) middle += "." + std::to_string(again);
  constexpr std::string_view kEnding = ".json";
  if (!path.ends_with(kEnding)) return path + middle;
  return path.substr(0, path.size() - kEnding.size()) + middle + std::string(kEnding);
}

uint64_t TraceFile::Append(std::string_view record) {
  if (!file_.is_open() && (ended_ || !Open())) return RecordFile::kDropped;
  uint64_t place = file_.Append(record);
  if (place == RecordFile::kDropped && error_.empty()) {
    error_ = file_.error() + (file_.cut_short() ? "; nothing more is recorded"
                                                : "; the trace ends here, and says so");
  }
  return place;
}

TraceFile::~TraceFile() { EndGuard(&file_); }

void TraceFile::Forked() {
  EndGuard(&file_);
  file_.Abandon();
}

void TraceFile::Stop() {
  Forked();
  ended_ = true;
}

bool TraceFile::Open() {
  if (!MayUseFiles()) {
    error_ =
        "the program set a seccomp filter before there was anything to record: nothing is recorded";
    ended_ = true;
    return false;
  }
  const std::string temporary = TemporaryName(target_.path);
  file_.SetBuffer(target_.buffer);
  if (file_.Open(temporary, target_.device, target_.max_bytes)) {
    Guard(&file_);
    WriteProcess();
    WriteClock();
    if (Claim()) return true;
    Forked();
    unlink(temporary.c_str());
  } else {
    error_ = file_.error() + "; nothing is recorded: " +
             (file_.limited() ? "raise the limit" : "choose another place with -o");
    unlink(temporary.c_str());
  }
  ended_ = true;
  return false;
}

// Gives the new file its name. Processes of one run take turns, by a lock on the folder.
bool TraceFile::Claim() {
  std::string folder = target_.path.substr(0, target_.path.rfind('/') + 1);
  int lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock >= 0) flock(lock, LOCK_EX);
  std::string path = target_.path;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      error_ = path + " is not a file; nothing is recorded";
    } else if (FileMark(status) != target_.old) {
      path = PathForProcess(target_.path, getpid(), 1);
      for (int again = 2; stat(path.c_str(), &status) == 0 && again < 100; ++again) {
        path = PathForProcess(target_.path, getpid(), again);
      }
    }
  }
  if (error_.empty() && !file_.Rename(path)) {
    error_ = "cannot create " + path + ": " + std::strerror(errno) + "; nothing is recorded";
  }
  if (lock >= 0) close(lock);
  return error_.empty();
}

// The variables that change what CUDA, NCCL and PyTorch do with memory and graphs, of those that
// are set.
static std::vector<std::string> Environment() {
  constexpr const char* kNames[] = {
      "CUBLAS_WORKSPACE_CONFIG",         "CUDA_DEVICE_MAX_CONNECTIONS",
      "NCCL_GRAPH_MIXING_SUPPORT",       "NCCL_GRAPH_REGISTER",
      "NCCL_GRAPH_STREAM_ORDERING",      "PYTORCH_ALLOC_CONF",
      "PYTORCH_CUDA_ALLOC_CONF",         "PYTORCH_NO_CUDA_MEMORY_CACHING",
      "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_AVOID_RECORD_STREAMS"};
  std::vector<std::string> set;
  for (const char* name : kNames) {
    const char* value = std::getenv(name);
    if (value != nullptr) set.push_back(std::string(name) + "=" + value);
  }
  return set;
}

void TraceFile::WriteProcess() {
  std::vector<std::string> words = CommandLine();
  ProcessRecord r;
  Process& process = r.process;
  process.pid = getpid();
  if (!words.empty()) process.program = words[0];
  if (!words.empty()) process.args.assign(words.begin() + 1, words.end());
  process.executable = OtherExecutable(process.program);
  // Behind a title there is only its padding.
  if (!process.executable.empty() && std::ranges::all_of(process.args, &std::string::empty))
    process.args.clear();
  process.device_name = facts_.device_name;
  process.driver_version = facts_.driver;
  process.cupti_version = static_cast<int>(facts_.cupti);
  process.cupti_path = facts_.cupti_path;
  process.tracer_version = GRAPHKIT_VERSION;
  process.environment = Environment();
  process.all_work = target_.all_work;
  RecordLine line;
  std::string record(FieldWriter(line, BorrowedValues()).Write(r));
  // For `graphkit trace` alone: readers of traces leave it out.
  if (!target_.run.empty()) record.insert(record.size() - 1, ",\"run\":\"" + target_.run + "\"");
  file_.Append(record);
}

// The thread may have to wait between two readings: the closest of a few.
void TraceFile::WriteClock() {
  constexpr uint64_t kClose = 10'000;  // ns
  ClockRecord r;
  uint64_t closest = UINT64_MAX;
  for (int i = 0; i < 8 && closest > kClose; ++i) {
    const uint64_t before = ReadClock(CLOCK_MONOTONIC);
    const uint64_t wall = ReadClock(CLOCK_REALTIME);
    const uint64_t after = ReadClock(CLOCK_MONOTONIC);
    if (after - before >= closest) continue;
    closest = after - before;
    r.row.monotonic = (before + after) / 2 - epoch_;
    r.row.wall = static_cast<int64_t>(wall);
  }
  RecordLine line;
  file_.Append(FieldWriter(line, BorrowedValues()).Write(r));
}

bool TraceFile::Finish(const RecordCounts& counts) {
  ended_ = true;
  if (!file_.is_open()) return true;
  WriteClock();
  const bool whole = file_.Finish(counts);
  EndGuard(&file_);
  if (error_.empty()) error_ = file_.error();
  return whole;
}

}  // namespace graphkit
