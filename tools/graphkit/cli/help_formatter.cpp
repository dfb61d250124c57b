#include "tools/graphkit/cli/help_formatter.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

constexpr size_t kWidth = 100;  // at most
constexpr size_t kColumn = 30;  // where descriptions begin
constexpr size_t kIndent = 6;   // the same, below their headings, on a narrow terminal
constexpr size_t kNarrow = 70;

std::vector<const CLI::Option*> Positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* o) { return o->get_positional(); });
}

std::vector<const CLI::Option*> Named(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* o) { return !o->get_positional() && !o->get_group().empty(); });
}

bool IsCommon(const CLI::Option* option) {
  return option->get_group() == kCommonGroup || option->get_name() == "--help";
}

// One entry: heading at column 2, description beside or below it.
void WriteEntry(const std::string& heading, const std::string& description, std::ostream& out) {
  const TextStyle style{.width = HelpWidth()};
  const std::string first = "  " + heading;
  const size_t column = style.width < kNarrow ? kIndent : kColumn, width = DisplayWidth(first);
  if (width + 2 > column) {
    out << first << "\n" << Wrapped(std::string(column, ' '), description, style);
  } else {
    out << Wrapped(first + std::string(column - width, ' '), description, style);
  }
}

void WriteOptions(const char* title, std::vector<const CLI::Option*> options, std::ostream& out) {
  std::erase_if(options, IsCommon);
  if (options.empty()) return;
  out << "\n" << title << "\n";
  for (const CLI::Option* option : options) {
    WriteEntry(OptionHeading(*option), option->get_description(), out);
  }
}

// By group, in the order in which they were added.
void WriteSubcommands(const CLI::App& app, std::ostream& out) {
  std::string group;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (group != sub->get_group()) out << "\n" << sub->get_group() << ":\n";
    group = sub->get_group();
    WriteEntry(sub->get_name(), sub->get_description(), out);
  }
}

// One line; `graphkit --help` has an entry for each.
void WriteCommon(const CLI::App& app, std::ostream& out) {
  if (app.get_parent() == nullptr) {
    out << "\n" << kCommonGroup << ":\n";
    WriteEntry("-h, --help", "Print this help, or the help of a subcommand", out);
    for (const auto& [heading, description] : CommonOptions()) {
      WriteEntry(heading, description, out);
    }
    return;
  }
  std::string common;
  for (const CLI::Option* option : Named(app)) {
    if (IsCommon(option)) common += (common.empty() ? "" : "; ") + OptionHeading(*option);
  }
  out << "\n" << Wrapped(std::string(kCommonGroup) + ": ", common, {.width = HelpWidth()});
}

// "graphkit analyze [options] <trace>".
std::string UsageLine(const CLI::App& app) {
  std::string usage = app.get_name();
  if (app.get_parent() != nullptr) usage = app.get_parent()->get_name() + " " + usage;
  if (!Named(app).empty()) usage += " [options]";
  for (const CLI::Option* option : Positionals(app)) {
    if (option->get_name(true) == app.get_name()) continue;  // the file stands in its place
    const std::string name =
        "<" + option->get_name(true) + ">" + (option->get_items_expected_max() > 1 ? "…" : "");
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  if (app.get_prefix_command()) usage += " [--] <program> [<argument>…]";
  if (!app.get_subcommands([](const CLI::App*) { return true; }).empty())
    usage += " <subcommand> …\n       graphkit <file> [<file>]";
  return usage;
}

}  // namespace

size_t HelpWidth() { return std::min(kWidth, static_cast<size_t>(TerminalWidth())); }

std::string OptionArgument(const CLI::Option& option) {
  if (!option.get_option_text().empty()) return option.get_option_text();
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  if (type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT")) return "N";
  return type.empty() ? "" : "TEXT";
}

std::string OptionHeading(const CLI::Option& option) {
  if (option.get_positional()) return "<" + option.get_name(true) + ">";
  std::string heading;
  for (const std::string& name : option.get_snames()) heading += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) heading += "--" + name + ", ";
  heading.resize(heading.size() - 2);
  const std::string argument = OptionArgument(option);
  return argument.empty() ? heading : heading + " " + argument;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::ostringstream out;
  out << app->get_description() << "\n\nUsage: " << UsageLine(*app) << "\n";
  WriteSubcommands(*app, out);
  WriteOptions("Arguments:", Positionals(*app), out);
  WriteOptions("Options:", Named(*app), out);
  WriteCommon(*app, out);
  if (!app->get_footer().empty()) out << "\n" << app->get_footer() << "\n";
  return out.str();
}

}  // namespace graphkit
