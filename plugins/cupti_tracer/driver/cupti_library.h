// Finds libcupti and opens it: never a second copy, never at link time. And who holds its one
// subscription when it isn't the tracer, and what to do about it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plugins/cupti_tracer/driver/cupti_abi.h"

namespace graphkit {

// The functions that the tracer calls. Those that may be missing are null.
struct CuptiLibrary {
  std::string path;
  uint32_t version = 0;  // cuptiGetVersion
  int (*subscribe)(void** subscriber, cupti::Callback callback, void* user) = nullptr;
  int (*subscribe_named)(void** subscriber, cupti::Callback callback, void* user,
                         void* params) = nullptr;  // cuptiSubscribe_v2
  int (*unsubscribe)(void* subscriber) = nullptr;
  int (*enable_callback)(uint32_t enable, void* subscriber, uint32_t domain, uint32_t id) = nullptr;
  int (*result_string)(int result, const char** text) = nullptr;
  int (*graph_id)(void* graph, uint32_t* id) = nullptr;
  int (*node_id)(void* node, uint64_t* id) = nullptr;
  int (*exec_id)(void* exec, uint32_t* id) = nullptr;
  int (*device_id)(void* context, uint32_t* id) = nullptr;

  bool found() const { return subscribe != nullptr && enable_callback != nullptr; }
};

// Subscribes so that others can, too, where CUPTI is 13.3 or newer and the driver allows it (r610);
// else, or where others hold CUPTI in the older way, as the only one. Gives CUPTI's result.
int Subscribe(const CuptiLibrary& cupti, void** subscriber, cupti::Callback callback, void* user);

// The places where a libcupti may be, in the order in which they are tried after the copy that is
// in the process already: beside the loaded libcudart or in its Python wheel, beside a software
// libcuda, in the toolkit, on the loader's path. All of the version of a loaded libcudart come
// first, CUDA 13's before CUDA 12's.
std::vector<std::string> CuptiCandidates();

// True if the libcuda in this process is the software device.
bool IsSoftwareDevice();

// The first one that `accept` takes. One that the program has loaded is the only one.
CuptiLibrary OpenCupti(const std::function<bool(const CuptiLibrary&)>& accept);

// The file that holds a symbol of an already loaded library; empty when it is not loaded.
std::string LoadedLibraryPath(const char* soname);

// Signs by which a holder is recognized when CUPTI doesn't name it.
struct HolderSigns {
  std::string told;                    // the name that CUPTI has for it; "" or "CUPTI": it has none
  std::vector<std::string> libraries;  // that are in the process: paths
  std::vector<std::string> variables;  // of its environment, by name
};

// Asks CUPTI (cuptiSubscribe_v2, since 13.0), the loader and the environment.
HolderSigns FindHolder(const CuptiLibrary& cupti);

// One line for stderr: who it is, or most likely is, and how to run without it.
std::string HolderText(const HolderSigns& signs);

}  // namespace graphkit
