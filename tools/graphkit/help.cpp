// `graphkit help [subcommand]`.
#include <iostream>
#include <memory>

#include "tools/graphkit/commands.h"
#include "tools/graphkit/exit_codes.h"
#include "tools/graphkit/options.h"
#include "tools/graphkit/suggest.h"
#include "tools/graphkit/talk.h"

namespace graphkit {

namespace {

int RunHelp(const CLI::App& app, const std::string& topic) {
  if (topic.empty()) {
    std::cout << app.help();
    return kExitOk;
  }
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    if (names.back() != topic) continue;
    std::cout << sub->help();
    return kExitOk;
  }
  const auto nearest = Nearest(topic, names);
  return PrintError(
      Error{.message = "no help on '" + topic + "'",
            .hint = nearest ? "did you mean " + *nearest + "?" : "see graphkit --help"});
}

}  // namespace

void AddHelpCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("help", "Explain a subcommand");
  const auto topic = std::make_shared<std::string>();
  sub->add_option("topic", *topic, "the name of a subcommand");
  SetExamples(*sub, {"graphkit help analyze"});
  sub->callback([&app, &exit_code, topic] { exit_code = RunHelp(app, *topic); });
}

}  // namespace graphkit
