#include "tools/graphkit/commands/check_init.h"

#include <filesystem>

#include "tools/graphkit/files/output.h"

namespace graphkit {

namespace {

constexpr char kSettings[] = R"({
  "schema": "graphkit-config", "version": 1,
  "check": {
    "fail_on": ["warning"],
    "baseline": "baseline.json", "allow_increase": "2%",
    "suppressions": "suppressions.json"
  }
}
)";

constexpr char kSuppressions[] = R"({
  "schema": "graphkit-suppressions", "version": 1,
  "suppressions": []
}
)";

Result<void> WriteText(const std::string& path, const char* text) {
  return WriteOutput(path, [text](std::ostream& out) { out << text; });
}

}  // namespace

Result<GateFiles> NewGateFiles(const std::string& config) {
  const std::filesystem::path folder = std::filesystem::path(config).parent_path();
  const GateFiles files{config, (folder / "baseline.json").string(),
                        (folder / "suppressions.json").string()};
  std::error_code error;
  for (const std::string& path : {files.config, files.baseline, files.suppressions}) {
    if (!std::filesystem::exists(path, error)) continue;
    return Error{.message = "it is there already, and --init replaces nothing",
                 .hint = "move it away, or use it with --config " + config,
                 .file = path};
  }
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  return files;
}

Result<void> WriteGateSettings(const GateFiles& files) {
  if (auto written = WriteText(files.suppressions, kSuppressions); !written) return written;
  return WriteText(files.config, kSettings);
}

}  // namespace graphkit
