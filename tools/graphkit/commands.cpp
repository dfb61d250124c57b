#include "tools/graphkit/commands.h"

namespace graphkit {

namespace {

constexpr Command kCommands[] = {
    {"trace", AddTraceCommand},
    {"doctor", AddDoctorCommand},
    {"help", AddHelpCommand},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace graphkit
