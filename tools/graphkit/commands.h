// The subcommands: one file each in commands/, one row each here. Parsing, help, completion and the
// check of docs/cli.md follow from the row.
//
// A row's function adds the subcommand to the application and gives it a callback; the callback
// sets `exit_code` and never throws.
#pragma once

#include <CLI/CLI.hpp>

namespace graphkit {

// Name and group, in the order of `graphkit --help`.
#ifdef GRAPHKIT_WEB  // the page for the browser (tools/web)
#define GRAPHKIT_COMMANDS(ROW)   \
  ROW(File, "Inspect a file")    \
  ROW(Analyze, "Inspect a file") \
  ROW(Report, "Inspect a file")  \
  ROW(Diff, "Inspect a file")
#else
#define GRAPHKIT_COMMANDS(ROW)            \
  ROW(File, "Inspect a file")             \
  ROW(Analyze, "Inspect a file")          \
  ROW(Where, "Inspect a file")            \
  ROW(Attribute, "Inspect a file")        \
  ROW(Dot, "Inspect a file")              \
  ROW(Report, "Inspect a file")           \
  ROW(Diff, "Inspect a file")             \
  ROW(Check, "Inspect a file")            \
  ROW(Trace, "Make and convert traces")   \
  ROW(Import, "Make and convert traces")  \
  ROW(Export, "Make and convert traces")  \
  ROW(Replay, "Replay and plan memory")   \
  ROW(Plan, "Replay and plan memory")     \
  ROW(Survive, "Replay and plan memory")  \
  ROW(Estimate, "Replay and plan memory") \
  ROW(Doctor, "About graphkit")           \
  ROW(Example, "About graphkit")          \
  ROW(Completion, "About graphkit")       \
  ROW(Help, "About graphkit")
#endif

#define GRAPHKIT_DECLARE(name, group) void Add##name##Command(CLI::App& app, int& exit_code);
GRAPHKIT_COMMANDS(GRAPHKIT_DECLARE)
#undef GRAPHKIT_DECLARE

}  // namespace graphkit
