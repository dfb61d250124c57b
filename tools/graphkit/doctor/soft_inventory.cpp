#include "tools/graphkit/doctor/soft_inventory.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include <nlohmann/json.hpp>

#include "tools/graphkit/child.h"
#include "tools/graphkit/plugins.h"

namespace graphkit {

// The answer of a child.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SoftFunction, name, family, test, seen)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SoftLibrary, name, functions)

namespace {

constexpr auto kInventoryLimit = std::chrono::seconds(20);

// The order is that of the inventory's numbers.
constexpr std::array<const char*, 3> kLibraries = {"libcuda.so.1", "libcudart.so.13",
                                                   "libcupti.so.13"};

// graphkit_soft_function of plugins/soft_cuda/abi/inventory.h.
struct Row {
  const char* name;
  const char* family;
  const char* test;
  bool seen;
};

std::string WithoutDash(const std::string& text) { return text == "-" ? "" : text; }

SoftLibrary LibraryOf(const std::string& name, const Row* rows, size_t count) {
  SoftLibrary library{.name = name, .functions = {}};
  for (size_t i = 0; i < count; ++i) {
    library.functions.push_back(
        {rows[i].name, WithoutDash(rows[i].family), WithoutDash(rows[i].test), rows[i].seen});
  }
  return library;
}

// The libraries that stand in for cuBLAS and others, beside the device's.
void AskStandIns(const std::filesystem::path& folder, std::vector<SoftLibrary>& libraries) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto inventory = reinterpret_cast<size_t (*)(const Row**)>(
        library != nullptr ? dlsym(library, "graphkit_stand_in_inventory") : nullptr);
    if (inventory == nullptr) continue;
    const Row* rows = nullptr;
    const size_t count = inventory(&rows);
    libraries.push_back(LibraryOf(file.filename().string(), rows, count));
  }
}

// In a child.
nlohmann::json AskLibrary(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nlohmann::json{{"problem", dlerror()}};
  const auto inventory =
      reinterpret_cast<size_t (*)(int, const Row**)>(dlsym(library, "graphkit_soft_inventory"));
  if (inventory == nullptr) return nlohmann::json{{"problem", "it has no inventory"}};
  std::vector<SoftLibrary> libraries;
  for (int number = 0; number < static_cast<int>(kLibraries.size()); ++number) {
    const Row* rows = nullptr;
    const size_t count = inventory(number, &rows);
    libraries.push_back(LibraryOf(kLibraries[static_cast<size_t>(number)], rows, count));
  }
  AskStandIns(std::filesystem::path(path).parent_path() / "libraries", libraries);
  return nlohmann::json{{"libraries", libraries}};
}

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [text](std::string_view s) { return text.starts_with(s); });
}

}  // namespace

SoftState SoftFunction::state() const {
  if (family.empty()) return SoftState::kMissing;
  return test.empty() ? SoftState::kUnchecked : SoftState::kModelled;
}

const char* StateName(SoftState state) {
  static constexpr std::array kNames = {"modelled", "unchecked", "missing"};
  return kNames[static_cast<size_t>(state)];
}

SoftCount Count(const std::vector<SoftFunction>& functions) {
  SoftCount count;
  for (const SoftFunction& function : functions) {
    const SoftState state = function.state();
    ++count.functions;
    if (state == SoftState::kModelled) ++count.modelled;
    if (state == SoftState::kUnchecked) ++count.unchecked;
    if (state == SoftState::kMissing) ++count.missing;
    if (state != SoftState::kMissing && !function.seen) ++count.unseen;
  }
  return count;
}

bool IsCore(std::string_view function) {
  if (!function.starts_with("cuda") || function.starts_with("cudaGraphics")) return false;
  function.remove_prefix(4);
  if (function.starts_with("Device")) return function.find("Mem") != std::string_view::npos;
  return StartsWithAny(function, {"Stream", "Event", "Graph", "ThreadExchange", "UserObject", "Mem",
                                  "Malloc", "Free", "Host", "Pointer"});
}

std::vector<SoftFunction> Core(const std::vector<SoftFunction>& functions) {
  std::vector<SoftFunction> core;
  std::ranges::copy_if(functions, std::back_inserter(core),
                       [](const SoftFunction& function) { return IsCore(function.name); });
  return core;
}

Result<std::vector<SoftLibrary>> ReadSoftInventory(const std::string& plugin_folder) {
  const std::string path = (std::filesystem::path(plugin_folder) / kSoftDriver).string();
  if (!std::filesystem::exists(path)) {
    return Error{.message = "the software device is missing",
                 .hint = "build with the CUDA 13 headers, which tools/setup.sh installs",
                 .file = path,
                 .kind = Error::Kind::kUnsupported};
  }
  const ChildAnswer answer =
      RunInChild([&path] { return AskLibrary(path).dump(); },
                 {.limit = kInventoryLimit, .doing = "asking the software device"});
  if (!answer.whole()) {
    return Error{.message = "a process that opened it " + answer.Failure(), .file = path};
  }
  const nlohmann::json json = nlohmann::json::parse(answer.text, nullptr, false);
  if (!json.is_object()) return Error{.message = "it gave no inventory", .file = path};
  if (json.contains("problem")) return Error{.message = json["problem"], .file = path};
  return json["libraries"].get<std::vector<SoftLibrary>>();
}

}  // namespace graphkit
