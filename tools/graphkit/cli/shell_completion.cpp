#include <sstream>

#include "tools/graphkit/cli/cli_model.h"
#include "tools/graphkit/cli/options.h"

namespace graphkit {

namespace {

std::vector<std::string> OptionNames(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> CommandNames(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  for (const CommandInfo& command : commands) names.push_back(command.name);
  return names;
}

// In single quotes: what stands there is text.
std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The case labels of what follows an option that takes an argument.
void BashArguments(const CommandInfo& command, std::ostream& out) {
  for (const OptionInfo& option : command.options) {
    if (option.argument.empty()) continue;
    std::vector<std::string> labels;
    for (const std::string& name : option.names) {
      labels.push_back("'" + command.name + " " + name + "'");
    }
    const std::vector<std::string> words = Words(option);
    out << "    " << JoinWords(labels, "|") << ") ";
    if (!words.empty()) {
      out << "words=" << ShellQuoted(JoinWords(words, " ")) << " ;;\n";
    } else {
      out << (option.takes_file() ? "compopt -o default; return ;;\n" : "return ;;\n");
    }
  }
}

// In zsh's _arguments, brackets and colons in a description are special.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshAction(const OptionInfo& option) {
  const std::vector<std::string> words = Words(option);
  if (!words.empty())
    return ":" + option.names.back().substr(2) + ":(" + JoinWords(words, " ") + ")";
  if (option.argument.empty()) return "";
  return ":" + ZshText(option.argument) + ":" + (option.takes_file() ? "_files" : "");
}

void ZshCommand(const CommandInfo& command, std::ostream& out) {
  out << "    " << command.name << ")\n      _arguments \\\n";
  for (const OptionInfo& option : command.options) {
    for (const std::string& name : option.names) {
      const std::string spec =
          "(" + JoinWords(option.names, " ") + ")" + name + "[" + ZshText(option.description) + "]";
      out << "        " << ShellQuoted(spec + ZshAction(option)) << " \\\n";
    }
  }
  const std::string words = JoinWords(command.words, " ");
  out << "        '*:" << (words.empty() ? "file:_files" : "argument:(" + words + ")")
      << "'\n      ;;\n";
}

void FishOption(const std::string& condition, const OptionInfo& option, std::ostream& out) {
  out << "complete -c graphkit -n " << ShellQuoted(condition);
  for (const std::string& name : option.names) {
    out << (name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
  }
  const std::vector<std::string> words = Words(option);
  if (!words.empty()) out << " -x -a " << ShellQuoted(JoinWords(words, " "));
  if (words.empty() && !option.argument.empty()) out << (option.takes_file() ? " -r -F" : " -x");
  out << " -d " << ShellQuoted(option.description) << "\n";
}

}  // namespace

std::string BashCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands) {
  std::ostringstream out;
  out << "# bash completion for graphkit: source it, or save it as\n"
      << "# ~/.local/share/bash-completion/completions/graphkit\n"
      << "_graphkit() {\n"
      << "  local current=${COMP_WORDS[COMP_CWORD]} words=''\n"
      << "  local command=${COMP_WORDS[1]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      << "  COMPREPLY=()\n"
      << "  case \"$command $previous\" in\n";
  for (const CommandInfo& command : commands) BashArguments(command, out);
  out << "  esac\n"
      << "  if [[ $COMP_CWORD -eq 1 ]]; then\n    words="
      << ShellQuoted(JoinWords(CommandNames(commands), " ") + " " +
                     JoinWords(OptionNames(root), " "))
      << "\n  elif [[ -z $words && $current == -* ]]; then\n    case $command in\n";
  for (const CommandInfo& command : commands) {
    out << "      " << command.name
        << ") words=" << ShellQuoted(JoinWords(OptionNames(command), " ")) << " ;;\n";
  }
  out << "    esac\n  elif [[ -z $words ]]; then\n    case $command in\n";
  for (const CommandInfo& command : commands) {
    if (command.words.empty()) continue;
    out << "      " << command.name << ") words=" << ShellQuoted(JoinWords(command.words, " "))
        << " ;;\n";
  }
  out << "    esac\n  fi\n"
      << "  if [[ -z $words ]]; then\n    compopt -o default\n    return\n  fi\n"
      << "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      << "}\ncomplete -F _graphkit graphkit\n";
  return out.str();
}

std::string ZshCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands) {
  std::ostringstream out;
  out << "#compdef graphkit\n"
      << "# zsh completion for graphkit: save it as _graphkit in a folder of $fpath.\n"
      << "_graphkit() {\n  local -a commands=(\n";
  for (const CommandInfo& command : commands) {
    out << "    " << ShellQuoted(command.name + ":" + ZshText(command.description)) << "\n";
  }
  out << "  )\n  if (( CURRENT == 2 )); then\n    _describe 'subcommand' commands\n"
      << "    compadd -- " << JoinWords(OptionNames(root), " ") << "\n    return\n  fi\n"
      << "  local command=${words[2]}\n  shift words\n  (( CURRENT-- ))\n"
      << "  case $command in\n";
  for (const CommandInfo& command : commands) ZshCommand(command, out);
  out << "  esac\n}\n_graphkit \"$@\"\n";
  return out.str();
}

std::string FishCompletion(const CommandInfo& root, const std::vector<CommandInfo>& commands) {
  std::ostringstream out;
  out << "# fish completion for graphkit: save it as\n"
      << "# ~/.config/fish/completions/graphkit.fish\n";
  for (const OptionInfo& option : root.options) FishOption("__fish_use_subcommand", option, out);
  for (const CommandInfo& command : commands) {
    out << "complete -c graphkit -n '__fish_use_subcommand' -f -a " << command.name << " -d "
        << ShellQuoted(command.description) << "\n";
    for (const OptionInfo& option : command.options) {
      FishOption("__fish_seen_subcommand_from " + command.name, option, out);
    }
    if (command.words.empty()) continue;
    out << "complete -c graphkit -n " << ShellQuoted("__fish_seen_subcommand_from " + command.name)
        << " -f -a " << ShellQuoted(JoinWords(command.words, " ")) << "\n";
  }
  return out.str();
}

}  // namespace graphkit
