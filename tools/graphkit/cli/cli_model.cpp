#include "tools/graphkit/cli/cli_model.h"

#include <sstream>

#include "tools/graphkit/cli/help_formatter.h"

namespace graphkit {

namespace {

OptionInfo Describe(const CLI::Option& option) {
  OptionInfo info{.argument = OptionArgument(option), .description = option.get_description()};
  if (option.get_positional()) {
    info.argument = option.get_name(true);
    return info;
  }
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  return info;
}

}  // namespace

CommandInfo DescribeCommand(const CLI::App& app) {
  CommandInfo info{.name = app.get_name(), .description = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? info.arguments : info.options).push_back(Describe(*option));
    if (option->get_positional()) info.words = Words({.argument = option->get_option_text()});
  }
  return info;
}

std::vector<CommandInfo> DescribeSubcommands(const CLI::App& app) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) commands.push_back(DescribeCommand(*sub));
  }
  return commands;
}

std::vector<std::string> Words(const OptionInfo& option) {
  std::vector<std::string> words;
  const bool literal = option.argument.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyz0123456789-_|") == std::string::npos;
  if (option.argument.find('|') == std::string::npos || !literal) return words;
  std::istringstream text(option.argument);
  for (std::string word; std::getline(text, word, '|');) words.push_back(word);
  return words;
}

}  // namespace graphkit
