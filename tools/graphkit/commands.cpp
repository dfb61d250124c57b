#include "tools/graphkit/commands.h"

namespace graphkit {

namespace {

// clang-format off: one row a line
constexpr Command kCommands[] = {
    {"trace", AddTraceCommand},   {"analyze", AddAnalyzeCommand},
    {"dot", AddDotCommand},       {"check", AddCheckCommand},
    {"diff", AddDiffCommand},     {"replay", AddReplayCommand},
    {"plan", AddPlanCommand},     {"synth", AddSynthCommand},
    {"doctor", AddDoctorCommand}, {"completion", AddCompletionCommand},
    {"help", AddHelpCommand},
};
// clang-format on

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace graphkit
