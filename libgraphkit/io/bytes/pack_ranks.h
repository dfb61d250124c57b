// Messages between the processes of an MPI job about the traces that they read, as bytes: never a
// file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/model/rank_report.h"

namespace graphkit {

std::string PackRank(const RankSummary& rank);
std::string PackSubject(const GateSubject& subject);

// Nothing when the bytes aren't one.
std::optional<RankSummary> UnpackRank(std::string_view bytes);
std::optional<GateSubject> UnpackSubject(std::string_view bytes);

}  // namespace graphkit
