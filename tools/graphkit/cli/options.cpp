#include "tools/graphkit/cli/options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "tools/graphkit/cli/suggest.h"

namespace graphkit {

namespace {

constexpr std::string_view kExamples = "Examples:";

}  // namespace

CLI::Option* AddFormat(CLI::App& app, Format& format) {
  return AddChoice<Format>(app, "--format", format,
                           {{"text", Format::kText}, {"json", Format::kJson}},
                           "text for people (the default), or JSON with a stable schema");
}

void AddView(CLI::App& app, Format& format, std::string& output) {
  const CLI::Option* chosen = AddFormat(app, format);
  AddOutput(app, output, "where to (default: stdout)");
  FollowName<Format>(app, chosen, output, format, {{".json", Format::kJson}});
}

CLI::Option* AddOutput(CLI::App& app, std::string& path, const std::string& what) {
  return app.add_option("-o,--output", path, what)->option_text("FILE");
}

CLI::Option* AddOpen(CLI::App& app, bool& open) {
  return app.add_flag("--open", open,
                      "then show it, with the program that BROWSER names or else xdg-open");
}

CLI::Option* AddTrace(CLI::App& app, std::string& path) {
  return app.add_option("trace", path, "a trace: trace.json, trace.json.zst, or - for stdin")
      ->required();
}

CLI::Option* AddTraces(CLI::App& app, std::vector<std::string>& paths) {
  return app
      .add_option("trace", paths,
                  "traces: trace.json, trace.json.zst, a folder of these, or - for stdin; of one "
                  "job, one for each rank")
      ->required();
}

CLI::Option* AddChecks(CLI::App& app, std::vector<std::string>& checks) {
  return app.add_option("--check", checks, "run these checks only, by their ids")
      ->option_text("ID,…")
      ->delimiter(',')
      ->allow_extra_args(false);
}

CLI::Option* AddCount(CLI::App& app, const std::string& name, size_t& value,
                      const std::string& description) {
  const auto parse = [](const std::string& text) -> std::optional<size_t> {
    size_t count = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc() || rest != end) return std::nullopt;
    return count;
  };
  const auto set = [&value, parse](const std::string& text) { value = parse(text).value_or(0); };
  return app.add_option_function<std::string>(name, set, description)
      ->option_text("N")
      ->check([parse](const std::string& text) -> std::string {
        if (parse(text)) return "";
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
