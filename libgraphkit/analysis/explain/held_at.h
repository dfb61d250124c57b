// The moment of a run that a user names: analyze --at.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Empty for "peak", "end" and a number; otherwise the message about the text.
std::string CheckMoment(const std::string& text);

// "peak": the moment of the highest memory in use, on the device with the highest peak; "end" or
// "": the end; a number: an event of that device in a history, else a record. Fails when there is
// no such event.
Result<HeldAt> FindHeldAt(const std::string& text, const Trace& trace);

// "record 33"; "event 3,697" of a history. `events`: the places of its events (PlacesOfEvents).
std::string RecordText(const std::vector<Seq>& events, Seq seq);

}  // namespace graphkit
