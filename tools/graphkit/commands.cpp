#include "tools/graphkit/commands.h"

namespace graphkit {

namespace {

constexpr Command kCommands[] = {
    {"trace", AddTraceCommand},
    {"dot", AddDotCommand},
    {"doctor", AddDoctorCommand},
    {"completion", AddCompletionCommand},
    {"help", AddHelpCommand},
    {"synth", AddSynthCommand},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace graphkit
