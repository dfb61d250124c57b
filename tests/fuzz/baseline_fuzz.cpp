// Any bytes, read as a baseline, give one or an error; one is written as it is read, and judges
// traces.
#include <cstdlib>
#include <sstream>
#include <string>

#include "tests/fuzz/gate_files.h"
#include "tools/graphkit/files/gate_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace graphkit;
  const auto baseline = ParseBaseline(std::string(reinterpret_cast<const char*>(data), size), "");
  if (!baseline) return 0;
  std::ostringstream out;
  WriteBaseline(*baseline, out);
  const auto again = ParseBaseline(out.str(), "");
  if (!again || *again != *baseline) std::abort();
  JudgeAndDraw({.allow_increase = 0.5}, *baseline);
  return 0;
}
