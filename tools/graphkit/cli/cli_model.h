// The command line as data, read from the CLI definitions: what completion scripts are
// made of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace graphkit {

struct OptionInfo {
  std::vector<std::string> names;  // "-o", "--output"; empty for an argument
  std::string argument;            // "FILE", "text|json"; empty for a flag
  std::string description;
  bool operator==(const OptionInfo&) const = default;

  bool takes_file() const { return argument == "FILE"; }
};

struct CommandInfo {
  std::string name;  // "analyze"; of the root "graphkit"
  std::string description;
  std::vector<OptionInfo> arguments;
  std::vector<std::string> words = {};  // that its argument may be; empty: files
  std::vector<OptionInfo> options;
  bool operator==(const CommandInfo&) const = default;
};

CommandInfo DescribeCommand(const CLI::App& app);

// The subcommands, in the order of --help.
std::vector<CommandInfo> DescribeSubcommands(const CLI::App& app);

// The words of "text|json", the checks of "ID,…"; empty when the argument isn't a choice.
std::vector<std::string> Words(const OptionInfo& option);

// The topics of `graphkit help <topic>`, which belong to no single subcommand.
struct HelpTopic {
  const char* name;
  const char* summary;  // one line, for the list of topics
  const char* text;
};

std::span<const HelpTopic> HelpTopics();

// The arguments of `graphkit help`: the subcommands and the topics.
std::vector<std::string> HelpWords(const CLI::App& app);

// Completion scripts, made from the command line's own definitions.
std::string BashCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands);
std::string ZshCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands);
std::string FishCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands);

}  // namespace graphkit
