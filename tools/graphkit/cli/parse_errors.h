// What is wrong with a command line, and what to type instead.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "libgraphkit/result.h"

namespace graphkit {

// The first word that should be a subcommand and isn't one, before any parsing.
std::optional<Error> CheckSubcommand(const CLI::App& app, std::span<const std::string> args);

// Turns what CLI11 threw while parsing into our words.
Error DescribeParseError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace graphkit
