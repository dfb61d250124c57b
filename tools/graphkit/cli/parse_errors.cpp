#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tools/graphkit/cli/help_formatter.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/suggest.h"

namespace graphkit {

namespace {

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string FullName(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : app.get_parent()->get_name() + " " + app.get_name();
}

std::string SeeHelp(const CLI::App& app) { return "see " + FullName(app) + " --help"; }

std::string DidYouMean(const std::string& word, const std::vector<std::string>& valid,
                       const std::string& otherwise) {
  const auto nearest = Nearest(word, valid);
  return nearest ? "did you mean " + *nearest + "?" : otherwise;
}

// The subcommand that was being parsed.
const CLI::App& Innermost(const CLI::App& app) {
  const CLI::App* at = &app;
  for (auto parsed = at->get_subcommands(); !parsed.empty(); parsed = at->get_subcommands()) {
    at = parsed.front();
  }
  return *at;
}

bool IsFile(const std::string& word) {
  std::error_code ignored;
  return word == "-" || std::filesystem::exists(word, ignored);
}

// "--json" where "--format json" is one of the choices.
std::string FormatMeant(const CLI::App& app, const std::string& name) {
  const CLI::Option* format = app.get_option_no_throw("--format");
  if (format == nullptr || name.size() < 4) return "";
  const std::string choices = "|" + format->get_option_text() + "|", word = name.substr(2);
  return choices.find("|" + word + "|") == choices.npos ? ""
                                                        : "did you mean --format " + word + "?";
}

std::optional<Error> LeftOver(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty() || app.get_prefix_command()) return std::nullopt;
  const auto option = std::ranges::find_if(
      words, [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  if (option == words.end()) {
    return Error{
        .message = app.get_name() + " takes no further argument: '" + words.front() + "'",
        .hint = IsFile(words.front()) ? "graphkit diff A B compares two files" : SeeHelp(app)};
  }
  const std::string name = option->substr(0, option->find('='));
  const std::string format = FormatMeant(app, name);
  return Error{.message = app.get_name() + " has no option " + name,
               .hint = !format.empty() ? format : DidYouMean(name, OptionNames(app), SeeHelp(app))};
}

// The first argument that is required and wasn't given.
std::string Missing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    return option->get_positional() ? "<" + option->get_name(true) + ">" : option->get_name();
  }
  return "a subcommand";
}

// CLI11's "--at: 1 required TEXT missing" with what the option takes; empty for other messages.
std::string WithoutValue(const CLI::App& app, std::string_view what) {
  const std::string name(what.substr(0, what.find(": 1 required ")));
  if (name.size() == what.size()) return "";
  const CLI::Option* option = app.get_option_no_throw(name);
  return option == nullptr ? "" : name + " needs " + option->get_option_text();
}

std::string LowerFirst(std::string text) {
  const bool word = text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a';
  if (word) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

// CLI11's "Could not convert: --at = 5x" and "--orders: Value 0 not in range 1 to 9" as our own
// checks say it: "--at: '5x' is …".
std::string Reworded(std::string what) {
  constexpr std::string_view kConvert = "Could not convert: ", kValue = ": Value ",
                             kRange = " not in range ";
  const size_t value = what.find(kValue), range = what.find(kRange);
  if (what.starts_with(kConvert)) {
    const size_t equals = what.find(" = ");
    if (equals == std::string::npos) return what;
    return what.substr(kConvert.size(), equals - kConvert.size()) + ": '" +
           what.substr(equals + 3) + "' is no number, or too large a one";
  }
  if (value == std::string::npos || range == std::string::npos || range < value) return what;
  const size_t begin = value + kValue.size();
  return what.substr(0, value) + ": '" + what.substr(begin, range - begin) +
         "' is not a number from " + what.substr(range + kRange.size());
}

}  // namespace

std::optional<Error> CheckSubcommand(const CLI::App& app, std::span<const std::string> args) {
  const auto word =
      std::ranges::find_if(args, [](const std::string& arg) { return !arg.starts_with("-"); });
  if (word == args.end()) return std::nullopt;
  const std::vector<std::string> names = SubcommandNames(app);
  if (std::ranges::find(names, *word) != names.end()) return std::nullopt;
  if (word->find_first_of("./") != std::string::npos) {
    return Error{.message = "no such file, and no subcommand", .file = *word};
  }
  return Error{.message = "no subcommand '" + *word + "'",
               .hint = DidYouMean(*word, names, "see " + app.get_name() + " --help")};
}

std::vector<std::string> WithSubcommand(const CLI::App& app, std::vector<std::string> args) {
  const std::vector<std::string> names = SubcommandNames(app);
  const auto is_command = [&](const std::string& word) {
    return std::ranges::find(names, word) != names.end();
  };
  if (args.empty()) return args;
  const bool options_first = args.front().starts_with("-");
  const auto file = options_first ? std::ranges::find_if(args, IsFile) : args.begin();
  const bool command =
      options_first ? std::ranges::any_of(args, is_command) : is_command(args.front());
  if (command || file == args.end() || !IsFile(*file)) return args;
  // Also of a file that isn't there: diff says so.
  const bool two = file + 1 != args.end() && (IsFile(file[1]) || !file[1].starts_with("-"));
  args.insert(args.begin(), two ? "diff" : kFileCommand);
  return args;
}

Error DescribeParseError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& at = Innermost(app);
  if (auto left_over = LeftOver(at)) return *left_over;
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::string example = FirstExample(at);
    return Error{.message = at.get_name() + " needs " + Missing(at),
                 .hint = example.empty() ? SeeHelp(at) : "for example: " + example};
  }
  if (const std::string needs = WithoutValue(at, error.what()); !needs.empty()) {
    return Error{.message = at.get_name() + ": " + needs, .hint = SeeHelp(at)};
  }
  const std::string what = LowerFirst(Reworded(error.what()));
  const bool advises = what.find("; ") != std::string::npos;
  return Error{.message = at.get_name() + ": " + what, .hint = advises ? "" : SeeHelp(at)};
}

}  // namespace graphkit
