// Reads what `doctor` judges: files, the environment, and the CUDA libraries.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/graphkit/doctor/inventory.h"
#include "tools/graphkit/plugins.h"

namespace graphkit {

namespace {

namespace fs = std::filesystem;

constexpr const char* kDriverFile = "libcuda.so.1";
constexpr const char* kStandInFolder = "soft_cuda/libraries";

void LookAtDeviceFiles(MachineFacts& facts) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    const std::string path = entry.path().string();
    const bool device = path.starts_with("/dev/nvidia") && !entry.is_directory(error);
    if (!device) continue;
    facts.has_device_files = true;
    const bool counted = path.find("-caps") == std::string::npos;
    if (counted && access(path.c_str(), R_OK | W_OK) != 0) facts.unreadable_devices.push_back(path);
  }
  std::ranges::sort(facts.unreadable_devices);
}

// "RmProfilingAdminOnly: 1" in the driver's parameters.
bool ProfilingIsRestricted() {
  std::ifstream params("/proc/driver/nvidia/params");
  for (std::string line; std::getline(params, line);) {
    if (line.starts_with("RmProfilingAdminOnly:")) return line.ends_with("1") && geteuid() != 0;
  }
  return false;
}

// The software device stands under the names of NVIDIA's libraries, in a folder of its own.
bool HasSoftDevice(const std::string& plugin_folder) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(plugin_folder, error)) {
    if (entry.path().filename() == kDriverFile) return true;
  }
  return false;
}

// By name; none where there is no such folder.
std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

MachineFacts LookAround() {
  MachineFacts facts;
  facts.cuda = ProbeCuda();
  facts.plugin_folder = PluginFolder();
  facts.has_tracer = fs::exists(fs::path(facts.plugin_folder) / kTracerPlugin);
  facts.has_soft_device = HasSoftDevice(facts.plugin_folder);
  facts.missing_parts = MissingSoftParts(facts.plugin_folder);
  facts.how_to_get_parts = HowToGetParts(facts.plugin_folder);
  facts.stand_ins = NamesIn(fs::path(facts.plugin_folder) / kStandInFolder);
  LookAtDeviceFiles(facts);
  facts.profiling_admin_only = ProfilingIsRestricted();
  for (const std::string& name : VariablesThatMatter()) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && *value != '\0') facts.environment.emplace_back(name, value);
  }
  return facts;
}

std::string VersionText() {
  constexpr int kTraceFormat = 1;  // docs/format.md
  std::string text = std::string("graphkit ") + GRAPHKIT_VERSION + "\ntrace format " +
                     std::to_string(kTraceFormat);
  const ProbedLibrary cupti = FindCupti();
  if (cupti.path.empty()) return text;
  return text + "\nCUPTI " + CuptiVersionText(cupti.version) + " (" + cupti.path + ")";
}

}  // namespace graphkit
