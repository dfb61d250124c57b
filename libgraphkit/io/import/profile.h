// Reads profiles of captures and of replays (model/profile.h).
#pragma once

#include <functional>
#include <string>

#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/io/import/kineto_events.h"
#include "libgraphkit/io/import/node_times.h"
#include "libgraphkit/model/profile.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Adds the captures in a Chrome trace of PyTorch's profiler: launches between StreamBeginCapture
// and StreamEndCapture of one thread, with the operators, Python functions and annotations around
// them. `name` stands for captures that no annotation names.
Result<void> ReadKinetoCaptures(ByteSource& source, const std::string& name, Profile* profile);

// Adds the work that launches of graphs ran.
Result<void> ReadKinetoReplays(ByteSource& source, Profile* profile);
// The same from an export of Nsight Systems: file_format.h.
Result<void> ReadNsysReplays(std::string_view bytes, Profile* profile);

// The events of a profile, one after another.
using ProfileEvents = std::function<Result<void>(const TakeKinetoEvent&)>;
Result<void> ReadReplays(const ProfileEvents& events, Profile* profile);
// Adds captures without their places, too; gives the numbers of everything in the file.
Result<ProfileCounts> ReadWork(const ProfileEvents& events, Profile* profile);

}  // namespace graphkit
