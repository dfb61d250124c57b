// Any bytes, read as a gate's configuration or as its suppressions, give them or an error; each can
// be used: the two small files that people write.
#include <string>

#include "tests/fuzz/gate_files.h"
#include "tools/graphkit/files/gate_files.h"

namespace {

using namespace graphkit;

constexpr Date kToday{2026, 6, 15};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (auto file = ParseGateConfig(text, "fuzz")) {
    file->config.today = kToday;
    JudgeAndDraw(file->config, {});
  }
  if (auto suppressions = ParseSuppressions(text, "fuzz")) {
    GateConfig config{.fail_on_severity = Severity::kNote};
    config.suppressions = *std::move(suppressions);
    config.today = kToday;
    JudgeAndDraw(config, {});
  }
  return 0;
}
