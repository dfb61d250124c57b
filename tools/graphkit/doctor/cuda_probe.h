// Asks the CUDA libraries of this machine what they are. They are opened with dlopen in a child
// process: graphkit itself never loads or links them, and a crash in them is an answer too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace graphkit {

// A library that was looked for.
struct ProbedLibrary {
  std::string name;          // "libcudart.so.13"
  std::string path;          // where it was found; empty: it wasn't
  int version = 0;           // as it reports: 13000; 0: it didn't
  std::string problem = {};  // it is there and can't be used
  bool operator==(const ProbedLibrary&) const = default;
};

struct ProbedDevice {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  uint64_t bytes = 0;
  bool operator==(const ProbedDevice&) const = default;
};

struct CudaProbe {
  ProbedLibrary driver;
  int init_error = 0;           // of cuInit
  std::string init_error_name;  // "CUDA_ERROR_NO_DEVICE"
  std::vector<ProbedDevice> devices;
  std::vector<ProbedLibrary> runtimes;
  std::vector<ProbedLibrary> cuptis;
  // Of cuptiSubscribe_v2 in a process with this environment, when there is a working driver:
  bool subscribe_tried = false;
  int subscribe_error = 0;
  std::string subscriber;  // who holds CUPTI, when it is held (error 39)
  bool operator==(const CudaProbe&) const = default;
};

CudaProbe ProbeCuda();

// True if this machine's own driver has a device.
bool HasGpu();

// The first libcupti that would be used, without touching the driver; empty path: none.
ProbedLibrary FindCupti();

// "13.0" of 13000, as drivers and runtimes number themselves.
std::string CudaVersionText(int version);

// "13.0.1" of 130001, as CUPTI numbers itself from 12.? on; small numbers are API versions.
std::string CuptiVersionText(int version);

}  // namespace graphkit
