// What memory of graphs is known by outside of the process's own allocations: after a sleep, a
// checkpoint or a restart it has to be registered, opened or bound again. And what else graphs hold
// that a new process has to make again.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/analysis/launches/content.h"

namespace graphkit {

enum class RegistrationKind : uint8_t {
  kHost,           // memory of the host, registered with CUDA
  kImported,       // of another process or API
  kShared,         // others map it: exported, or bound to a multicast object
  kCommunication,  // kernels exchange it with other devices: NCCL may have it registered
};
GRAPHKIT_NAMES(RegistrationKind, "host", "imported", "shared", "communication")

struct Registration {
  RegistrationKind kind = RegistrationKind::kHost;
  Bytes bytes = 0;  // that graphs touch, at the last launch
  BlockId first;    // that has some of them
  // New physical memory, where that of a capture was shared and this isn't: others have the old.
  Bytes lost = 0;
  BlockId lost_first;  // the mapping of some of it
  bool operator==(const Registration&) const = default;
};
// By kind; those without bytes are left out. `content`: of FindContent.
std::vector<Registration> FindRegistrations(const Facts& facts,
                                            std::span<const ContentRange> content);

// Nodes of graphs that run.
struct HeldByGraphs {
  uint64_t kernels = 0;         // functions, each once
  uint64_t host_functions = 0;  // nodes
  uint64_t events = 0;          // events, each once
  bool operator==(const HeldByGraphs&) const = default;
};
HeldByGraphs FindHeldByGraphs(const Facts& facts);

}  // namespace graphkit
