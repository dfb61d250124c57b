// What a later run is compared with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/gate.h"

namespace graphkit {

// What `subjects` have, less the findings that are suppressed in `verdict`.
Baseline MakeBaseline(const std::vector<GateSubject>& subjects, const GateVerdict& verdict);

// What a baseline knows each subject by: its file's name, with as many folders before it as are
// needed to tell the subjects apart.
std::vector<std::string> TraceKeys(const std::vector<GateSubject>& subjects);

// The entry for each subject, null where there is none: that of its key, or, where both sides have
// one trace only, that one.
std::vector<const BaselineTrace*> FindBaselineTraces(const Baseline& baseline,
                                                     const std::vector<GateSubject>& subjects);

// A finding by what it says and where it comes from: its check, graph, source function and message,
// with numbers left out, so that it stays the same when ids, sizes and lines move.
std::string Fingerprint(const GateSubject& subject, size_t finding);

// "/a/b.json" → "b.json".
std::string_view FileName(std::string_view path);

// Number of graphs of the same name before each graph of the report.
std::vector<uint32_t> GraphOrdinals(const Report& report);

}  // namespace graphkit
