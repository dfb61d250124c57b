// graphkit's parts on this machine, and advice for missing ones: a list that `doctor` prints.
#pragma once

#include <string>
#include <vector>

#include "tools/graphkit/doctor/cuda_probe.h"

namespace graphkit {

enum class Health { kOk, kAbsent, kProblem };

struct Item {
  std::string section;  // "driver", "CUPTI", …
  Health health = Health::kOk;
  std::string found;        // one line
  std::string advice = {};  // empty when nothing needs doing
  bool operator==(const Item&) const = default;
};

struct Inventory {
  std::vector<Item> items;
  std::string device;  // that `graphkit trace` can use: "cuda", "soft" or "none"
  bool operator==(const Inventory&) const = default;
};

// Facts from files and the environment, so that the judgement can be tested without them.
struct MachineFacts {
  CudaProbe cuda;
  std::string plugin_folder;
  bool has_tracer = false;
  bool has_soft_device = false;
  std::vector<std::string> missing_parts;  // of the software device: "libcudnn.so.9"
  std::string how_to_get_parts;
  std::vector<std::string>
      stand_ins;  // libraries of the software device: "libcublas.so.13"; by name
  std::vector<std::string> unreadable_devices;  // of /dev/nvidia*
  bool has_device_files = false;
  bool profiling_admin_only = false;  // NVreg_RestrictProfilingToAdminUsers, for non-root users
  std::vector<std::pair<std::string, std::string>> environment;  // set variables that matter
  bool operator==(const MachineFacts&) const = default;
};

MachineFacts LookAround();
Inventory Judge(const MachineFacts& facts);

// Environment variables that change what is traced, or how.
std::vector<std::string> VariablesThatMatter();

// The output of `graphkit --version`: the versions of graphkit, of the trace format that it writes,
// and of the CUPTI that it would use, when there is one.
std::string VersionText();

const char* HealthName(Health health);  // "ok", "absent", "problem"

}  // namespace graphkit
