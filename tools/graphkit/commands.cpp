#include "tools/graphkit/commands.h"

namespace graphkit {

namespace {

constexpr Command kCommands[] = {
    {"dot", AddDotCommand},
    {"doctor", AddDoctorCommand},
    {"help", AddHelpCommand},
    {"synth", AddSynthCommand},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace graphkit
