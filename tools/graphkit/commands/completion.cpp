// `graphkit completion bash|zsh|fish`.
#include <iostream>
#include <memory>

#include "tools/graphkit/cli/cli_model.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"

namespace graphkit {

namespace {

// What `graphkit help` takes is what there is.
std::vector<CommandInfo> WithTopics(std::vector<CommandInfo> commands) {
  std::vector<std::string> topics;
  for (const CommandInfo& command : commands) topics.push_back(command.name);
  for (const HelpTopic& topic : HelpTopics()) topics.emplace_back(topic.name);
  for (CommandInfo& command : commands) {
    if (command.name == "help") command.words = topics;
  }
  return commands;
}

int RunCompletion(const CLI::App& app, const std::string& shell) {
  const CommandInfo root = DescribeCommand(app);
  const std::vector<CommandInfo> commands = WithTopics(DescribeSubcommands(app));
  if (shell == "bash") std::cout << BashCompletion(root, commands);
  if (shell == "zsh") std::cout << ZshCompletion(root, commands);
  if (shell == "fish") std::cout << FishCompletion(root, commands);
  return kExitOk;
}

}  // namespace

void AddCompletionCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  sub->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->option_text("bash|zsh|fish")
      ->check([](const std::string& word) {
        return CheckWord(word, {"bash", "zsh", "fish"});
      });
  SetExamples(*sub,
              {"source <(graphkit completion bash)", "graphkit completion zsh > ~/.zfunc/_graphkit",
               "graphkit completion fish > ~/.config/fish/completions/graphkit.fish"});
  sub->callback([&app, &exit_code, shell] { exit_code = RunCompletion(app, *shell); });
}

}  // namespace graphkit
