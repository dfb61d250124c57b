// CUPTI's functions, looked up at run time: the programs don't link it.
#pragma once

#include <cupti.h>
#include <dlfcn.h>

#include "conformance.h"

namespace conformance {

inline void* cupti = nullptr;

inline bool LoadCupti() {
  cupti = dlopen("libcupti.so.13", RTLD_NOW);
  EXPECT(cupti != nullptr);
  return cupti != nullptr;
}

inline void* FindCupti(const char* name) { return dlsym(cupti, name); }

}  // namespace conformance

#define CUPTI(name) reinterpret_cast<decltype(&name)>(conformance::FindCupti(#name))
