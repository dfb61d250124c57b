// Who holds CUPTI's one subscription when it isn't the tracer, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "plugins/cupti_tracer/cupti_library.h"

namespace graphkit {

// What gives a holder away, where CUPTI doesn't say who it is.
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
