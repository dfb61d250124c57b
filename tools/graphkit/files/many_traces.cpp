#include "tools/graphkit/files/many_traces.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>

#include "libgraphkit/compare/gate.h"
#include "libgraphkit/compare/ranks.h"
#include "libgraphkit/parallel.h"
#include "libgraphkit/units.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/pack_ranks.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

namespace fs = std::filesystem;

// Traces, and PyTorch's snapshots.
bool IsTraceName(const std::string& name) {
  constexpr std::string_view kEndings[] = {".json", ".json.zst", ".pickle", ".pickle.zst",
                                           ".pickle.gz"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

// Numbers by their value: rank2 before rank10.
bool NaturalLess(const std::string& a, const std::string& b) {
  return strverscmp(a.c_str(), b.c_str()) < 0;
}

Result<std::vector<std::string>> TracesIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (IsTraceName(name) && entry.is_regular_file(error)) {
      found.push_back((fs::path(folder) / name).string());
    }
  }
  if (error) return Error{.message = folder + ": " + error.message()};
  if (found.empty()) {
    return Error{.message = folder + " holds no traces",
                 .hint = "a folder stands for its *.json, *.json.zst and *.pickle"};
  }
  std::ranges::sort(found, NaturalLess);
  return found;
}

// The memory for reading a file and looking at it, from measurements of large traces, with room.
uint64_t MemoryFor(const std::string& path) {
  constexpr uint64_t kLeast = uint64_t{8} << 20;
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error) return kLeast;
  return std::max(kLeast, static_cast<uint64_t>(size) * (path.ends_with(".zst") ? 30 : 2));
}

// Half of what is free: the rest is for what is made, and for others.
uint64_t MemoryBudget() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (uint64_t kilobytes = 0; file >> name >> kilobytes; std::getline(file, unit)) {
    if (name == "MemAvailable:") return kilobytes * 1024 / 2;
  }
  return uint64_t{2} << 30;
}

// The part of this process. A trace is begun when there is memory for it and what was made before
// isn't too far from being taken; one at a time always is. An exception of a thread ends all of
// them, and is thrown where results are taken.
template <typename T>
class Workers {
 public:
  Workers(const ManyTraces& traces, std::vector<size_t> own,
          const std::function<Result<T>(const std::string&)>& make)
      : paths_(traces.paths), own_(std::move(own)), make_(make), made_(own_.size()) {
    const size_t count = std::min(traces.threads > 0 ? traces.threads : Cores(), own_.size());
    ahead_ = 2 * count + 2;
    share_ = count == 0 ? 1 : Cores() / count;
    threads_.emplace(count, [this] { Work(); });
  }
  ~Workers() {
    End(nullptr);
    threads_.reset();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Waits for the next one.
  Result<T> Take() {
    if (threads_->size() == 0) Work();  // the system gave none
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failure_ || made_[taken_].has_value(); });
    if (failure_) std::rethrow_exception(failure_);
    Result<T> made = *std::move(made_[taken_]);
    made_[taken_++].reset();
    changed_.notify_all();
    return made;
  }

 private:
  bool MayBegin(uint64_t memory) const {
    return running_ == 0 || (next_ < taken_ + ahead_ && in_use_ + memory <= budget_);
  }

  // Nothing more is begun.
  void End(std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      next_ = own_.size();
      if (!failure_) failure_ = std::move(failure);
    }
    changed_.notify_all();
  }

  void Work() {
    const CoreShare share(share_);
    try {
      MakeTraces();
    } catch (...) {
      End(std::current_exception());
    }
  }

  void MakeTraces() {
    std::unique_lock lock(mutex_);
    while (true) {
      uint64_t memory = 0;
      changed_.wait(lock, [&] {
        if (next_ >= own_.size()) return true;
        memory = MemoryFor(paths_[own_[next_]]);
        return MayBegin(memory);
      });
      if (next_ >= own_.size()) return;
      const size_t mine = next_++;
      ++running_;
      in_use_ += memory;
      lock.unlock();
      std::optional<Result<T>> made = make_(paths_[own_[mine]]);
      lock.lock();
      made_[mine] = std::move(made);
      --running_;
      in_use_ -= memory;
      changed_.notify_all();
    }
  }

  const std::vector<std::string>& paths_;
  const std::vector<size_t> own_;  // indices of paths
  const std::function<Result<T>(const std::string&)>& make_;
  const uint64_t budget_ = MemoryBudget();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<Result<T>>> made_;  // by place in own_
  size_t next_ = 0, taken_ = 0, running_ = 0, ahead_ = 0;
  uint64_t in_use_ = 0;
  size_t share_ = 1;  // of the cores, for each trace
  std::exception_ptr failure_;
  std::optional<ThreadTeam> threads_;  // the last: they use all of the above
};

// The results for a trace, as the processes of a job send them.
const std::string& Pack(const std::string& made) { return made; }
std::string Pack(const GateSubject& made) { return PackSubject(made); }
void Unpack(std::string_view bytes, std::optional<std::string>* made) { made->emplace(bytes); }
void Unpack(std::string_view bytes, std::optional<GateSubject>* made) {
  *made = UnpackSubject(bytes);
}

// One byte says what follows: what was made, or what an error says.
template <typename T>
std::string Encoded(const Result<T>& made) {
  if (made) return "+" + Pack(*made);
  const bool incomplete = made.error().kind == Error::Kind::kIncomplete;
  return (incomplete ? "~" : "-") + Describe(made.error());
}

template <typename T>
Result<T> Decoded(std::string_view bytes) {
  if (bytes.empty()) return Error{.message = "a process of the job was lost"};
  const char kind = bytes[0];
  bytes.remove_prefix(1);
  if (kind == '+') {
    std::optional<T> made;
    Unpack(bytes, &made);
    if (made) return *std::move(made);
    return Error{.message = "the processes of the job aren't of the same version"};
  }
  Error error{.message = std::string(bytes)};
  if (kind == '~') error.kind = Error::Kind::kIncomplete;
  return error;
}

// As MakeAll, of any type.
template <typename T>
Result<void> MakeEach(const Job& job, const ManyTraces& traces,
                      const std::function<Result<T>(const std::string& path)>& make,
                      const std::function<void(size_t index, T made)>& take) {
  const auto size = static_cast<size_t>(job.size()), rank = static_cast<size_t>(job.rank());
  std::vector<size_t> own;
  for (size_t i = rank; i < traces.paths.size(); i += size) own.push_back(i);
  Workers<T> workers(traces, own, make);
  if (rank != 0) {
    for (size_t i = 0; i < own.size(); ++i) job.Send(Encoded(workers.Take()), 0);
    return {};
  }
  const size_t count = traces.paths.size();
  Progress progress(
      traces.doing + " " + (count == 1 ? traces.paths[0] : FormatCount(count) + " traces"), count);
  std::optional<Error> first;  // the others' are taken all the same: they wait for that
  for (size_t i = 0; i < traces.paths.size(); ++i) {
    const auto from = static_cast<int>(i % size);
    if (first && size == 1) break;
    Result<T> made = from == 0 ? workers.Take() : Decoded<T>(job.Receive(from));
    ++*progress.done();
    if (first) continue;
    if (made) {
      take(i, *std::move(made));
    } else {
      first = made.error();
    }
  }
  if (first) return *first;
  return {};
}

}  // namespace

Result<std::vector<std::string>> ExpandTraces(const std::vector<std::string>& named) {
  std::vector<std::string> paths;
  for (const std::string& name : named) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      paths.push_back(name);
      continue;
    }
    Result<std::vector<std::string>> found = TracesIn(name);
    if (!found) return found.error();
    paths.insert(paths.end(), found->begin(), found->end());
  }
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    if (!seen.insert(path).second) {
      return Error{.message = path + " is given twice", .hint = "name each trace once"};
    }
  }
  return paths;
}

Result<void> MakeAll(const Job& job, const ManyTraces& traces,
                     const std::function<Result<std::string>(const std::string& path)>& make,
                     const std::function<void(size_t index, std::string made)>& take) {
  return MakeEach<std::string>(job, traces, make, take);
}

namespace {

// One trace: only its subject stays.
Result<GateSubject> ReadOne(const std::string& path, const AnalyzeOptions& options) {
  const Result<Ran> trace = ReadQuietly(path);
  if (!trace) return trace.error();
  const Facts facts = FindReportFacts(*trace, options);
  Result<Report> report = Analyze(facts, options);
  if (!report) return report.error();
  return MakeGateSubject(path, facts, *std::move(report));
}

}  // namespace

Result<std::vector<GateSubject>> ReadSubjects(const Job& job, const std::vector<std::string>& paths,
                                              const AnalyzeOptions& options) {
  std::vector<GateSubject> subjects;
  const Result<void> done = MakeEach<GateSubject>(
      job, {.paths = paths, .threads = 0, .doing = "analyzing"},
      [&](const std::string& path) { return ReadOne(path, options); },
      [&](size_t, GateSubject made) { subjects.push_back(std::move(made)); });
  if (!done) return done.error();
  AddRankDifferences(subjects, options.checks);
  return subjects;
}

Result<RankReport> ReadRanks(const Job& job, const std::vector<std::string>& paths,
                             const AnalyzeOptions& options) {
  const Result<std::vector<GateSubject>> subjects = ReadSubjects(job, paths, options);
  if (!subjects) return subjects.error();
  return subjects->empty() ? RankReport() : CompareRanks(SummarizeRanks(*subjects));
}

int WarnIncomplete(const RankReport& report) {
  int exit_code = kExitOk;
  for (const RankSummary& rank : report.ranks) {
    if (rank.complete()) continue;
    PrintWarning(rank.trace + " is incomplete: " + rank.incomplete_because.front());
    exit_code = kExitIncomplete;
  }
  return exit_code;
}

}  // namespace graphkit
