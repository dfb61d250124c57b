#include "tools/graphkit/doctor/inventory.h"

#include <array>

#include "libgraphkit/units.h"
#include "tools/graphkit/plugins.h"

namespace graphkit {

namespace {

constexpr int kNoDevice = 100;        // CUDA_ERROR_NO_DEVICE (cuda.h)
constexpr int kHeld = 39;             // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
constexpr int kOldestDriver = 12000;  // graphkit needs the callbacks of CUDA 12

void JudgeDriver(const CudaProbe& cuda, std::vector<Item>& items) {
  const ProbedLibrary& driver = cuda.driver;
  if (!driver.problem.empty()) {
    items.push_back({"driver", Health::kProblem, "libcuda.so.1: " + driver.problem,
                     "reinstall the NVIDIA driver; until then trace with --device soft"});
    return;
  }
  if (driver.path.empty()) {
    items.push_back(
        {"driver", Health::kAbsent, "no libcuda.so.1",
         "install the NVIDIA driver to trace on a GPU; the software device needs none"});
    return;
  }
  const std::string found = driver.path + ", CUDA " + CudaVersionText(driver.version);
  const bool old = driver.version != 0 && driver.version < kOldestDriver;
  items.push_back({"driver", old ? Health::kProblem : Health::kOk, found,
                   old ? "install a driver for CUDA 12 or later" : ""});
}

std::string InitAdvice(const CudaProbe& cuda, const MachineFacts& facts) {
  if (!facts.unreadable_devices.empty()) {
    return "the device files can't be opened: join their group, or run as a user who may";
  }
  if (!facts.has_device_files) {
    return "there is no /dev/nvidia*: load the kernel module, or give the container the GPU "
           "(docker run --gpus all)";
  }
  if (cuda.init_error == kNoDevice) return "check CUDA_VISIBLE_DEVICES, and nvidia-smi";
  return "run nvidia-smi: it names what is wrong with the driver";
}

void JudgeDevices(const MachineFacts& facts, std::vector<Item>& items) {
  const CudaProbe& cuda = facts.cuda;
  if (cuda.driver.path.empty()) return;
  if (cuda.init_error != 0) {
    const std::string name = cuda.init_error_name.empty() ? "" : " (" + cuda.init_error_name + ")";
    items.push_back({"GPU", Health::kProblem,
                     "cuInit returns " + std::to_string(cuda.init_error) + name,
                     InitAdvice(cuda, facts)});
    return;
  }
  for (const ProbedDevice& device : cuda.devices) {
    items.push_back({"GPU", Health::kOk,
                     device.name + ", compute capability " + std::to_string(device.major) + "." +
                         std::to_string(device.minor) + ", " + FormatBytes(device.bytes)});
  }
  if (cuda.devices.empty()) {
    items.push_back({"GPU", Health::kAbsent, "the driver sees no device",
                     "check CUDA_VISIBLE_DEVICES, and nvidia-smi"});
  }
}

// One line for each library of a kind that is there; one in all when none is.
void JudgeLibraries(const std::string& section, const std::vector<ProbedLibrary>& libraries,
                    std::string (*version_text)(int), const std::string& advice,
                    std::vector<Item>& items) {
  bool any = false;
  for (const ProbedLibrary& library : libraries) {
    if (!library.problem.empty()) {
      items.push_back({section, Health::kProblem, library.name + ": " + library.problem, advice});
    }
    if (library.path.empty()) continue;
    any = true;
    const std::string version =
        library.version == 0 ? "version unknown" : version_text(library.version);
    items.push_back({section, Health::kOk, library.path + ", " + version});
  }
  if (!any) items.push_back({section, Health::kAbsent, "none found", advice});
}

void JudgeSubscription(const CudaProbe& cuda, std::vector<Item>& items) {
  const std::string section = "CUPTI subscription";
  if (!cuda.subscribe_tried) {
    items.push_back({section, Health::kAbsent, "not checked: needs a driver and CUPTI 13"});
  } else if (cuda.subscribe_error == 0) {
    items.push_back({section, Health::kOk, "free"});
  } else if (cuda.subscribe_error == kHeld) {
    const bool torch = cuda.subscriber.find("torch-cuspy") != std::string::npos;
    items.push_back({section, Health::kProblem,
                     "held by " + (cuda.subscriber.empty() ? "another tool" : cuda.subscriber),
                     torch ? "one tool at a time: capture without annotation_config's "
                             "record_py_stacks and backend \"cupti\" (torch.cuda.graph), and "
                             "profile without Cuspy"
                           : "one tool at a time: run without Nsight, compute-sanitizer or "
                             "cuda-gdb, and unset CUDA_INJECTION64_PATH"});
  } else {
    items.push_back({section, Health::kProblem,
                     "cuptiSubscribe_v2 returns " + std::to_string(cuda.subscribe_error),
                     "use a CUPTI that isn't newer than the driver"});
  }
}

void JudgePlugins(const MachineFacts& facts, std::vector<Item>& items) {
  const auto judge = [&](bool there, const std::string& what) {
    items.push_back({"plugins", there ? Health::kOk : Health::kAbsent,
                     what + (there ? " in " : " isn't in ") + facts.plugin_folder,
                     there ? "" : facts.how_to_get_parts});
  };
  judge(facts.has_tracer, "the tracer");
  judge(facts.has_soft_device, "the software device");
  if (facts.has_soft_device && !facts.missing_parts.empty()) {
    items.push_back({"plugins", Health::kAbsent,
                     "of the software device, " + NameSome(facts.missing_parts) +
                         (facts.missing_parts.size() == 1 ? " isn't" : " aren't") + " in " +
                         facts.plugin_folder,
                     facts.how_to_get_parts});
  }
  if (facts.stand_ins.empty()) return;
  std::string names;
  for (const std::string& name : facts.stand_ins) names += (names.empty() ? "" : ", ") + name;
  items.push_back({"plugins", Health::kOk, "for the software device, stand-ins for " + names});
}

void JudgePermissions(const MachineFacts& facts, std::vector<Item>& items) {
  for (const std::string& device : facts.unreadable_devices) {
    items.push_back({"permissions", Health::kProblem, device + " can't be opened",
                     "join its group, or run as a user who may"});
  }
  if (!facts.profiling_admin_only) return;
  items.push_back({"permissions", Health::kOk,
                   "performance counters are for administrators only (RmProfilingAdminOnly: 1)",
                   "graphkit uses callbacks and needs no counters; profilers need "
                   "NVreg_RestrictProfilingToAdminUsers=0"});
}

struct Variable {
  const char* name;
  const char* meaning;
};

constexpr std::array<Variable, 11> kVariables = {{
    {"CUDA_INJECTION64_PATH", "loaded into every CUDA program; may hold CUPTI"},
    {"NVTX_INJECTION64_PATH", "gets the program's NVTX calls; graphkit trace leaves it"},
    {"CUDA_VISIBLE_DEVICES", "the program sees only these devices"},
    {"LD_PRELOAD", "loaded before everything else, the tracer included"},
    {"LD_LIBRARY_PATH", "searched first: may hide the libcudart or libcupti that you expect"},
    {"CUDA_HOME", "searched for CUPTI"},
    {"CUDA_PATH", "searched for CUPTI"},
    {"CUDA_LAUNCH_BLOCKING", "launches wait outside captures; captures are not changed"},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING",
     "PyTorch allocates each tensor from the driver, and can't capture"},
    {"PYTORCH_CUDA_ALLOC_CONF", "settings of PyTorch's allocator"},
    {"PYTORCH_ALLOC_CONF", "settings of PyTorch's allocator"},
}};

void JudgeEnvironment(const MachineFacts& facts, std::vector<Item>& items) {
  for (const auto& [name, value] : facts.environment) {
    for (const Variable& variable : kVariables) {
      if (name != variable.name) continue;
      items.push_back(
          {"environment", Health::kOk, name + "=" + value + " (" + variable.meaning + ")"});
    }
  }
}

}  // namespace

std::vector<std::string> VariablesThatMatter() {
  std::vector<std::string> names;
  for (const Variable& variable : kVariables) names.emplace_back(variable.name);
  return names;
}

Inventory Judge(const MachineFacts& facts) {
  Inventory inventory;
  std::vector<Item>& items = inventory.items;
  JudgeDriver(facts.cuda, items);
  JudgeDevices(facts, items);
  JudgeLibraries("CUDA runtime", facts.cuda.runtimes, CudaVersionText,
                 "programs that link it statically need none; others find it in the CUDA toolkit",
                 items);
  JudgeLibraries("CUPTI", facts.cuda.cuptis, CuptiVersionText,
                 "install the CUDA toolkit or pip's nvidia-cuda-cupti: tracing on a GPU needs it",
                 items);
  JudgeSubscription(facts.cuda, items);
  JudgePlugins(facts, items);
  JudgePermissions(facts, items);
  JudgeEnvironment(facts, items);
  const bool gpu = facts.cuda.init_error == 0 && !facts.cuda.devices.empty();
  inventory.device = !facts.has_tracer       ? "none"
                     : gpu                   ? "cuda"
                     : facts.has_soft_device ? "soft"
                                             : "none";
  return inventory;
}

const char* HealthName(Health health) {
  static constexpr std::array kNames = {"ok", "absent", "problem"};
  return kNames[static_cast<size_t>(health)];
}

}  // namespace graphkit
