// Errors in a command line, with suggestions; and the look of --help: usage, arguments, options
// with their defaults, examples. 100 columns wide, less on a terminal that has less.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "libgraphkit/result.h"

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

// The argument of an option as people read it: "FILE", "N"; empty for a flag.
std::string OptionArgument(const CLI::Option& option);

// What runs where a file stands in place of a subcommand: no word that anyone types.
inline constexpr const char* kFileCommand = "FILE";

// The first word that should be a subcommand and isn't one, before any parsing.
std::optional<Error> CheckSubcommand(const CLI::App& app, std::span<const std::string> args);

// `graphkit FILE` and `graphkit A B`: with the subcommand that is meant, FILE and diff, where
// the first word is no subcommand and names a file.
std::vector<std::string> WithSubcommand(const CLI::App& app, std::vector<std::string> args);

// Turns what CLI11 threw while parsing into our words.
Error DescribeParseError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace graphkit
