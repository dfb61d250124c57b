// What becomes of memory, and of what is known by its address, when a server sleeps, is
// checkpointed or starts again (docs/survive.md has the sources).
#pragma once

#include <cstdint>

#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/model/names.h"
#include "tools/graphkit/survive/registrations.h"

namespace graphkit {

enum class SurviveEvent : uint8_t {
  kSleep,       // physical memory is unmapped, and mapped again at its addresses
  kCheckpoint,  // the driver copies device memory to the host, and back; handles stay
  kRestart,     // a new process
};
GRAPHKIT_NAMES(SurviveEvent, "sleep", "checkpoint", "restart")

// "which must come back at the same addresses": of the memory that graphs touch.
const char* AddressText(SurviveEvent event);

// "may be dropped": of the class, and of those below it that have the same.
const char* FateOf(SurviveEvent event, ContentClass what);

// What must be done again; null: it stays as it is.
const char* AgainText(SurviveEvent event, RegistrationKind kind);

}  // namespace graphkit
