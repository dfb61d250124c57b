// The faulting addresses in the text of another tool:
//
//     ========= Address 0x7f1c2a000400 is out of bounds            compute-sanitizer
//     … MMU Fault: … faulted @ 0x7f1c_2a000400. Fault is of …      an Xid line of the kernel's log
//     Illegal access to address (@global)0x7f1c2a000400 detected   cuda-gdb
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/result.h"
#include "libgraphkit/units.h"

namespace graphkit {

// "0x7f1c2a000400", "0x7f1c_2a000400", or without the 0x. Nothing when it isn't a number of this
// kind of at most 64 bits.
std::optional<Address> ParseAddress(std::string_view text);

// Each address once, in the order of the text. Addresses of code and of allocations don't count.
std::vector<Address> FaultsIn(std::string_view text);

// The same of a file; "-": stdin. Fails when it names no address.
Result<std::vector<Address>> ReadFaults(const std::string& path);

}  // namespace graphkit
