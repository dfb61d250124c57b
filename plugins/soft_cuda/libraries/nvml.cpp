// libnvidia-ml.so.1: which devices there are, and what they have. Names, structures and numbers are
// those of nvml.h, which the toolkit's runtime packages lack. NVML refuses before nvmlInit.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/libraries/refuse.h"

using graphkit::soft::DeviceFacts;

namespace {

enum Status {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7
};

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Process1 {
  unsigned pid;
  unsigned long long used;
};
struct Process {  // of the second and third form
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
struct Fabric {  // nvmlGpuFabricInfo_v2_t
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};
struct ConfidentialSettings {  // nvmlSystemConfComputeSettings_v1_t
  unsigned version, environment, feature, tools, devices;
};
struct ConfidentialState {  // nvmlConfComputeSystemState_t
  unsigned environment, feature, tools;
};
struct Utilization {
  unsigned gpu, memory;  // in percent
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned value_type;
  int status;
  unsigned long long value;
};

std::atomic<int> users{0};

// A nvmlDevice_t is the device's ordinal and one, so that none is null.
struct Device;
Device* HandleOf(int ordinal) {
  return reinterpret_cast<Device*>(static_cast<intptr_t>(ordinal) + 1);
}
int OrdinalOf(const Device* device) {
  return static_cast<int>(reinterpret_cast<intptr_t>(device)) - 1;
}

int Count() { return graphkit_soft_shared()->device_count(); }

Status Facts(const Device* device, const void* out, DeviceFacts* facts) {
  if (users == 0) return kUninitialized;
  if (out == nullptr || !graphkit_soft_shared()->device_facts(OrdinalOf(device), facts)) {
    return kInvalidArgument;
  }
  return kSuccess;
}

Status Copy(const std::string& text, char* out, unsigned length) {
  if (out == nullptr) return kInvalidArgument;
  if (text.size() + 1 > length) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

std::string UuidText(const DeviceFacts& facts) { return facts.uuid; }

Status Constant(const Device* device, unsigned value, unsigned* out) {
  DeviceFacts facts;
  if (const Status status = Facts(device, out, &facts)) return status;
  *out = value;
  return kSuccess;
}

// The device whose fact is `wanted`; bus ids also with the domain as NVML writes it, in 8 digits.
template <typename Fact>
Status Find(const char* wanted, Device** out, Fact fact) {
  if (users == 0) return kUninitialized;
  if (wanted == nullptr || out == nullptr) return kInvalidArgument;
  for (int i = 0; i < Count(); ++i) {
    DeviceFacts facts;
    if (!graphkit_soft_shared()->device_facts(i, &facts)) continue;
    const std::string own = fact(facts);
    if (own != wanted && "0000" + own != wanted) continue;
    *out = HandleOf(i);
    return kSuccess;
  }
  return kNotFound;
}

Status FillPci(const Device* device, PciInfo* pci) {
  DeviceFacts facts;
  if (const Status status = Facts(device, pci, &facts)) return status;
  *pci = {};
  std::snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "%s", facts.bus_id);
  std::snprintf(pci->bus_id, sizeof pci->bus_id, "0000%s", facts.bus_id);
  pci->bus = static_cast<unsigned>(OrdinalOf(device)) + 1;
  return kSuccess;
}

// Who computes on the device: this process, once it has a context or memory there.
template <typename Info>
Status FillProcesses(const Device* device, unsigned* count, Info* infos, const Info& instances) {
  DeviceFacts facts;
  if (const Status status = Facts(device, count, &facts)) return status;
  const unsigned long long used = facts.bytes - facts.free_bytes;
  const bool is_there = used > 0 || graphkit_soft_shared()->primary(OrdinalOf(device)) != nullptr;
  const unsigned room = std::exchange(*count, is_there ? 1 : 0);
  if (!is_there) return kSuccess;
  if (room == 0) return kInsufficientSize;
  if (infos == nullptr) return kInvalidArgument;
  *infos = instances;
  infos->pid = static_cast<unsigned>(getpid());
  infos->used = used;
  return kSuccess;
}
constexpr unsigned kNoInstance = 0xffffffff;  // the device isn't divided

}  // namespace

extern "C" {

STAND_IN int nvmlInit_v2() {
  ++users;
  return kSuccess;
}
STAND_IN int nvmlInit() { return nvmlInit_v2(); }
STAND_IN int nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }
STAND_IN int nvmlShutdown() {
  if (users == 0) return kUninitialized;
  --users;
  return kSuccess;
}

STAND_IN const char* nvmlErrorString(int status) {
  switch (status) {
    case kSuccess:
      return "The operation was successful";
    case kUninitialized:
      return "NVML was not first initialized with nvmlInit()";
    case kInvalidArgument:
      return "A supplied argument is invalid";
    case kNotSupported:
      return "The requested operation is not available on target device";
    case kNotFound:
      return "A query to find an object was unsuccessful";
    case kInsufficientSize:
      return "An input argument is not large enough";
    default:
      return "An unknown error has occurred";
  }
}

STAND_IN int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return users == 0 ? kUninitialized : Copy("580.0", version, length);
}
STAND_IN int nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return users == 0 ? kUninitialized : Copy("13.580.0", version, length);
}
STAND_IN int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (users == 0) return kUninitialized;
  if (version == nullptr) return kInvalidArgument;
  cuDriverGetVersion(version);
  return kSuccess;
}
STAND_IN int nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

STAND_IN int nvmlDeviceGetCount_v2(unsigned* count) {
  if (users == 0) return kUninitialized;
  if (count == nullptr) return kInvalidArgument;
  *count = static_cast<unsigned>(Count());
  return kSuccess;
}
STAND_IN int nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

STAND_IN int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** out) {
  if (users == 0) return kUninitialized;
  if (out == nullptr || index >= static_cast<unsigned>(Count())) return kInvalidArgument;
  *out = HandleOf(static_cast<int>(index));
  return kSuccess;
}
STAND_IN int nvmlDeviceGetHandleByIndex(unsigned index, Device** out) {
  return nvmlDeviceGetHandleByIndex_v2(index, out);
}
STAND_IN int nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device** out) {
  return Find(id, out, [](const DeviceFacts& facts) { return std::string(facts.bus_id); });
}
STAND_IN int nvmlDeviceGetHandleByPciBusId(const char* id, Device** out) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, out);
}
STAND_IN int nvmlDeviceGetHandleByUUID(const char* uuid, Device** out) {
  return Find(uuid, out, UuidText);
}

STAND_IN int nvmlDeviceGetIndex(const Device* device, unsigned* index) {
  DeviceFacts facts;
  if (const Status status = Facts(device, index, &facts)) return status;
  *index = static_cast<unsigned>(OrdinalOf(device));
  return kSuccess;
}
STAND_IN int nvmlDeviceGetMinorNumber(const Device* device, unsigned* minor) {
  return nvmlDeviceGetIndex(device, minor);
}
STAND_IN int nvmlDeviceGetName(const Device* device, char* name, unsigned length) {
  DeviceFacts facts;
  const Status status = Facts(device, name, &facts);
  return status != kSuccess ? status : Copy(facts.name, name, length);
}
STAND_IN int nvmlDeviceGetUUID(const Device* device, char* uuid, unsigned length) {
  DeviceFacts facts;
  const Status status = Facts(device, uuid, &facts);
  return status != kSuccess ? status : Copy(UuidText(facts), uuid, length);
}
STAND_IN int nvmlDeviceGetPciInfo_v3(const Device* device, PciInfo* pci) {
  return FillPci(device, pci);
}
STAND_IN int nvmlDeviceGetPciInfo_v2(const Device* device, PciInfo* pci) {
  return FillPci(device, pci);
}
STAND_IN int nvmlDeviceGetCudaComputeCapability(const Device* device, int* major, int* minor) {
  DeviceFacts facts;
  if (const Status status = Facts(device, major != nullptr ? minor : nullptr, &facts))
    return status;
  *major = static_cast<int>(facts.architecture / 10);
  *minor = static_cast<int>(facts.architecture % 10);
  return kSuccess;
}
STAND_IN int nvmlDeviceGetMemoryInfo(const Device* device, Memory* memory) {
  DeviceFacts facts;
  if (const Status status = Facts(device, memory, &facts)) return status;
  *memory = {facts.bytes, facts.free_bytes, facts.bytes - facts.free_bytes};
  return kSuccess;
}
STAND_IN int nvmlDeviceGetMemoryInfo_v2(const Device* device, Memory2* memory) {
  DeviceFacts facts;
  if (const Status status = Facts(device, memory, &facts)) return status;
  *memory = {memory->version, facts.bytes, 0, facts.free_bytes, facts.bytes - facts.free_bytes};
  return kSuccess;
}

STAND_IN int nvmlDeviceGetComputeRunningProcesses(const Device* device, unsigned* count,
                                                  Process1* infos) {
  return FillProcesses(device, count, infos, Process1{});
}
STAND_IN int nvmlDeviceGetComputeRunningProcesses_v2(const Device* device, unsigned* count,
                                                     Process* infos) {
  return FillProcesses(device, count, infos, Process{0, 0, kNoInstance, kNoInstance});
}
STAND_IN int nvmlDeviceGetComputeRunningProcesses_v3(const Device* device, unsigned* count,
                                                     Process* infos) {
  return nvmlDeviceGetComputeRunningProcesses_v2(device, count, infos);
}

// A device reaches itself and, by the driver's peer access, all others.
STAND_IN int nvmlDeviceGetP2PStatus(const Device* one, const Device* other, int, int* out) {
  DeviceFacts facts;
  if (const Status status = Facts(one, out, &facts)) return status;
  if (const Status status = Facts(other, out, &facts)) return status;
  *out = 0;  // NVML_P2P_STATUS_OK
  return kSuccess;
}

// It belongs to no fabric: the state is NVML_GPU_FABRIC_STATE_NOT_SUPPORTED, 0.
STAND_IN int nvmlDeviceGetGpuFabricInfoV(const Device* device, Fabric* fabric) {
  DeviceFacts facts;
  if (const Status status = Facts(device, fabric, &facts)) return status;
  *fabric = {.version = fabric->version};
  return kSuccess;
}

// It has no links, and is no confidential one; what it is plugged into is modelled.
STAND_IN int nvmlDeviceGetNvLinkCapability(const Device*, unsigned, int, unsigned*) {
  return kNotSupported;
}
STAND_IN int nvmlDeviceGetNvLinkState(const Device*, unsigned, int*) { return kNotSupported; }
STAND_IN int nvmlSystemGetConfComputeSettings(ConfidentialSettings* settings) {
  if (users == 0) return kUninitialized;
  if (settings == nullptr) return kInvalidArgument;
  *settings = {.version = settings->version};
  return kSuccess;
}
STAND_IN int nvmlDeviceGetCurrPcieLinkGeneration(const Device* device, unsigned* generation) {
  DeviceFacts facts;
  if (const Status status = Facts(device, generation, &facts)) return status;
  *generation = 5;
  return kSuccess;
}
STAND_IN int nvmlDeviceGetCurrPcieLinkWidth(const Device* device, unsigned* width) {
  DeviceFacts facts;
  if (const Status status = Facts(device, width, &facts)) return status;
  *width = 16;
  return kSuccess;
}

STAND_IN int nvmlSystemGetConfComputeState(ConfidentialState* state) {
  if (users == 0) return kUninitialized;
  if (state == nullptr) return kInvalidArgument;
  *state = {};
  return kSuccess;
}

// Sensors of an idle device: constants.
STAND_IN int nvmlDeviceGetTemperature(const Device* device, int, unsigned* celsius) {
  return Constant(device, 35, celsius);
}
STAND_IN int nvmlDeviceGetPowerUsage(const Device* device, unsigned* milliwatts) {
  return Constant(device, 120'000, milliwatts);
}
STAND_IN int nvmlDeviceGetEnforcedPowerLimit(const Device* device, unsigned* milliwatts) {
  return Constant(device, 700'000, milliwatts);
}
STAND_IN int nvmlDeviceGetPowerManagementLimit(const Device* device, unsigned* milliwatts) {
  return Constant(device, 700'000, milliwatts);
}
STAND_IN int nvmlDeviceGetClockInfo(const Device* device, int, unsigned* mhz) {
  return Constant(device, 1980, mhz);
}
STAND_IN int nvmlDeviceGetMaxClockInfo(const Device* device, int, unsigned* mhz) {
  return Constant(device, 1980, mhz);
}
STAND_IN int nvmlDeviceGetUtilizationRates(const Device* device, Utilization* utilization) {
  DeviceFacts facts;
  if (const Status status = Facts(device, utilization, &facts)) return status;
  *utilization = {};
  return kSuccess;
}

// No field is known of a device without links.
STAND_IN int nvmlDeviceGetFieldValues(const Device* device, int count, FieldValue* values) {
  DeviceFacts facts;
  if (const Status status = Facts(device, values, &facts)) return status;
  for (int i = 0; i < count; ++i) values[i].status = kNotSupported;
  return kSuccess;
}
}
