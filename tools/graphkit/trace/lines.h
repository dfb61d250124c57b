// Source lines of recorded call stacks. The tracer, a guest, writes where in a file each call is;
// the lines are looked up when the program has ended, by a symbolizer that is installed (addr2line
// of binutils, of elfutils or of LLVM):
//
//     ["Layer::Run()", "/home/me/app", 0] at 0x12cc   ──►   ["Launch", "layer.cu", 5]   inlined
//     there
//                                                           ["Layer::Run()", "layer.cu", 17]
//
// The launch stubs that nvcc makes are left out where lines are known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphkit {

// A frame as it stands in a trace: function, file, line (0: unknown).
struct SourceFrame {
  std::string function;
  std::string file;
  uint32_t line = 0;
  bool operator==(const SourceFrame&) const = default;
};

// Reads a symbolizer's output for addresses with -a -f -i -C: by address the functions that are
// inlined there, innermost first, then the one that holds them; nothing for unknown ones.
std::vector<std::pair<uint64_t, std::vector<SourceFrame>>> ReadSymbolizer(std::string_view text);

// Puts lines into the stacks of a trace, which is replaced once it is whole, and says what stands
// in the way, if anything does.
void AddSourceLines(const std::string& trace);

}  // namespace graphkit
