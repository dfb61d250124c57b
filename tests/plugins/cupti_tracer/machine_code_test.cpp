#include "plugins/cupti_tracer/stacks/machine_code.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

namespace graphkit {
namespace {

// 90 and its code as one kernel "k", and a function "f" beside it.
std::string Cubin(const std::string& kernel, const std::string& function = "",
                  uint32_t architecture = 90) {
  const std::string names = std::string("\0.names\0.text.k\0.text.f\0", 24);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_machine = EM_CUDA;
  header.e_flags = architecture << 8;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 1;
  Elf64_Shdr sections[4]{};
  uint64_t at = sizeof header;
  const auto place = [&at](Elf64_Shdr& section, uint32_t name, size_t size) {
    section.sh_name = name;
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = at;
    section.sh_size = size;
    at += size;
  };
  place(sections[1], 1, names.size());
  place(sections[2], 8, kernel.size());
  place(sections[3], 16, function.size());
  header.e_shoff = at;
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + names + kernel +
         function + std::string(reinterpret_cast<const char*>(sections), sizeof sections);
}

std::string Instruction(uint64_t low, uint64_t high = 0) {
  const uint64_t words[] = {low, high};
  return std::string(reinterpret_cast<const char*>(words), sizeof words);
}

const std::string kWait = Instruction(0x782e);
const std::string kWaitIfP0 = Instruction(0x082e);
const std::string kAdd = Instruction(0x7810);
const std::string kExit = Instruction(0x794d);
const std::string kExitIfP0 = Instruction(0x094d);
const std::string kCall = Instruction(0x7943);
const std::string kJumpSomewhere = Instruction(0x7949);  // BRX

// BRA over `count` instructions, under predicate 0; backwards when negative.
std::string Jump(int64_t count) {
  const auto words = static_cast<uint64_t>(count * 4);
  return Instruction(0x0947 | (words & 0xff) << 16 | words >> 8 << 34, words >> 38 & 0x3ffff);
}

// Stores to global memory, and what isn't one.
const std::string kStore = Instruction(0x7986);
const std::string kStoreShared = Instruction(0x7388);
const std::string kLoad = Instruction(0x7981);
const std::string kCopyToGlobal = Instruction(0x73ba, 0x404);
const std::string kCopyToShared = Instruction(0x73ba, 0x204);
const std::string kTrigger = Instruction(0x782d);
const std::string kTriggerIfP0 = Instruction(0x082d);
const std::string kReturn = Instruction(0x7950);

// BRA or CALL.REL over `count` instructions, always.
std::string Always(uint64_t opcode, int64_t count) {
  const auto words = static_cast<uint64_t>(count * 4);
  return Instruction(opcode | (words & 0xff) << 16 | words >> 8 << 34,
                     (words >> 38 & 0x3ffff) | 0x3800000);
}
std::string JumpAlways(int64_t count) { return Always(0x7947, count); }
std::string CallOver(int64_t count) { return Always(0x7944, count); }

KernelCode CodeOf(const std::string& code) {
  const std::string cubin = Cubin(code);
  const std::vector<NamedKernelCode> kernels = ReadKernelCode(cubin);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "k");
  return kernels[0].code;
}
Ternary WaitsOf(const std::string& code) { return CodeOf(code).waits; }
Triggers TriggersOf(const std::string& code) { return CodeOf(code).triggers; }
Ternary WritesAfter(const std::string& code) { return CodeOf(code).writes_after_trigger; }

Ternary WaitsIn(const MachineCode& code, const std::string& kernel) {
  return code.Find(kernel).waits;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a wait on every way to the end is one") {
  CHECK(WaitsOf(kWait + kExit) == Ternary::kYes);
  CHECK(WaitsOf(kAdd + kWait + kAdd + kExit) == Ternary::kYes);
  CHECK(WaitsOf(Jump(1) + kAdd + kWait + kExit) == Ternary::kYes);          // to the wait
  CHECK(WaitsOf(kAdd + kAdd + Jump(-2) + kWait + kExit) == Ternary::kYes);  // a loop
  CHECK(WaitsOf(kWaitIfP0 + kWait + kExit) == Ternary::kYes);
}

TEST_CASE("code without a wait has none") {
  CHECK(WaitsOf(kAdd + kExit) == Ternary::kNo);
  CHECK(WaitsOf(kJumpSomewhere + kExit) == Ternary::kNo);
  CHECK(WaitsOf("") == Ternary::kNo);
}

TEST_CASE("a wait that some way misses proves nothing") {
  CHECK(WaitsOf(kWaitIfP0 + kExit) == Ternary::kUnknown);
  CHECK(WaitsOf(Jump(1) + kWait + kExit) == Ternary::kUnknown);  // over it
  CHECK(WaitsOf(kExitIfP0 + kWait + kExit) == Ternary::kUnknown);
  CHECK(WaitsOf(kJumpSomewhere + kWait + kExit) == Ternary::kUnknown);
}

TEST_CASE("what a kernel calls may wait, where something waits") {
  const auto first = [](const std::string& cubin) {
    return ReadKernelCode(cubin).at(0).code.waits;
  };
  CHECK(first(Cubin(kCall + kExit, kWait + kExit)) == Ternary::kUnknown);
  CHECK(first(Cubin(kCall + kExit, kAdd + kExit)) == Ternary::kNo);
  CHECK(first(Cubin(kAdd + kExit, kWait + kExit)) == Ternary::kNo);
}

TEST_CASE("a trigger is on every way, on some, or nowhere") {
  CHECK(TriggersOf(kTrigger + kExit) == Triggers::kYes);
  CHECK(TriggersOf(kStore + kTrigger + kExit) == Triggers::kYes);
  CHECK(TriggersOf(kTriggerIfP0 + kExit) == Triggers::kSome);
  CHECK(TriggersOf(kExitIfP0 + kTrigger + kExit) == Triggers::kSome);
  CHECK(TriggersOf(kWait + kStore + kExit) == Triggers::kNo);
  CHECK(ReadKernelCode(Cubin(kCall + kExit, kTrigger + kExit)).at(0).code.triggers ==
        Triggers::kUnknown);
}

TEST_CASE("what may follow a trigger is found on every way from it") {
  CHECK(WritesAfter(kTrigger + kStore + kExit) == Ternary::kYes);
  CHECK(WritesAfter(kStore + kTrigger + kLoad + kStoreShared + kExit) == Ternary::kNo);
  CHECK(WritesAfter(kStore + kExit) == Ternary::kUnknown);  // nothing triggers
  CHECK(WritesAfter(kTrigger + kCopyToGlobal + kExit) == Ternary::kYes);
  CHECK(WritesAfter(kTrigger + kCopyToShared + kExit) == Ternary::kNo);
  CHECK(WritesAfter(kStore + kTrigger + Jump(-3) + kExit) == Ternary::kYes);  // a loop
  CHECK(WritesAfter(kTrigger + JumpAlways(1) + kStore + kExit) == Ternary::kNo);
  CHECK(WritesAfter(kTrigger + Jump(1) + kStore + kExit) == Ternary::kYes);
  CHECK(WritesAfter(kTrigger + kExitIfP0 + kStore + kExit) == Ternary::kYes);
  CHECK(WritesAfter(kTrigger + kExit + kStore + kExit) == Ternary::kNo);
}

TEST_CASE("functions of a kernel's own code are followed, others are not known") {
  CHECK(WritesAfter(kTrigger + CallOver(1) + kExit + kStore + kReturn) == Ternary::kYes);
  CHECK(WritesAfter(kTrigger + CallOver(1) + kExit + kLoad + kReturn) == Ternary::kNo);
  // The function triggers, its caller writes.
  CHECK(WritesAfter(CallOver(2) + kStore + kExit + kTrigger + kReturn) == Ternary::kYes);
  CHECK(WritesAfter(kTrigger + kCall + kExit) == Ternary::kUnknown);
  CHECK(WritesAfter(kTrigger + kJumpSomewhere + kExit) == Ternary::kUnknown);
  CHECK(WritesAfter(kTrigger + Jump(100) + kExit) == Ternary::kUnknown);
}

TEST_CASE("other architectures and files say nothing") {
  CHECK(ReadKernelCode(Cubin(kWait + kExit, "", 89)).empty());
  CHECK(ReadKernelCode("").empty());
  CHECK(ReadKernelCode(".version 9.0\n.target sm_90\n").empty());
}

TEST_CASE("modules that differ under one name leave the kernel unknown") {
  MachineCode code;
  CHECK(WaitsIn(code, "k") == Ternary::kUnknown);
  code.Learn(Cubin(kWait + kExit));
  CHECK(WaitsIn(code, "k") == Ternary::kYes);
  code.Learn(Cubin(kWait + kExit));
  CHECK(WaitsIn(code, "k") == Ternary::kYes);
  code.Learn(Cubin(kAdd + kExit));
  CHECK(WaitsIn(code, "k") == Ternary::kUnknown);
  code.Learn(Cubin(kWait + kExit));
  CHECK(WaitsIn(code, "k") == Ternary::kUnknown);
}

TEST_CASE("damaged cubins are read without harm") {
  const std::string whole = Cubin(kAdd + kCall + kWait + Jump(3) + kExit, kWait + kExit);
  const uint64_t seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged =
        whole.substr(0, random() % 4 == 0 ? random() % whole.size() : whole.size());
    for (uint64_t i = random() % 8; i > 0 && !damaged.empty(); --i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    for (const NamedKernelCode& kernel : ReadKernelCode(damaged)) {
      CHECK(kernel.name.size() < damaged.size());
    }
  }
}

#ifdef GRAPHKIT_CUBINS
TEST_CASE("nvcc's code is read as its source says") {
  std::istringstream paths(GRAPHKIT_CUBINS);
  for (std::string path; std::getline(paths, path, ':');) {
    CAPTURE(path);
    MachineCode code;
    code.Learn(ReadFile(path));
    CHECK(WaitsIn(code, "_Z6AlwaysPi") == Ternary::kYes);
    CHECK(WaitsIn(code, "_Z9AfterWorkPii") == Ternary::kYes);
    CHECK(WaitsIn(code, "_Z9SometimesPii") == Ternary::kUnknown);
    CHECK(WaitsIn(code, "_Z18NotAfterAnEarlyEndPii") == Ternary::kUnknown);
    // On some ways, not only in what it may call.
    CHECK(code.Find("_Z9SometimesPii").triggers != Triggers::kUnknown);
    CHECK(code.Find("_Z18NotAfterAnEarlyEndPii").triggers != Triggers::kUnknown);
    CHECK(WaitsIn(code, "_Z5NeverPi") == Ternary::kNo);
    CHECK(WaitsIn(code, "_Z12OnlyTriggersPi") == Ternary::kNo);
    CHECK(WaitsIn(code, "_Z7InACallPii") == Ternary::kUnknown);
    CHECK(WaitsIn(code, "_Z16DividesThenTellsPff") == Ternary::kNo);
    using enum Triggers;
    const auto check = [&](const char* kernel, Triggers triggers, Ternary writes) {
      CAPTURE(kernel);
      CHECK(code.Find(kernel).triggers == triggers);
      CHECK(code.Find(kernel).writes_after_trigger == writes);
    };
    check("_Z5NeverPi", kNo, Ternary::kUnknown);
    check("_Z12OnlyTriggersPi", kYes, Ternary::kYes);
    check("_Z14TriggersAtLastPi", kYes, Ternary::kNo);
    check("_Z17TriggersSometimesPii", kSome, Ternary::kYes);
    check("_Z14TriggersInLoopPii", kSome, Ternary::kYes);
    check("_Z16DividesThenTellsPff", kYes, Ternary::kNo);
    check("_Z16TellsThenDividesPff", kYes, Ternary::kYes);
    check("_Z13WritesInACallPii", kYes, Ternary::kYes);
    check("_Z13ReducesAtLastPf", kYes, Ternary::kYes);
    check("_Z15OnlySharedAfterPii", kYes, Ternary::kNo);
  }
}
#endif

}  // namespace graphkit
