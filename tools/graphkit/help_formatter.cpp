#include "tools/graphkit/help_formatter.h"

#include <sstream>
#include <vector>

#include "libgraphkit/render/printable.h"

namespace graphkit {

namespace {

constexpr size_t kWidth = 100;
constexpr size_t kColumn = 30;  // where descriptions begin

std::vector<const CLI::Option*> Positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* o) { return o->get_positional(); });
}

std::vector<const CLI::Option*> Named(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* o) { return !o->get_positional() && !o->get_group().empty(); });
}

// One entry: heading at column 2, description wrapped at kColumn.
void WriteEntry(const std::string& heading, const std::string& description, std::ostream& out) {
  std::string line = "  " + heading;
  const size_t width = DisplayWidth(line);
  line +=
      width + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - width, ' ');
  size_t column = kColumn;
  std::istringstream words(description);
  for (std::string word; words >> word;) {
    if (column > kColumn && column + 1 + DisplayWidth(word) > kWidth) {
      line += "\n" + std::string(kColumn, ' ');
      column = kColumn;
    } else if (column > kColumn) {
      line += " ";
      ++column;
    }
    line += word;
    column += DisplayWidth(word);
  }
  out << line << "\n";
}

void WriteOptions(const char* title, const std::vector<const CLI::Option*>& options,
                  std::ostream& out) {
  if (options.empty()) return;
  out << "\n" << title << "\n";
  for (const CLI::Option* option : options) {
    WriteEntry(OptionHeading(*option), option->get_description(), out);
  }
}

void WriteSubcommands(const CLI::App& app, std::ostream& out) {
  const auto subcommands = app.get_subcommands([](const CLI::App*) { return true; });
  if (subcommands.empty()) return;
  out << "\nSubcommands:\n";
  for (const CLI::App* sub : subcommands) {
    if (!sub->get_group().empty()) WriteEntry(sub->get_name(), sub->get_description(), out);
  }
}

}  // namespace

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

std::string UsageLine(const CLI::App& app) {
  std::string usage = app.get_name();
  if (app.get_parent() != nullptr) usage = app.get_parent()->get_name() + " " + usage;
  if (!Named(app).empty()) usage += " [options]";
  for (const CLI::Option* option : Positionals(app)) {
    const std::string name =
        "<" + option->get_name(true) + ">" + (option->get_items_expected_max() > 1 ? "…" : "");
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  if (app.get_prefix_command()) usage += " [--] <program> [<argument>…]";
  if (!app.get_subcommands([](const CLI::App*) { return true; }).empty())
    usage += " <subcommand> …";
  return usage;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::ostringstream out;
  out << app->get_description() << "\n\nUsage: " << UsageLine(*app) << "\n";
  WriteSubcommands(*app, out);
  WriteOptions("Arguments:", Positionals(*app), out);
  WriteOptions("Options:", Named(*app), out);
  if (!app->get_footer().empty()) out << "\n" << app->get_footer() << "\n";
  return out.str();
}

}  // namespace graphkit
