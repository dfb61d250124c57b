// The subcommands: one file each, one row each in the table of main.cpp. A row's function adds the
// subcommand to the application and gives it a callback; the callback sets `exit_code` and never
// throws.
#pragma once

#include <span>

#include <CLI/CLI.hpp>

namespace graphkit {

struct Command {
  const char* name;
  void (*add)(CLI::App& app, int& exit_code);
};

void AddAnalyzeCommand(CLI::App& app, int& exit_code);
void AddCheckCommand(CLI::App& app, int& exit_code);
void AddCompletionCommand(CLI::App& app, int& exit_code);
void AddDiffCommand(CLI::App& app, int& exit_code);
void AddDoctorCommand(CLI::App& app, int& exit_code);
void AddEstimateCommand(CLI::App& app, int& exit_code);
void AddExplainCommand(CLI::App& app, int& exit_code);
void AddExportCommand(CLI::App& app, int& exit_code);
void AddSynthCommand(CLI::App& app, int& exit_code);
void AddDotCommand(CLI::App& app, int& exit_code);
void AddImportCommand(CLI::App& app, int& exit_code);
void AddHelpCommand(CLI::App& app, int& exit_code);
void AddPlanCommand(CLI::App& app, int& exit_code);
void AddPipelineCommand(CLI::App& app, int& exit_code);
void AddReplayCommand(CLI::App& app, int& exit_code);
void AddReportCommand(CLI::App& app, int& exit_code);
void AddTraceCommand(CLI::App& app, int& exit_code);

// Every subcommand there is, in the order of `graphkit --help`.
std::span<const Command> Commands();

}  // namespace graphkit
