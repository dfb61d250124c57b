// Messages between the processes of an MPI job about the traces that they read, as bytes: never a
// file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "libgraphkit/model/gate.h"

namespace graphkit {

std::string PackSubject(const GateSubject& subject);

// Nothing when the bytes aren't one.
std::optional<GateSubject> UnpackSubject(std::string_view bytes);

}  // namespace graphkit
