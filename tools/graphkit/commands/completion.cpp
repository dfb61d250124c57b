// `graphkit completion bash|zsh|fish`.
#include <algorithm>
#include <iostream>
#include <memory>

#include "tools/graphkit/cli/cli_model.h"
#include "tools/graphkit/cli/help_formatter.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

using Completion = std::string (*)(const CommandInfo& root,
                                   const std::vector<CommandInfo>& commands);

int RunCompletion(const CLI::App& app, Completion completion) {
  std::vector<CommandInfo> commands = DescribeSubcommands(app);
  std::erase_if(commands, [](const CommandInfo& of) { return of.name == kFileCommand; });
  std::ranges::find(commands, "help", &CommandInfo::name)->words = HelpWords(app);
  std::cout << completion(DescribeCommand(app), commands);
  return kExitOk;
}

}  // namespace

void AddCompletionCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("completion", "Print a completion script for a shell");
  const auto completion = std::make_shared<Completion>();
  AddChoice<Completion>(
      *sub, "shell", *completion,
      {{"bash", BashCompletion}, {"zsh", ZshCompletion}, {"fish", FishCompletion}},
      "bash, zsh or fish")
      ->required();
  SetExamples(*sub,
              {"source <(graphkit completion bash)", "graphkit completion zsh > ~/.zfunc/_graphkit",
               "graphkit completion fish > ~/.config/fish/completions/graphkit.fish"});
  sub->callback([&app, &exit_code, completion] { exit_code = RunCompletion(app, *completion); });
}

}  // namespace graphkit
