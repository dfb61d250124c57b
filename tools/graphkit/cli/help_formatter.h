// The look of --help: usage, arguments, options with their defaults, examples. 100 columns
// wide, less on a terminal that has less.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace graphkit {

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

// Columns of help on stdout.
size_t HelpWidth();

// "-o, --output FILE", "--format text|json", "<trace>".
std::string OptionHeading(const CLI::Option& option);

// What a person reads as the argument of an option: "FILE", "N"; empty for a flag.
std::string OptionArgument(const CLI::Option& option);

}  // namespace graphkit
