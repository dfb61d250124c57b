#include "libgraphkit/analysis/names/call_site.h"

#include <algorithm>
#include <array>
#include <cctype>

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

size_t EndOfStandardLibrary(std::string_view file) {
  constexpr std::string_view kFolder = "/lib/python3.";
  const size_t at = file.find(kFolder);
  if (at == std::string_view::npos) return 0;
  const size_t end = file.find_first_not_of("0123456789t", at + kFolder.size());
  return end != std::string_view::npos && file[end] == '/' ? end + 1 : 0;
}

bool IsCudaFrame(std::string_view function, std::string_view file) {
  constexpr std::array<std::string_view, 3> kParts = {"libcuda", "/include/cuda_runtime",
                                                      "/include/crt/"};
  return function.starts_with("cuda") ||
         function.starts_with("__device_stub_") ||  // nvcc's, between a launch and the runtime
         std::ranges::any_of(kParts, [&](auto part) { return file.find(part) != file.npos; });
}

bool IsLibraryFrame(std::string_view function, std::string_view file) {
  if (IsCudaFrame(function, file) || file.empty() || file.starts_with('<')) return true;
  return EndOfPackages(file) != 0 || EndOfStandardLibrary(file) != 0 || IsInterpreter(file) ||
         IsSystem(file) || IsGenerated(file) || file.ends_with("/graphkit_torch_hook.py") ||
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

CallSite CallSiteOf(const Trace& trace, StackId stack) {
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

std::string PlaceOfFrame(const Trace& trace, uint32_t frame) {
  const StackFrame& at = trace.stack_frames[frame];
  std::string text(ShownFile(trace[at.file]));
  if (at.line != 0) text += ":" + std::to_string(at.line);
  return text;
}

bool SameSite(const Trace& trace, StackId a, StackId b) {
  if (a == b) return true;
  const CallSite one = CallSiteOf(trace, a), other = CallSiteOf(trace, b);
  return one.own && other.own && trace.stack_frames[*one.own] == trace.stack_frames[*other.own];
}

}  // namespace graphkit
