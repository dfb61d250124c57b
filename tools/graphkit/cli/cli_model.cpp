#include "tools/graphkit/cli/cli_model.h"

#include <sstream>

#include "libgraphkit/analysis/checks/checks.h"
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
  if (option.argument == "ID,…") {
    for (const Check& check : AllChecks()) words.emplace_back(check.id);
    return words;
  }
  const bool literal = option.argument.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyz0123456789-_|") == std::string::npos;
  if (option.argument.find('|') == std::string::npos || !literal) return words;
  std::istringstream text(option.argument);
  for (std::string word; std::getline(text, word, '|');) words.push_back(word);
  return words;
}

namespace {

constexpr HelpTopic kTopics[] = {
    {"checks", "Problems that analyze and check look for", ""},
    {"exit-codes", "Exit codes of the process",
     "0  done\n"
     "1  failed verdict: a check or a verification failed, two files differ\n"
     "2  bad usage or input\n"
     "3  the input is incomplete, and the result is printed all the same (a gate refuses it); or "
     "there is nothing to judge: no graph, no memory, or memory of unknown size\n"
     "\n"
     "Several at once: 2 before 3 before 1.\n"
     "\n"
     "graphkit trace ends with the traced program's own exit code (128 + n when signal n killed "
     "it). Its own failures are 125, 126 when the program can't be executed, and 127 when it isn't "
     "found.\n"},
    {"traces", "Files that every subcommand reads",
     "A trace holds everything recorded of one process: trace.json, one JSON document with one "
     "record "
     "per line. trace.json.zst is the same, compressed; both work everywhere, and - is stdin or "
     "stdout.\n"
     "\n"
     "A trace without its last line was cut off, by a crash or by kill -9. It is read up to its "
     "last whole line, and every subcommand reports that it is incomplete and exits with 3.\n"},
    {"environment", "Environment variables that graphkit reads",
     "NO_COLOR      set and not empty: no colours, even on a terminal\n"
     "TERM          dumb: no colours and no moving progress lines\n"
     "GRAPHKIT_THREADS\n"
     "              threads to work on; not set: one for each core\n"
     "CUDA_HOME, CUDA_PATH\n"
     "              toolkits to search for CUPTI, when the loader doesn't find it\n"
     "VIRTUAL_ENV   Python environment whose NVIDIA wheels are searched, too\n"
     "\n"
     "graphkit doctor lists the variables that change the trace, with their values.\n"},
    {"order", "Proofs about shared memory and their assumptions",
     "Memory may be shared by two blocks when every use of one is ordered before every use of the "
     "other in each execution that the graph allows. A full edge orders: its consumer starts when "
     "the producer has finished. A programmatic or launch-completion edge lets the consumer start "
     "earlier, and proves nothing about the producer's end unless the consumer is known to wait "
     "for it.\n"
     "\n"
     "A proof names what it assumes: order (the edges alone), torch-streams (uses end at the free, "
     "or lie on recorded streams) or arguments (kernels touch only blocks that their arguments "
     "name).\n"},
};

}  // namespace

std::span<const HelpTopic> HelpTopics() { return kTopics; }

std::vector<std::string> HelpWords(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CommandInfo& command : DescribeSubcommands(app)) words.push_back(command.name);
  for (const HelpTopic& topic : kTopics) words.emplace_back(topic.name);
  for (const Check& check : AllChecks()) words.emplace_back(check.id);
  return words;
}

}  // namespace graphkit
