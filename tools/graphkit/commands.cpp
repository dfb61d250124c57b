#include "tools/graphkit/commands.h"

namespace graphkit {

namespace {

// One row a line.
// clang-format off
constexpr Command kCommands[] = {
    {"explain", AddExplainCommand},
    {"trace", AddTraceCommand},
    {"analyze", AddAnalyzeCommand},
    {"dot", AddDotCommand},
    {"report", AddReportCommand},
    {"replay", AddReplayCommand},
    {"plan", AddPlanCommand},
    {"estimate", AddEstimateCommand},
    {"pipeline", AddPipelineCommand},
    {"check", AddCheckCommand},
    {"diff", AddDiffCommand},
    {"import", AddImportCommand},
    {"export", AddExportCommand},
    {"synth", AddSynthCommand},
    {"doctor", AddDoctorCommand},
    {"completion", AddCompletionCommand},
    {"help", AddHelpCommand},
};
// clang-format on

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace graphkit
