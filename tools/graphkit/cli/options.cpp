#include "tools/graphkit/cli/options.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "libgraphkit/checked_number.h"
#include "tools/graphkit/cli/suggest.h"

namespace graphkit {

namespace {

constexpr std::string_view kExamples = "Examples:";

}  // namespace

std::span<const CommonOption> CommonOptions() {
  static constexpr CommonOption kOptions[] = {
      {"-o, --output FILE",
       "Write to FILE instead of stdout. Its ending selects the format: .json, .html and others; "
       ".zst compresses"},
      {"--format text|json", "Print text (the default) or JSON with a stable schema"},
      {"--top N", "Entries of each list in the text; 0: all (default: 10)"},
  };
  return kOptions;
}

CLI::Option* AddFormat(CLI::App& app, Format& format) {
  CLI::Option* option =
      AddChoice<Format>(app, "--format", format, {{"text", Format::kText}, {"json", Format::kJson}},
                        CommonOptions()[1].description);
  option->group(kCommonGroup);
  return option;
}

void AddView(CLI::App& app, View& view) {
  AddOutput(app, view.output);
  const CLI::Option* chosen = AddFormat(app, view.format);
  FollowName<Format>(app, chosen, view.output, view.format, {{".json", Format::kJson}});
}

CLI::Option* AddOutput(CLI::App& app, std::string& path, const std::string& what) {
  return app.add_option("-o,--output", path, what)->option_text("FILE");
}

void AddOutput(CLI::App& app, std::string& path) {
  AddOutput(app, path, CommonOptions()[0].description)->group(kCommonGroup);
}

void AddTop(CLI::App& app, size_t& top) {
  AddCount(app, "--top", top, CommonOptions()[2].description)->group(kCommonGroup);
}

CLI::Option* AddOpen(CLI::App& app, bool& open) {
  return app.add_flag("--open", open, "Open the output with the program in BROWSER, or xdg-open");
}

CLI::Option* AddTrace(CLI::App& app, std::string& path) {
  return app.add_option("trace", path, "Trace: trace.json, trace.json.zst, or - for stdin")
      ->required();
}

CLI::Option* AddTraces(CLI::App& app, std::vector<std::string>& paths) {
  return app
      .add_option("trace", paths,
                  "Traces: trace.json, trace.json.zst, a folder of these, or - for stdin; several "
                  "for the ranks of one job")
      ->required();
}

CLI::Option* AddChecks(CLI::App& app, std::vector<std::string>& checks) {
  return app.add_option("--check", checks, "Run only these checks")
      ->option_text("ID,…")
      ->delimiter(',')
      ->allow_extra_args(false);
}

CLI::Option* AddAssume(CLI::App& app, MarkerRule& rule) {
  return AddChoice<MarkerRule>(
      app, "--assume", rule,
      {{"arguments", MarkerRule::kLastUse}, {"torch-streams", MarkerRule::kAtFree}},
      "Assume that kernels access only memory passed as arguments (the default), or that blocks "
      "are in use until their free, on their streams");
}

std::optional<size_t> ParseCount(const std::string& text) { return ParseNumber<size_t>(text); }

CLI::Option* AddCount(CLI::App& app, const std::string& name, size_t& value,
                      const std::string& description) {
  const auto set = [&value](const std::string& text) { value = ParseCount(text).value_or(0); };
  return app.add_option_function<std::string>(name, set, description)
      ->option_text("N")
      ->check([](const std::string& text) -> std::string {
        if (ParseCount(text)) return "";
        const auto nearest = NearestCount(text);
        return "invalid count '" + text + "'; " +
               (nearest ? "did you mean " + *nearest + "?" : "write 10, or 0 for all");
      });
}

std::string CheckSize(const std::string& text) {
  if (ParseBytes(text)) return "";
  const auto nearest = NearestSize(text);
  return "invalid size '" + text + "'; " +
         (nearest ? "did you mean " + *nearest + "?" : "write 4096, 1MiB or 1.5GiB");
}

std::string CheckNotNegative(const std::string& text) {
  return text.starts_with('-') ? "'" + text + "' is below 0; write 0 or more" : "";
}

void SetExamples(CLI::App& app, const std::vector<std::string>& examples) {
  std::string footer(kExamples);
  for (const std::string& example : examples) footer += "\n  " + example;
  app.footer(footer);
}

std::string FirstExample(const CLI::App& app) {
  const std::string footer = app.get_footer();
  const size_t start = footer.find("\n  ");
  if (!footer.starts_with(kExamples) || start == std::string::npos) return "";
  const size_t end = footer.find('\n', start + 1);
  std::string line = footer.substr(start + 3, end == std::string::npos ? end : end - start - 3);
  const size_t comment = line.find("  #");
  return line.substr(0, line.find_last_not_of(' ', comment) + 1);
}

std::string JoinWords(const std::vector<std::string>& words, const std::string& separator) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : separator) + word;
  return joined;
}

std::string CheckWord(const std::string& word, const std::vector<std::string>& words) {
  if (std::ranges::find(words, word) != words.end()) return "";
  const auto nearest = Nearest(word, words);
  std::string problem = "invalid value '" + word + "'; expected one of " + JoinWords(words, ", ");
  return nearest ? problem + "; did you mean " + *nearest + "?" : problem;
}

}  // namespace graphkit
