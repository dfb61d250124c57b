// Code that a program loads itself: PTX text, and the fat binary that nvcc put into the program.
#pragma once

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace conformance {

// Two kernels, a variable, a constant, and a managed variable.
inline constexpr char kPtx[] = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .global .align 4 .u32 counter = 7;
.visible .const .align 4 .b8 settings[16] = {1, 2, 3, 4};
.visible .global .attribute(.managed) .align 4 .u32 seen_by_both = 9;

// .entry in a comment
.visible .entry add(
  .param .u64 target,
  .param .u32 amount,
  .param .align 8 .b8 rest[24]
)
{
  .reg .b64 %at;
  .reg .b32 %value;
  ld.param.u64 %at, [target];
  ld.param.u32 %value, [amount];
  cvta.to.global.u64 %at, %at;
  st.global.u32 [%at], %value;
  ret;
}

.visible .entry bounded(.param .u64 target)
.maxntid 128, 1, 1
{
  .reg .b32 %place;
  .shared .align 4 .b8 room[2048];
  mov.u32 %place, room;
  st.shared.u32 [%place], %place;
  ret;
}
)";

inline std::string ReadWhole(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The largest of the fat binaries that follow each other in a section: u32 magic, u16 version,
// u16 bytes of the header, u64 bytes behind it.
inline std::string Largest(const std::string& section) {
  const std::string magic = "\x50\xed\x55\xba";
  std::string largest;
  for (size_t at = 0; (at = section.find(magic, at)) != std::string::npos;) {
    unsigned short header = 0;
    unsigned long long rest = 0;
    std::memcpy(&header, section.data() + at + 6, sizeof header);
    std::memcpy(&rest, section.data() + at + 8, sizeof rest);
    if (header + rest > largest.size()) largest = section.substr(at, header + rest);
    at += header + rest;
  }
  return largest;
}

// The program's own fat binary.
inline std::string OwnFatBinary() {
  const std::string program = ReadWhole("/proc/self/exe");
  Elf64_Ehdr header;
  std::memcpy(&header, program.data(), sizeof header);
  const auto section = [&](unsigned index) {
    Elf64_Shdr found;
    std::memcpy(&found, program.data() + header.e_shoff + index * sizeof found, sizeof found);
    return found;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr candidate = section(i);
    if (std::strcmp(program.data() + names.sh_offset + candidate.sh_name, ".nv_fatbin") == 0)
      return Largest(program.substr(candidate.sh_offset, candidate.sh_size));
  }
  return {};
}

}  // namespace conformance
