#include "libgraphkit/analysis/names/call_site.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace graphkit {
namespace {

constexpr std::array<std::string_view, 5> kSystem = {"/usr/lib/", "/usr/lib64/", "/lib/", "/lib64/",
                                                     "/usr/include/"};

std::string_view NameOfFile(std::string_view file) {
  return file.substr(file.find_last_of("/\\") + 1);
}

// CPython's own sources, as debug information names them: "…/python-3.11.9/Objects/methodobject.c",
// "./Modules/main.c".
bool IsInterpreterSource(std::string_view file) {
  if (!file.ends_with(".c") && !file.ends_with(".h")) return false;
  const bool own = file.find("ython-3") != file.npos;
  while (file.starts_with("./") || file.starts_with("../")) file.remove_prefix(file.find('/') + 1);
  for (const std::string_view folder : {"Objects/", "Python/", "Modules/", "Include/"}) {
    if (file.starts_with(folder)) return true;
    const size_t at = file.rfind(folder);
    if (own && at != file.npos && file[at - 1] == '/') return true;
  }
  return false;
}

bool IsInterpreter(std::string_view file) {
  if (IsInterpreterSource(file)) return true;
  const std::string_view name = NameOfFile(file);
  return name.starts_with("libpython3") ||
         (name.starts_with("python3") && name.find_first_not_of("0123456789.", 6) == name.npos);
}

// Code that torch.compile makes lies in a folder of its cache that repeats two letters of a long
// hash: "…/36/c36qmjz….py".
bool IsGenerated(std::string_view file) {
  constexpr size_t kShortest = 40;
  const std::string_view name = NameOfFile(file);
  if (name.size() < kShortest || !name.ends_with(".py")) return false;
  const std::string_view folder = NameOfFile(file.substr(0, file.size() - name.size() - 1));
  return folder.size() == 2 && name.substr(1, 2) == folder;
}

bool IsSystem(std::string_view file) {
  return std::ranges::any_of(kSystem,
                             [&](std::string_view folder) { return file.starts_with(folder); });
}

// Code that Cython makes of Python: of libraries, whose debug information may name the folder that
// they were built in.
bool IsCython(std::string_view function) {
  return function.find("__pyx_") != function.npos || function.find("__Pyx_") != function.npos;
}

// Packages that run other people's models: a line of theirs says little.
constexpr std::array<std::string_view, 10> kPlumbing = {
    "torch",  "accelerate", "einops",        "opt_einsum", "functorch",
    "triton", "torchgen",   "torch_compile", "numpy",      "cupy"};

bool IsPlumbing(std::string_view function, std::string_view file) {
  if (file.starts_with('<') && !file.starts_with("<ipython")) return true;
  if (function == "_call_impl" || function == "_wrapped_call_impl") return true;
  if (const size_t at = EndOfPackages(file)) {
    file.remove_prefix(at);
    const std::string_view package = file.substr(0, file.find_first_of("/\\."));
    return std::ranges::find(kPlumbing, package) != kPlumbing.end();
  }
  return IsLibraryFrame(function, file);
}

std::string_view Between(std::string_view text, std::string_view before, std::string_view ends) {
  const size_t at = text.find(before);
  if (at == text.npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find_first_of(ends));
}

// An operator's overload begins with a capital or is one of these: "add_Tensor", "to_dtype".
std::string_view WithoutOverload(std::string_view name) {
  for (size_t at = name.find('_', 1); at != name.npos; at = name.find('_', at + 1)) {
    const std::string_view rest = name.substr(at + 1);
    if (!rest.empty() && std::isupper(static_cast<unsigned char>(rest.front()))) {
      return name.substr(0, at);
    }
    for (const std::string_view word : {"dim", "int", "out", "dtype", "memory_format", "device"}) {
      const bool is = rest == word || (rest.starts_with(word) && rest[word.size()] == '_');
      if (is) return name.substr(0, at);
    }
  }
  return name;
}

// "LogSoftmaxBackward0" → "log_softmax backward".
std::string BackwardName(std::string_view node) {
  node = node.substr(0, node.rfind("Backward"));
  std::string name;
  for (size_t i = 0; i < node.size(); ++i) {
    const auto letter = static_cast<unsigned char>(node[i]);
    const bool begins =
        std::isupper(letter) && i > 0 && !std::isupper(static_cast<unsigned char>(node[i - 1]));
    if (begins) name += '_';
    name += static_cast<char>(std::tolower(letter));
  }
  return name.empty() ? "backward" : name + " backward";
}

// The operator of the native frames, innermost first: the outermost operator is what Python called.
struct NativeFrames {
  std::string_view bound;   // by its Python binding
  std::string_view called;  // by its dispatcher entry
  std::string_view node;    // autograd's
  bool engine = false;      // autograd's runs it

  void Take(std::string_view function) {
    if (const auto name = Between(function, "THPVariable_", "(<>"); !name.empty()) bound = name;
    if (const auto name = Between(function, "at::_ops::", ":"); !name.empty()) called = name;
    if (function.find("torch::autograd::") == function.npos) return;
    if (const auto name = Between(function, "autograd::generated::", ":(");
        name.find("Backward") != name.npos && node.empty()) {
      node = name;
    }
    if (function.find("AccumulateGrad") != function.npos && node.empty()) node = "AccumulateGrad";
    engine |= function.find("autograd::Engine::") != function.npos;
  }

  std::string Operation() const {
    if (engine && node == "AccumulateGrad") return "gradient accumulation";
    if (engine && !node.empty()) return BackwardName(node);
    if (engine) {
      return called.empty() ? "backward" : std::string(WithoutOverload(called)) + " in backward";
    }
    return std::string(bound.empty() ? WithoutOverload(called) : bound);
  }
};

// The use of memory that library code in these functions makes.
struct Purpose {
  std::string_view file;      // a part of its path
  std::string_view function;  // empty: any
  MemoryRole role;
};
constexpr std::array<Purpose, 11> kPurposes = {{
    {"/torch/optim/", "", MemoryRole::kOptimizer},
    {"/torch/nn/modules/", "__init__", MemoryRole::kWeights},
    {"/torch/nn/modules/module.py", "_apply", MemoryRole::kWeights},
    {"/torch/distributed/fsdp/", "_init_sharded_param", MemoryRole::kWeights},
    {"/torch/distributed/fsdp/", "_move_states_to_device", MemoryRole::kWeights},
    {"/torch/distributed/tensor/", "distribute_module", MemoryRole::kWeights},
    {"/torch/distributed/tensor/", "parallelize_module", MemoryRole::kWeights},
    {"/torchao/quantization/", "quantize_", MemoryRole::kWeights},
    {"/torchao/optim/", "", MemoryRole::kOptimizer},
    {"/torch/autograd/", "_engine_run_backward", MemoryRole::kBackward},
    {"module.py", "_call_impl", MemoryRole::kForward},
}};

MemoryRole RoleOfFrame(std::string_view function, std::string file) {
  std::ranges::replace(file, '\\', '/');
  for (const Purpose& purpose : kPurposes) {
    const bool there = purpose.function.empty() || function == purpose.function;
    if (there && file.find(purpose.file) != file.npos) return purpose.role;
  }
  return MemoryRole::kOther;
}

// Python's name of what was called where no native frame says it: "einsum", "linear". Private
// functions and lambdas say nothing.
std::string OperationOfLibrary(std::string_view function, std::string_view file) {
  const bool named = !function.empty() && function.front() != '_' && function.front() != '<';
  if (!named || function == "wrapper" || function == "decorate_context") return {};
  if (function != "forward") return std::string(function);
  std::string_view stem = file.substr(file.find_last_of("/\\") + 1);
  stem = stem.substr(0, stem.find('.'));
  return stem == "module" ? std::string() : std::string(stem);
}

// Of a program without Python: the innermost frame of its own. A snapshot's native frames name no
// file.
std::optional<uint32_t> OwnNativeFrame(const Ran& trace, StackId stack) {
  const std::optional<uint32_t> own = CallSiteOf(trace, stack).own;
  if (!own || HasTorchFrames(trace, stack)) return std::nullopt;
  const std::string_view file = trace[trace.stack_frames[*own].file];
  return file.empty() || file == "??" ? std::nullopt : own;
}

// The same of Python's own library.
size_t EndOfStandardLibrary(std::string_view file) {
  constexpr std::string_view kFolder = "/lib/python3.";
  const size_t at = file.find(kFolder);
  if (at == std::string_view::npos) return 0;
  const size_t end = file.find_first_not_of("0123456789t", at + kFolder.size());
  return end != std::string_view::npos && file[end] == '/' ? end + 1 : 0;
}

}  // namespace

size_t EndOfPackages(std::string_view file) {
  constexpr std::array<std::string_view, 4> kFolders = {"/site-packages/", "/dist-packages/",
                                                        "\\site-packages\\", "\\dist-packages\\"};
  for (const std::string_view folder : kFolders) {
    if (const size_t at = file.rfind(folder); at != std::string_view::npos) {
      return at + folder.size();
    }
  }
  return 0;
}

bool IsCudaFrame(std::string_view function, std::string_view file) {
  // NVTX's functions are all in its headers.
  constexpr std::array<std::string_view, 4> kParts = {"libcuda", "/include/cuda_runtime",
                                                      "/include/crt/", "/include/nvtx3/"};
  return function.starts_with("cuda") ||
         function.starts_with("__device_stub_") ||  // nvcc's, between a launch and the runtime
         std::ranges::any_of(kParts, [&](auto part) { return file.find(part) != file.npos; });
}

bool IsLibraryFrame(std::string_view function, std::string_view file) {
  if (IsCudaFrame(function, file) || file.empty() || file.starts_with('<')) return true;
  return EndOfPackages(file) != 0 || EndOfStandardLibrary(file) != 0 || IsInterpreter(file) ||
         IsSystem(file) || IsGenerated(file) || IsCython(function) ||
         file.ends_with("/graphkit_torch_hook.py") || file.ends_with("/graphkit_soft_torch.py") ||
         (file.ends_with(".so") && file.find("triton/") != file.npos) ||  // its launchers
         file.find("/soft_cuda/libraries/") != file.npos;  // what stands in for NVIDIA's
}

std::string_view ShownFile(std::string_view file) {
  if (IsGenerated(file)) return NameOfFile(file);
  if (const size_t end = EndOfPackages(file)) {
    file.remove_prefix(end);
  } else if (const size_t own = EndOfStandardLibrary(file)) {
    return file.substr(own);
  } else if (!IsSystem(file)) {
    return file;
  }
  const bool shared = file.find(".so") != std::string_view::npos;
  return shared ? NameOfFile(file) : file;
}

CallSite CallSiteOf(const Ran& trace, StackId stack) {
  CallSite site;
  if (!stack) return site;
  const Slice frames = trace.stacks[stack.index()].frames;
  for (uint32_t i = frames.first; i < frames.first + frames.count && !site.own; ++i) {
    const StackFrame& frame = trace.stack_frames[i];
    const std::string_view function = trace[frame.function], file = trace[frame.file];
    const bool last = i + 1 == frames.first + frames.count;
    if (!site.inner && (!IsCudaFrame(function, file) || last)) site.inner = i;
    if (!IsLibraryFrame(function, file)) site.own = i;
  }
  if (site.own == site.inner) site.inner.reset();
  return site;
}

std::string PlaceOfFrame(const Ran& trace, uint32_t frame) {
  const StackFrame& at = trace.stack_frames[frame];
  return ShortPlace(trace[at.file], at.line);
}

std::string OwnPlace(const Ran& trace, StackId stack) {
  const CallSite site = CallSiteOf(trace, stack);
  return site.own ? PlaceOfFrame(trace, *site.own) : "";
}

bool IsPythonFile(std::string_view file) {
  return file.ends_with(".py") || file.starts_with("<ipython") || file.starts_with("In[");
}

StackName NameOfStack(const Ran& trace, StackId stack) {
  StackName name;
  name.operation = LibraryMemory(trace, stack);
  if (!stack || !name.operation.empty()) return name;
  const uint32_t first = trace.stacks[stack.index()].frames.first;
  const std::span<const StackFrame> frames = StackFrames(trace, stack);
  NativeFrames native;
  std::string library;
  bool python = false;
  for (uint32_t i = 0; i < frames.size(); ++i) {
    const std::string_view function = trace[frames[i].function], file = trace[frames[i].file];
    if (!IsPythonFile(file)) {
      if (!name.frame) native.Take(function);
      continue;
    }
    python = true;
    // A forward that is run again in a backward, or by an optimizer, is theirs.
    const bool settled = name.role != MemoryRole::kOther && name.role != MemoryRole::kForward;
    const MemoryRole role = settled ? name.role : RoleOfFrame(function, std::string(file));
    if (role != MemoryRole::kOther) name.role = role;
    if (name.frame) continue;
    const bool wrapper = !native.bound.empty() && function == native.bound;
    if (!IsPlumbing(function, file) && !wrapper) {
      name.frame = first + i;
    } else if (library.empty()) {
      library = OperationOfLibrary(function, file);
    }
  }
  name.operation = native.Operation();
  if (name.operation.empty()) name.operation = std::move(library);
  if (native.engine) name.role = MemoryRole::kBackward;
  if (!python && name.operation.empty() && !native.engine) {
    name.frame = OwnNativeFrame(trace, stack);
  }
  return name;
}

std::string_view LibraryMemory(const Ran& trace, StackId stack) {
  struct Use {
    std::string_view function, file, name;  // a file: of the innermost Python frame
  };
  constexpr std::array<Use, 6> kUses = {{
      {"CUDABlasLtWorkspace", "", "cuBLASLt workspace"},
      {"getCurrentCUDABlasHandle", "", "cuBLAS workspace"},
      {"orkspace", "", "workspace of a library"},
      {"get_empty_cache_for_benchmark", "/triton/", "Triton's benchmark buffer"},
      {"do_bench", "/triton/testing.py", "Triton's benchmark buffer"},
      {"benchmark_gpu", "/torch/_inductor/runtime/benchmarking.py", "Inductor's benchmark buffer"},
  }};
  const Use* found = nullptr;
  for (const StackFrame& frame : StackFrames(trace, stack)) {
    const std::string_view function = trace[frame.function], file = trace[frame.file];
    const bool python = IsPythonFile(file);
    for (const Use& use : kUses) {
      const bool fits = function.find(use.function) != function.npos &&
                        file.find(use.file) != file.npos && python == !use.file.empty();
      if (fits && (found == nullptr || &use < found)) found = &use;
    }
    if (python) break;
  }
  return found != nullptr ? found->name : std::string_view();
}

bool HasTorchFrames(const Ran& trace, StackId stack) {
  const std::span<const StackFrame> frames = StackFrames(trace, stack);
  return !frames.empty() && trace[frames.front().function].starts_with("torch::");
}

std::string_view RoleText(MemoryRole role) {
  if (role == MemoryRole::kWeights) return "weights and buffers";
  if (role == MemoryRole::kOptimizer) return "optimizer state";
  return role == MemoryRole::kBackward ? "gradients and what a backward made" : "";
}

std::string ShortPlace(std::string_view file, uint32_t line) {
  file = ShownFile(file);
  const size_t name = file.find_last_of("/\\");
  const size_t folder =
      name == file.npos || name == 0 ? file.npos : file.find_last_of("/\\", name - 1);
  if (folder != file.npos) file.remove_prefix(folder + 1);
  std::string text(file);
  std::ranges::replace(text, '\\', '/');
  return line == 0 ? text : text + ":" + std::to_string(line);
}

std::string MemoryTitle(const Ran& trace, StackId stack) {
  const StackName name = NameOfStack(trace, stack);
  if (!name.frame) return name.operation;
  const std::string place = PlaceOfFrame(trace, *name.frame);
  return name.operation.empty() ? place : place + " " + name.operation;
}

}  // namespace graphkit
