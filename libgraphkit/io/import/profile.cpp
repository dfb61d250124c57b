#include "libgraphkit/io/import/profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/io/import/kineto_events.h"

namespace graphkit {
namespace {

enum class ScopeKind : uint8_t { kOperator, kPython, kAnnotation };

// An interval on a thread: an operator, a Python function, an annotation.
struct ProfileScope {
  ScopeKind kind = ScopeKind::kPython;
  uint64_t thread = 0;
  double begin = 0, end = 0;
  StringId name, dims, types, collective;
};

enum class CallKind : uint8_t { kBegin, kEnd, kLaunch, kReplay };

struct ProfileCall {
  CallKind kind = CallKind::kLaunch;
  uint64_t thread = 0;
  double begin = 0, end = 0;
  uint64_t correlation = 0;
  ProfiledWork work = {};
};

constexpr auto kByThread = [](const auto& of) { return std::tuple(of.thread, of.begin, -of.end); };

// The number behind `prefix` in the text; 0: it isn't there.
uint64_t NumberAfter(std::string_view text, std::string_view prefix) {
  const size_t found = text.find(prefix);
  if (found == std::string_view::npos) return 0;
  const std::string_view rest = text.substr(found + prefix.size());
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  return ParseNumber<uint64_t>(digits).value_or(0);
}

// The batch size in an annotation of SGLang, vLLM or TraceLens.
uint64_t SizeIn(std::string_view annotation) {
  for (const std::string_view prefix : {"capture_", "bs=", "execute_"}) {
    if (const uint64_t size = NumberAfter(annotation, prefix)) return size;
  }
  return 0;
}

// "[[32,4096],[]]" and "["c10::BFloat16",""]": "[32,4096] BFloat16".
std::string ShapesText(std::string_view dims, std::string_view types) {
  const nlohmann::json sizes = nlohmann::json::parse(dims, nullptr, false);
  const nlohmann::json names = nlohmann::json::parse(types, nullptr, false);
  std::string text;
  for (size_t i = 0; sizes.is_array() && i < sizes.size(); ++i) {
    if (sizes[i].empty()) continue;
    text += (text.empty() ? "" : ", ") + sizes[i].dump();
    std::string type = names.is_array() && i < names.size() && names[i].is_string() ? names[i] : "";
    if (type.starts_with("c10::")) type.erase(0, 5);
    if (!type.empty()) text += " " + type;
  }
  return text;
}

bool IsModule(std::string_view function) { return function.starts_with("nn.Module: "); }

// "path.py(12): name": of the program, not of PyTorch, Triton and the standard library's wrappers.
bool IsOwnFunction(std::string_view function) {
  for (const std::string_view prefix :
       {"<", "torch/", "triton/", "nn.Module: ", "contextlib.py", "functools.py", "threading.py"}) {
    if (function.starts_with(prefix)) return false;
  }
  return function.find(".py(") != std::string_view::npos;
}

// "path.py(12): name" as "path.py:12 name".
std::string LineText(std::string_view function) {
  const size_t open = function.find("("), close = function.find("): ", open);
  if (close == std::string_view::npos) return std::string(function);
  return std::string(function.substr(0, open)) + ":" +
         std::string(function.substr(open + 1, close - open - 1)) + " " +
         std::string(function.substr(close + 3));
}

// "gpu_memcpy": memcpy; kUnknown: it isn't work of a GPU.
NodeKind KindOfCategory(std::string_view category) {
  if (category == "kernel" || category == "Kernel") return NodeKind::kKernel;
  if (category == "gpu_memcpy" || category == "Memcpy") return NodeKind::kMemcpy;
  if (category == "gpu_memset" || category == "Memset") return NodeKind::kMemset;
  return NodeKind::kUnknown;
}

// A call of CUDA or HIP without their prefixes: "StreamBeginCapture"; empty: it is none.
std::string_view CallName(std::string_view name) {
  for (const std::string_view api : {"cuda", "hip", "cu"}) {
    if (name.starts_with(api)) return name.substr(api.size());
  }
  return {};
}

// True for a call that launches a kernel: "LaunchKernelExC", "ExtModuleLaunchKernel".
bool LaunchesKernel(std::string_view call) {
  const size_t launch = call.find("Launch");
  return launch != std::string_view::npos && call.find("Kernel", launch) != call.npos;
}

NodeKind KindOfCall(std::string_view call) {
  if (LaunchesKernel(call)) return NodeKind::kKernel;
  if (call.starts_with("Memcpy")) return NodeKind::kMemcpy;
  return call.starts_with("Memset") ? NodeKind::kMemset : NodeKind::kUnknown;
}

class GraphWorkReader {
 public:
  GraphWorkReader(Profile* profile, bool places) : profile_(*profile), places_wanted_(places) {}

  TakeKinetoEvent taker() {
    return [this](const KinetoEvent& event) { Take(event); };
  }

  // Calls in the order of their threads, each with the scopes around it.
  void ForEachCall(auto take) {
    std::ranges::sort(scopes_, {}, kByThread);
    std::ranges::sort(calls_, {}, kByThread);
    std::vector<ProfileScope> open;
    size_t next = 0;
    for (const ProfileCall& call : calls_) {
      const auto starts = [&](const ProfileScope& scope) {
        return std::tuple(scope.thread, scope.begin) <= std::tuple(call.thread, call.begin);
      };
      for (; next < scopes_.size() && starts(scopes_[next]); ++next) {
        Close(open, scopes_[next].thread, scopes_[next].begin);
        open.push_back(scopes_[next]);
      }
      Close(open, call.thread, call.begin);
      take(call, open);
    }
  }

  void AddCaptures(const std::string& name) {
    bool capturing = false;
    double busy_until = 0;  // calls inside a call are its own
    ForEachCall([&](const ProfileCall& call, const std::vector<ProfileScope>& open) {
      if (call.kind == CallKind::kBegin) {
        AddGraph(name, open);
        capturing = true;
      } else if (call.kind == CallKind::kEnd) {
        capturing = false;
      }
      const bool inside = call.begin < busy_until && call.thread == thread_;
      const bool ran = call.correlation != 0 && executed_.contains(call.correlation);
      if (!capturing || call.kind != CallKind::kLaunch || inside || ran) return;
      thread_ = call.thread;
      busy_until = call.end;
      profile_.captured.push_back({call.work, PlaceOf(open), {}});
      ++profile_.graphs.back().work.count;
    });
  }

  void AddReplays() {
    std::map<uint64_t, ReplayLaunch> launches;  // by correlation
    ForEachCall([&](const ProfileCall& call, const std::vector<ProfileScope>& open) {
      if (call.kind != CallKind::kReplay || call.correlation == 0) return;
      ReplayLaunch& launch = launches[call.correlation];
      launch.begin_us = call.begin;
      for (const ProfileScope& scope : open) {
        if (const uint64_t size = SizeIn(profile_[scope.name])) launch.size = size;
      }
    });
    for (const ReplayedWork& work : profile_.replayed) {
      if (work.tool_id == 0 || launches.contains(work.correlation)) continue;
      launches[work.correlation].begin_us = work.begin_us;  // a profile without the calls
    }
    const auto no_graph = [&](const ReplayedWork& work) {
      return !launches.contains(work.correlation);
    };
    profile_.eager += std::erase_if(profile_.replayed, no_graph);
    Arrange(launches);
  }

  ProfileCounts Counts() const {
    const auto kernel = [](const CapturedWork& of) { return of.work.kind == NodeKind::kKernel; };
    return {.events = events_,
            .work = profile_.replayed.size() + profile_.eager,
            .graph_launches = graph_launches_.count(),
            .captures = profile_.graphs.size(),
            .captured_kernels =
                static_cast<uint64_t>(std::ranges::count_if(profile_.captured, kernel))};
  }

 private:
  void Take(const KinetoEvent& event) {
    ++events_;
    const NodeKind kind = KindOfCategory(event.category);
    if (kind != NodeKind::kUnknown) return TakeWork(event, kind);
    const double end = event.begin_us + event.duration_us;
    if (const auto scope = ScopeKindOf(event.category)) {
      scopes_.push_back({*scope, event.thread, event.begin_us, end, Intern(event.name),
                         Intern(event.dims), Intern(event.types), Intern(event.collective)});
      return;
    }
    const std::string_view name = CallName(event.name);
    if (name.empty()) return;
    ProfileCall call{.thread = event.thread,
                     .begin = event.begin_us,
                     .end = end,
                     .correlation = event.correlation};
    if (graph_launches_.Take(event.name)) {
      call.kind = CallKind::kReplay;
    } else if (name.starts_with("StreamBeginCapture")) {
      call.kind = CallKind::kBegin;
    } else if (name.starts_with("StreamEndCapture")) {
      call.kind = CallKind::kEnd;
    } else if (call.work.kind = KindOfCall(name); call.work.kind == NodeKind::kUnknown) {
      return;
    }
    call.work.kernel = Intern(event.kernel);
    call.work.shape = event.shape;
    calls_.push_back(std::move(call));
  }

  // Of a capture's profile, everything around its calls; of a replay's the annotations.
  std::optional<ScopeKind> ScopeKindOf(std::string_view category) const {
    if (category == "user_annotation") return ScopeKind::kAnnotation;
    if (!places_wanted_) return std::nullopt;
    if (category == "python_function") return ScopeKind::kPython;
    if (category == "cpu_op" || category == "Operator") return ScopeKind::kOperator;
    return std::nullopt;
  }

  void TakeWork(const KinetoEvent& event, NodeKind kind) {
    if (places_wanted_) return static_cast<void>(executed_.insert(event.correlation));
    ReplayedWork work{.kind = kind,
                      .kernel = Intern(event.name),
                      .shape = event.shape,
                      .device = event.device,
                      .stream = event.stream,
                      .tool_id = event.tool_id(),
                      .begin_us = event.begin_us,
                      .correlation = event.correlation,
                      .at = event.args_at};
    // ROCm's copies and fills inside a device are kernels of its runtime.
    if (event.name.starts_with("__amd_rocclr_copy")) work.kind = NodeKind::kMemcpy;
    if (event.name.starts_with("__amd_rocclr_fill")) work.kind = NodeKind::kMemset;
    if (event.duration_us > 0 && event.duration_us < 1e15)
      work.duration_ns = static_cast<uint64_t>(std::llround(event.duration_us * 1000));
    profile_.replayed.push_back(work);
  }

  StringId Intern(std::string_view text) {
    return text.empty() ? StringId() : profile_.strings.Intern(text);
  }

  static void Close(std::vector<ProfileScope>& open, uint64_t thread, double now) {
    while (!open.empty() && (open.back().thread != thread || open.back().end <= now))
      open.pop_back();
  }

  void AddGraph(const std::string& name, const std::vector<ProfileScope>& open) {
    ProfiledCapture graph{.source = Intern(name)};
    for (const ProfileScope& scope : open) {
      if (scope.kind != ScopeKind::kAnnotation || SizeIn(profile_[scope.name]) == 0) continue;
      graph.size = SizeIn(profile_[scope.name]);
      graph.source = scope.name;
    }
    graph.work.first = static_cast<uint32_t>(profile_.captured.size());
    profile_.graphs.push_back(graph);
  }

  uint32_t PlaceOf(const std::vector<ProfileScope>& open) {
    ProfilePlace place;
    std::string module, line, stack;
    const auto add = [&stack](std::string_view frame) {
      stack.append(stack.empty() ? "" : "\n").append(frame);
    };
    for (const ProfileScope& scope : open) {
      const std::string_view name = profile_[scope.name];
      if (scope.kind == ScopeKind::kOperator) {
        place.op = scope.name;
        place.shapes = Shapes(scope);
        add(name);
        if (scope.collective.valid()) place.collective = scope.collective;
      } else if (scope.kind == ScopeKind::kPython && IsModule(name)) {
        module += (module.empty() ? "" : ".") + std::string(name.substr(name.find(' ') + 1));
        add(name.substr(name.find(' ') + 1));
      } else if (scope.kind == ScopeKind::kPython && (line.empty() || IsOwnFunction(name))) {
        line = LineText(name);
        if (IsOwnFunction(name)) add(line);
      }
    }
    place.stack = Intern(stack);
    place.module = Intern(module);
    place.line = Intern(line);
    const auto count = static_cast<uint32_t>(profile_.places.size());
    const auto [at, is_new] = places_.try_emplace(place, count);
    if (is_new) profile_.places.push_back(place);
    return at->second;
  }

  StringId Shapes(const ProfileScope& scope) {
    const auto [at, is_new] = shapes_.try_emplace({scope.dims, scope.types});
    if (is_new) at->second = Intern(ShapesText(profile_[scope.dims], profile_[scope.types]));
    return at->second;
  }

  // Launches by their begin, and the work in the order in which it ran.
  void Arrange(const std::map<uint64_t, ReplayLaunch>& launches) {
    std::vector<std::pair<double, uint64_t>> order;
    for (const auto& [correlation, launch] : launches) {
      order.emplace_back(launch.begin_us, correlation);
    }
    std::ranges::sort(order);
    std::map<uint64_t, uint32_t> numbers;
    for (const auto& [begin, correlation] : order) {
      numbers[correlation] = static_cast<uint32_t>(profile_.launches.size());
      profile_.launches.push_back(launches.at(correlation));
    }
    for (ReplayedWork& work : profile_.replayed) work.correlation = numbers[work.correlation];
    std::ranges::sort(profile_.replayed, {}, [](const ReplayedWork& work) {
      return std::tuple(work.correlation, work.begin_us, work.at);
    });
    for (uint32_t i = 0; i < profile_.replayed.size(); ++i) {
      Slice& slice = profile_.launches[profile_.replayed[i].correlation].work;
      if (slice.count++ == 0) slice.first = i;
    }
  }

  Profile& profile_;
  const bool places_wanted_;  // of a capture's profile: the scopes around calls, and not the work
  std::vector<ProfileScope> scopes_;
  std::vector<ProfileCall> calls_;
  std::unordered_set<uint64_t> executed_;  // calls of the capture's profile whose work ran: eager
  std::map<ProfilePlace, uint32_t> places_;
  std::map<std::pair<StringId, StringId>, StringId> shapes_;  // by dims and types
  uint64_t thread_ = 0;
  GraphLaunchCalls graph_launches_;
  size_t events_ = 0;
};

}  // namespace

Result<void> ReadKinetoCaptures(ByteSource& source, const std::string& name, Profile* profile) {
  GraphWorkReader reader(profile, true);
  const Result<void> read = ForEachKinetoEvent(source, reader.taker());
  if (read) reader.AddCaptures(name);
  return read;
}

Result<void> ReadKinetoReplays(ByteSource& source, Profile* profile) {
  return ReadReplays([&](const TakeKinetoEvent& take) { return ForEachKinetoEvent(source, take); },
                     profile);
}

Result<void> ReadReplays(const ProfileEvents& events, Profile* profile) {
  GraphWorkReader reader(profile, false);
  const Result<void> read = events(reader.taker());
  if (read) reader.AddReplays();
  return read;
}

Result<ProfileCounts> ReadWork(const ProfileEvents& events, Profile* profile) {
  GraphWorkReader reader(profile, false);
  const Result<void> read = events(reader.taker());
  if (!read) return read.error();
  reader.AddReplays();
  reader.AddCaptures({});
  return reader.Counts();
}

}  // namespace graphkit
