#include "plugins/cupti_tracer/stacks/call_stack.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "libgraphkit/printable.h"
#include "plugins/cupti_tracer/stacks/symbol_table.h"

namespace graphkit {
namespace {

struct Walk {
  std::span<FramePlace> out;
  size_t count = 0;
};

_Unwind_Reason_Code Step(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  int before = 0;
  const uint64_t address = _Unwind_GetIPInfo(context, &before);
  if (address == 0 || walk.count == walk.out.size()) return _URC_END_OF_STACK;
  // A return address may already be in the next function: the call is before it.
  walk.out[walk.count++] = {before != 0 ? address : address - 1, _Unwind_GetCFA(context)};
  return _URC_NO_REASON;
}

bool IsBetween(std::string_view file) {
  std::string_view name = file.substr(file.rfind('/') + 1);
  for (std::string_view begin : {"libcuda.so", "libcudart", "libcupti", "libgraphkit_tracer"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

// CPython's function that runs Python functions.
constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault";

// "python3.11", "libpython3.11.so.1.0".
bool IsPython(std::string_view file) {
  std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("python") || name.starts_with("libpython");
}

// Appends the frames that one call of the interpreter loop runs, and removes them from `left`.
void AppendPython(std::span<const PythonFrame>& left, std::vector<NamedFrame>& frames) {
  while (!left.empty()) {
    PythonPlace place = Python::PlaceOf(left.front());
    frames.push_back({std::move(place.function), std::move(place.file), place.line, 0});
    bool outermost = left.front().outermost;
    left = left.subspan(1);
    if (outermost) return;
  }
}

std::string PathOf(const dl_phdr_info& info) {
  if (info.dlpi_name != nullptr && *info.dlpi_name != '\0') return info.dlpi_name;
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

}  // namespace

struct StackNames::Module {
  std::string file;
  uint64_t base = 0;   // added to the file's addresses
  uint64_t begin = 0;  // of its code: [begin, end)
  uint64_t end = 0;
  bool between = false;  // CUDA's, or ours
  std::unique_ptr<SymbolTable> symbols;
};

StackNames::StackNames() = default;
StackNames::~StackNames() = default;

size_t TakeFrames(std::span<FramePlace> out) {
  Walk walk{out};
  _Unwind_Backtrace(Step, &walk);
  return walk.count;
}

void TakenStack::TakeNative() {
  count = TakeFrames(places);
  uint64_t* next = words;
  for (const FramePlace& frame : frames()) *next++ = frame.address;
  for (const PythonFrame& frame : python()) {
    *next++ = reinterpret_cast<uint64_t>(frame.code);
    *next++ = uint64_t{frame.unit} << 1 | uint64_t{frame.outermost};
  }
}

void StackNames::ReadModules() {
  std::vector<std::unique_ptr<Module>> found;
  auto add = [](dl_phdr_info* info, size_t, void* data) {
    auto module = std::make_unique<Module>();
    module->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info->dlpi_phdr[i];
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      uint64_t begin = info->dlpi_addr + header.p_vaddr, end = begin + header.p_memsz;
      module->begin = module->end == 0 ? begin : std::min(module->begin, begin);
      module->end = std::max(module->end, end);
    }
    module->file = PathOf(*info);
    static_cast<std::vector<std::unique_ptr<Module>>*>(data)->push_back(std::move(module));
    return 0;
  };
  dl_iterate_phdr(add, &found);
  for (std::unique_ptr<Module>& module : found) {
    module->between = IsBetween(module->file);
    for (std::unique_ptr<Module>& known : modules_) {
      bool same = known && known->file == module->file && known->begin == module->begin;
      if (same) module->symbols = std::move(known->symbols);
    }
  }
  modules_ = std::move(found);
}

StackNames::Module* StackNames::ModuleAt(uint64_t address) {
  for (bool again : {false, true}) {
    if (again) ReadModules();
    for (const std::unique_ptr<Module>& module : modules_) {
      if (module->begin <= address && address < module->end) return module.get();
    }
  }
  return nullptr;
}

NamedFrame StackNames::NameOf(uint64_t address, Module* module) {
  NamedFrame frame;
  uint64_t in_file = address;
  if (module != nullptr) {
    if (!module->symbols) module->symbols = std::make_unique<SymbolTable>(module->file);
    frame.file = module->file;
    in_file -= module->base;
    if (module->symbols->has_lines()) frame.place = in_file;
    std::string_view name = module->symbols->At(in_file);
    if (!name.empty()) frame.function = DemangledName(name).value_or(std::string(name));
  }
  if (frame.function.empty()) {
    char place[24];
    std::snprintf(place, sizeof place, "0x%llx", static_cast<unsigned long long>(in_file));
    frame.function = place;
  }
  return frame;
}

std::vector<NamedFrame> StackNames::Name(std::span<const FramePlace> taken, size_t depth,
                                         std::span<const PythonFrame> python) {
  std::vector<NamedFrame> frames;
  const bool interpreted = !python.empty();
  for (const FramePlace& at : taken) {
    Module* module = ModuleAt(at.address);
    if (frames.empty() && module != nullptr && module->between) continue;
    if (frames.size() >= depth) break;
    NamedFrame frame = NameOf(at.address, module);
    const bool last = frame.function == "main";
    if (interpreted && frame.function.starts_with(kLoop)) {  // or its cold part
      AppendPython(python, frames);
    } else if (!interpreted || !IsPython(frame.file)) {
      frames.push_back(std::move(frame));
    }
    if (last) break;
  }
  if (frames.size() > depth) frames.resize(depth);
  return frames;
}

std::span<const FramePlace> StackNames::OwnFrames(std::span<const FramePlace> frames) {
  const auto between = [&](const FramePlace& frame) {
    const Module* module = ModuleAt(frame.address);
    return module != nullptr && module->between;
  };
  while (!frames.empty() && between(frames.front())) frames = frames.subspan(1);
  for (size_t i = 0; i < frames.size(); ++i) {
    if (NameOf(frames[i].address, ModuleAt(frames[i].address)).function == "main")
      return frames.first(i + 1);
  }
  return frames;
}

uint64_t StackNames::TopOf(std::span<const FramePlace> frames) {
  for (const FramePlace& frame : frames) {
    const Module* module = ModuleAt(frame.address);
    if (module == nullptr || !module->between) return frame.stack_top;
  }
  return 0;
}

void WorkspaceCalls::Look() {
  struct Name {
    const char* symbol;
    const char* function;
  };
  // Of PyTorch's versions, from ATen/cuda/CUDAContextLight.h.
  constexpr Name kNames[] = {
      {"_ZN2at4cuda22getCUDABlasLtWorkspaceEv", "at::cuda::getCUDABlasLtWorkspace()"},
      {"_ZN2at4cuda22getCUDABlasLtWorkspaceEm", "at::cuda::getCUDABlasLtWorkspace(unsigned long)"},
      {"_ZN2at4cuda24getCurrentCUDABlasHandleEv", "at::cuda::getCurrentCUDABlasHandle()"},
      {"_ZN2at4cuda24getCurrentCUDABlasHandleEb", "at::cuda::getCurrentCUDABlasHandle(bool)"},
      {"_ZN2at4cuda37getCurrentCUDABlasHandleWithWorkspaceEv",
       "at::cuda::getCurrentCUDABlasHandleWithWorkspace()"},
  };
  void* library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  for (const Name& name : kNames) {
    void* const begin = dlsym(library, name.symbol);
    Dl_info info;
    ElfW(Sym)* symbol = nullptr;
    if (begin == nullptr ||
        dladdr1(begin, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0 ||
        symbol == nullptr) {
      continue;
    }
    const auto at = reinterpret_cast<uint64_t>(begin);
    const uint64_t end = at + symbol->st_size;
    begin_ = functions_.empty() ? at : std::min(begin_, at);
    end_ = std::max(end_, end);
    functions_.push_back({at, end, {.function = name.function, .file = info.dli_fname}});
  }
  dlclose(library);
}

// An address sanitizer forbids reading the words between the variables of a frame.
__attribute__((no_sanitize("address"))) bool WorkspaceCalls::MayFind(
    std::span<const uint64_t> words) {
  if (functions_.empty()) Look();
  if (functions_.empty()) return false;
  const uint64_t bytes = end_ - begin_;
  const uint64_t* const end = words.data() + words.size();
  for (const uint64_t* word = words.data(); word != end; ++word) {
    if (*word - begin_ <= bytes) return true;  // a return address may be the end
  }
  return false;
}

std::optional<NamedFrame> WorkspaceCalls::Find(std::span<const FramePlace> frames) {
  if (functions_.empty()) Look();
  for (const FramePlace& at : frames) {
    for (const Function& function : functions_) {
      if (function.begin <= at.address && at.address < function.end) return function.frame;
    }
  }
  return std::nullopt;
}

}  // namespace graphkit
