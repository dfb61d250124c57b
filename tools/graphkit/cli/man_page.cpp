#include "tools/graphkit/cli/man_page.h"

#include <algorithm>
#include <sstream>

namespace graphkit {

namespace {

// Text in roff: backslashes and leading dots and quotes are special, and "-" is a hyphen unless
// escaped.
std::string Roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool at_start = escaped.empty() || escaped.back() == '\n';
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string SmallInitial(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

void WriteHead(const std::string& title, const std::string& version, const std::string& what,
               const std::string& usage, std::ostream& out) {
  out << ".TH " << Upper(title) << " 1 \"\" \"graphkit " << version << "\" \"graphkit\"\n"
      << ".SH NAME\n"
      << Roff(title) << " \\- " << Roff(SmallInitial(what)) << "\n.SH SYNOPSIS\n.B " << Roff(usage)
      << "\n";
}

void WriteOptions(const char* title, const std::vector<OptionInfo>& options, std::ostream& out) {
  if (options.empty()) return;
  out << ".SH " << title << "\n";
  for (const OptionInfo& option : options) {
    std::string names;
    for (const std::string& name : option.names) {
      names += (names.empty() ? "" : ", ") + ("\\fB" + Roff(name) + "\\fR");
    }
    const std::string argument =
        option.argument.empty() ? "" : "\\fI" + Roff(option.argument) + "\\fR";
    const char* space = names.empty() || argument.empty() ? "" : " ";
    out << ".TP\n" << names << space << argument << "\n" << Roff(option.description) << "\n";
  }
}

void WriteExamples(const std::vector<std::string>& examples, std::ostream& out) {
  if (examples.empty()) return;
  out << ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : examples) out << Roff(example) << "\n";
  out << ".fi\n";
}

}  // namespace

std::string RootManPage(const CommandInfo& root, const std::vector<CommandInfo>& commands,
                        const std::string& version) {
  std::ostringstream out;
  std::string what = root.description;
  if (what.ends_with('.')) what.pop_back();
  WriteHead("graphkit", version, what, root.usage, out);
  out << ".SH SUBCOMMANDS\n";
  for (const CommandInfo& command : commands) {
    out << ".TP\n\\fB" << Roff(command.name) << "\\fR\n" << Roff(command.description) << "\n";
  }
  WriteOptions("OPTIONS", root.options, out);
  out << ".SH EXIT STATUS\n"
      << "0: done. 1: a check or a verification failed. 2: bad usage or input. 3: made from\n"
      << "incomplete input, and shown all the same.\n";
  WriteExamples(root.examples, out);
  out << ".SH SEE ALSO\n";
  for (const CommandInfo& command : commands) {
    out << ".BR graphkit\\-" << command.name << " (1)" << (&command == &commands.back() ? "" : " ,")
        << "\n";
  }
  return out.str();
}

std::string CommandManPage(const CommandInfo& command, const std::string& version) {
  std::ostringstream out;
  WriteHead("graphkit-" + command.name, version, command.description, command.usage, out);
  WriteOptions("ARGUMENTS", command.arguments, out);
  WriteOptions("OPTIONS", command.options, out);
  WriteExamples(command.examples, out);
  out << ".SH SEE ALSO\n.BR graphkit (1)\n";
  return out.str();
}

}  // namespace graphkit
