// Captured copies of memory of the host that isn't page-locked.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

struct HostCopy {
  NodeId node;
  HostEnd end;
  // Every launch of the node's graph makes the copy: the node was never given other parameters, and
  // never switched off.
  bool always = false;
};

// By node; of a node's own record, and of the parameters that it was given later.
std::vector<HostCopy> FindHostCopies(const Trace& trace);

// "reads 4 KiB of pageable memory at 0x7f0000": what a copy does with the host's memory.
std::string HostCopyText(const HostEnd& end);

// Memory that the program had already, and made known to CUDA (cudaHostRegister).
bool IsRegistered(const Trace& trace, const Block& block);

}  // namespace graphkit
