// Options that several subcommands have, so that they read and behave alike everywhere.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/units.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

// The options that most subcommands share: `graphkit --help` explains them once, the help of a
// subcommand names them on one line.
inline constexpr const char* kCommonGroup = "Common options";
struct CommonOption {
  const char* heading;
  const char* description;
};
std::span<const CommonOption> CommonOptions();

// --format text|json, and -o FILE, whose ending chooses the format.
void AddView(CLI::App& app, View& view);
CLI::Option* AddFormat(CLI::App& app, Format& format);
// Of a subcommand whose output is no view, or isn't on stdout without it.
CLI::Option* AddOutput(CLI::App& app, std::string& path, const std::string& what);
// -o FILE, by default stdout.
void AddOutput(CLI::App& app, std::string& path);
void AddTop(CLI::App& app, size_t& top);
// --open: show what was written.
CLI::Option* AddOpen(CLI::App& app, bool& open);
CLI::Option* AddTrace(CLI::App& app, std::string& path);
// One or more, for example one for each rank of a job.
CLI::Option* AddTraces(CLI::App& app, std::vector<std::string>& paths);

// A subcommand and its arguments, which `run` is given; it returns the exit code. The examples are
// command lines that work as they stand, shown below the help; the first also stands in errors.
template <typename Arguments>
struct NewCommand {
  CLI::App* sub;
  std::shared_ptr<Arguments> arguments;
};
template <typename Arguments, typename Run>
NewCommand<Arguments> AddCommand(CLI::App& app, int& exit_code, Run run, const std::string& name,
                                 const std::string& description,
                                 const std::vector<std::string>& examples);

// An option with a fixed set of words: the help lists them, an error suggests the nearest.
template <typename T>
CLI::Option* AddChoice(CLI::App& app, const std::string& name, T& value,
                       const std::vector<std::pair<std::string, T>>& choices,
                       const std::string& description);

// Without `format`, what the output's name ends with (".json") says which it is.
template <typename T>
void FollowName(CLI::App& app, const CLI::Option* format, const std::string& output, T& value,
                const std::vector<std::pair<std::string, T>>& endings);

// A number of things, not negative.
CLI::Option* AddCount(CLI::App& app, const std::string& name, size_t& value,
                      const std::string& description);

// --assume, the assumption of proofs about a trace.
CLI::Option* AddAssume(CLI::App& app, MarkerRule& rule);

// Ids of checks, separated by commas.
CLI::Option* AddChecks(CLI::App& app, std::vector<std::string>& checks);

// Digits alone; nothing for other text.
std::optional<size_t> ParseCount(const std::string& text);

// A size: "4096", "1.5GiB". `value` is of Bytes, or an optional one.
template <typename T>
CLI::Option* AddSize(CLI::App& app, const std::string& name, T& value,
                     const std::string& description);

// Empty for a size, otherwise what is wrong with it and what was probably meant.
std::string CheckSize(const std::string& text);

// Empty for what has no minus sign; what isn't a number is left to the option's type.
std::string CheckNotNegative(const std::string& text);

void SetExamples(CLI::App& app, const std::vector<std::string>& examples);
// The first of them; empty when there is none.
std::string FirstExample(const CLI::App& app);

// The words of a choice, as "a|b|c".
std::string JoinWords(const std::vector<std::string>& words, const std::string& separator = "|");
// Empty when `word` is among `words`, otherwise what is wrong with it and what was probably meant.
std::string CheckWord(const std::string& word, const std::vector<std::string>& words);

template <typename Arguments, typename Run>
NewCommand<Arguments> AddCommand(CLI::App& app, int& exit_code, Run run, const std::string& name,
                                 const std::string& description,
                                 const std::vector<std::string>& examples) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* sub = app.add_subcommand(name, description);
  SetExamples(*sub, examples);
  sub->callback([&exit_code, run, arguments] { exit_code = run(*arguments); });
  return {sub, arguments};
}

template <typename T>
CLI::Option* AddSize(CLI::App& app, const std::string& name, T& value,
                     const std::string& description) {
  const auto set = [&value](const std::string& text) { value = ParseBytes(text).value_or(0); };
  return app.add_option_function<std::string>(name, set, description)
      ->option_text("SIZE")
      ->check(CheckSize);
}

template <typename T>
CLI::Option* AddChoice(CLI::App& app, const std::string& name, T& value,
                       const std::vector<std::pair<std::string, T>>& choices,
                       const std::string& description) {
  std::vector<std::string> words;
  for (const auto& [word, unused] : choices) words.push_back(word);
  const auto set = [&value, choices](const std::string& word) {
    for (const auto& [name_of, meaning] : choices) {
      if (name_of == word) value = meaning;
    }
  };
  return app.add_option_function<std::string>(name, set, description)
      ->option_text(JoinWords(words))
      ->check([words](const std::string& word) { return CheckWord(word, words); });
}

template <typename T>
void FollowName(CLI::App& app, const CLI::Option* format, const std::string& output, T& value,
                const std::vector<std::pair<std::string, T>>& endings) {
  app.parse_complete_callback([format, &output, &value, endings] {
    if (format->count() > 0) return;
    for (const auto& [ending, meaning] : endings) {
      if (output.ends_with(ending)) value = meaning;
    }
  });
}

}  // namespace graphkit
