// `graphkit help [topic]`: a subcommand's help, a page on something that belongs to none, a check's
// page, a word of the glossary, or the checks of a symptom.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/checks/checks.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/check_pages.h"
#include "tools/graphkit/cli/cli_model.h"
#include "tools/graphkit/cli/help_formatter.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/suggest.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

// Null when there is none of that name.
const CLI::App* FindSubcommand(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&name](const CLI::App* sub) { return sub->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

// app.help() would be that of the subcommand that was parsed: this one.
void PrintOverview(const CLI::App& app) {
  std::cout << app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal)
            << "\nTopics of graphkit help:\n";
  for (const HelpTopic& topic : HelpTopics()) {
    std::string name = topic.name;
    name.resize(28, ' ');
    std::cout << "  " << name << topic.summary << "\n";
  }
}

int PrintUnknown(const CLI::App& app, const std::string& name) {
  const auto nearest = Nearest(name, HelpWords(app));
  return PrintError(
      Error{.message = "no help on '" + name + "'",
            .hint = nearest ? "did you mean " + *nearest + "?" : "graphkit help lists the topics"});
}

// A paragraph a line; what stands in columns hangs below itself.
void PrintTopic(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t gap = line.find("  "), start = line.find_first_not_of(' ', gap);
    const size_t hang = start == std::string::npos ? 0 : start;
    std::cout << Wrapped(line.substr(0, hang), std::string_view(line).substr(hang),
                         {.width = HelpWidth()});
  }
}

void PrintChecks() {
  TextRows rows;
  for (const Check& check : AllChecks()) {
    rows.push_back({std::string(check.id), SeverityName(check.severity), std::string(check.what)});
  }
  std::cout << "graphkit help ID explains a check.\n\n" << Table(rows, "lll", "  ");
}

// A word's row of the glossary, "| word, other | what it means |": false: there is none.
bool PrintWord(const std::string& name) {
  std::istringstream lines{std::string(PageOf("glossary"))};
  for (std::string line; std::getline(lines, line);) {
    const size_t middle = line.find(" | ", 2);
    if (!line.starts_with("| ") || !line.ends_with(" |") || middle == line.npos) continue;
    const std::string words = line.substr(2, middle - 2);
    if ((", " + words + ",").find(", " + name + ",") == std::string::npos) continue;
    const std::string means = line.substr(middle + 3, line.size() - middle - 5);
    std::cout << Wrapped(words + ": ", means, {.width = HelpWidth()});
    return true;
  }
  return false;
}

// A title of docs/checks/index.md, "## Race, hazard: …", has the word.
bool HasWord(std::string_view title, std::string_view word) {
  for (size_t at = 0; at < title.size(); ++at) {
    const size_t begin = at;
    while (at < title.size() && std::isalnum(static_cast<unsigned char>(title[at])) != 0) ++at;
    const std::string_view own = title.substr(begin, at - begin);
    const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
    if (!own.empty() && std::ranges::equal(own, word, same)) return true;
  }
  return false;
}

// "| [race-check](race-check.md) | error | what it finds |" as cells of a table.
TextRow SymptomRow(std::string_view line) {
  const size_t first = line.find(" | "), second = line.find(" | ", first + 3);
  const std::string_view id = line.substr(3, line.find(']') - 3);
  return {std::string(id), std::string(line.substr(first + 3, second - first - 3)),
          std::string(line.substr(second + 3, line.size() - second - 5))};
}

// The sections of docs/checks/index.md with the word in their titles. False: there is none.
bool PrintSymptom(const std::string& word) {
  TextRows rows;
  bool inside = false, found = false;
  const auto print = [&rows] {
    if (!rows.empty()) std::cout << Table(std::exchange(rows, {}), "lll", "  ");
  };
  std::istringstream lines{std::string(PageOf("index"))};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) {
      print();
      inside = HasWord(line, word);
      if (inside) std::cout << (found ? "\n" : "") << line.substr(3) << "\n\n";
      found = found || inside;
    } else if (inside && line.starts_with("| [")) {
      rows.push_back(SymptomRow(line));
    }
  }
  print();
  if (found) std::cout << "\ngraphkit help ID explains a check.\n";
  return found;
}

int RunHelp(const CLI::App& app, const std::string& name) {
  if (name.empty()) {
    PrintOverview(app);
    return kExitOk;
  }
  if (const CLI::App* sub = FindSubcommand(app, name)) {
    std::cout << sub->help();
    return kExitOk;
  }
  if (name == "checks") {
    PrintChecks();
    return kExitOk;
  }
  for (const HelpTopic& topic : HelpTopics()) {
    if (topic.name != name) continue;
    PrintTopic(topic.text);
    return kExitOk;
  }
  if (FindCheck(name)) {
    std::cout << PageOf(name);
    return kExitOk;
  }
  const bool word = PrintWord(name), symptom = PrintSymptom(name);
  return word || symptom ? kExitOk : PrintUnknown(app, name);
}

}  // namespace

void AddHelpCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("help", "Explain a subcommand, a topic or a check");
  const auto topic = std::make_shared<std::string>();
  sub->add_option(
      "topic", *topic,
      "Subcommand, topic, check, word of the glossary or symptom (race, leak, oom); without "
      "one, lists all topics");
  SetExamples(*sub, {"graphkit help exit-codes", "graphkit help race", "graphkit help block-leak"});
  sub->callback([&app, &exit_code, topic] { exit_code = RunHelp(app, *topic); });
}

}  // namespace graphkit
