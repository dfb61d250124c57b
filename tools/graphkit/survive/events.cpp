#include "tools/graphkit/survive/events.h"

#include <cstddef>

namespace graphkit {
namespace {

struct EventText {
  const char* address;
  const char* drops;     // scratch, inputs
  const char* keeps;     // constants, state, what is unknown
  const char* later;     // outputs
  const char* again[4];  // by RegistrationKind
};

constexpr const char* kOpenAfter =
    "drivers before 610 refuse memory of several processes: close it before, and open it again "
    "after";

// In the order of SurviveEvent.
constexpr EventText kEventTexts[] = {
    {", which must come back at the same addresses",
     "may be dropped",
     "must come back",
     "may be dropped later",
     {nullptr, nullptr, "export the new memory, and let others open it again, or bind it again",
      "what was registered with their library: registrations with NCCL aren't recorded"}},
    {": the driver copies all of it to the host, and back to the same addresses",
     "needn't be kept",
     "comes back by itself",
     "comes back, too",
     {nullptr, kOpenAfter, kOpenAfter,
      "communicators: the library says whether they may be checkpointed"}},
    {", of which a new process has no content; it may have other addresses (graphkit diff "
     "--layout)",
     "needn't be saved",
     "must be saved",
     "read it before",
     {"register it again", "open it again", "export it and let others open it, or bind it, again",
      "make communicators, and register with them, again"}},
};

const EventText& TextOf(SurviveEvent event) { return kEventTexts[static_cast<size_t>(event)]; }

}  // namespace

const char* AddressText(SurviveEvent event) { return TextOf(event).address; }

const char* FateOf(SurviveEvent event, ContentClass what) {
  const EventText& text = TextOf(event);
  switch (what) {
    case ContentClass::kScratch:
    case ContentClass::kInput:
      return text.drops;
    case ContentClass::kOutput:
      return text.later;
    default:
      return text.keeps;
  }
}

const char* AgainText(SurviveEvent event, RegistrationKind kind) {
  return TextOf(event).again[static_cast<size_t>(kind)];
}

}  // namespace graphkit
