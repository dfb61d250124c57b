#include "plugins/cupti_tracer/machine_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plugins/cupti_tracer/elf_file.h"

namespace graphkit {
namespace {

constexpr size_t kInstruction = 16;  // bytes

struct Instruction {
  uint64_t low, high;

  uint32_t opcode() const { return low & 0xfff; }
  bool always() const { return (low >> 12 & 0xf) == 7; }  // under the predicate that is true
  // How far a relative jump goes, in instructions from the next one.
  int64_t distance() const {
    const uint64_t words = (low >> 16 & 0xff) | (low >> 34) << 8 | (high & 0x3ffff) << 38;
    return static_cast<int64_t>(words << 8) >> 8 >> 2;
  }
};

constexpr uint32_t kWait = 0x82e;  // ACQBULK

enum class Flow { kOn, kJump, kEnd, kCall, kElsewhere };

// Bits 9 to 11 of an opcode tell the kinds of its operands.
Flow FlowOf(uint32_t opcode) {
  switch (opcode & 0x1ff) {
    case 0x147:  // BRA
      return Flow::kJump;
    case 0x14d:  // EXIT
    case 0x15b:  // KILL
      return Flow::kEnd;
    case 0x143:  // CALL
    case 0x144:  // CALL.REL
      return Flow::kCall;
    case 0x142:  // BREAK
    case 0x149:  // BRX
    case 0x14a:  // JMP
    case 0x14c:  // JMX
    case 0x150:  // RET
    case 0x159:  // BRXU
      return Flow::kElsewhere;
    default:
      return Flow::kOn;
  }
}

Instruction At(std::string_view code, size_t index) {
  Instruction instruction;
  std::memcpy(&instruction, code.data() + index * kInstruction, sizeof instruction);
  return instruction;
}

struct Code {
  Ternary waits = Ternary::kNo;
  bool calls = false;  // what it calls may wait
};

// In the order of addresses: a wait that no jump from before it passes over, and before which
// nothing ends, lies on every way to an end.
Code Scan(std::string_view code) {
  Code found;
  bool may_pass = false;
  size_t jumped_to = 0;
  for (size_t i = 0; i < code.size() / kInstruction; ++i) {
    const Instruction instruction = At(code, i);
    if (instruction.opcode() == kWait) {
      if (instruction.always() && !may_pass && jumped_to <= i) return {Ternary::kYes, false};
      found.waits = Ternary::kUnknown;
      continue;
    }
    const Flow flow = FlowOf(instruction.opcode());
    if (flow == Flow::kOn) continue;
    if (flow == Flow::kCall) found.calls = true;
    const int64_t target = static_cast<int64_t>(i) + 1 + instruction.distance();
    if (flow == Flow::kJump && target >= 0) {
      jumped_to = std::max(jumped_to, static_cast<size_t>(target));
    } else if (flow != Flow::kCall) {
      may_pass = true;
    }
  }
  return found;
}

// 90 for sm_90 and sm_90a; 0: no machine code. ABI 8 (CUDA 13) has it in another byte than those
// before.
uint32_t ArchitectureOf(const Elf64_Ehdr& header) {
  if (header.e_machine != EM_CUDA) return 0;
  const bool late = header.e_ident[EI_ABIVERSION] >= 8;
  return late ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
}

}  // namespace

std::vector<KernelWaits> ReadKernelWaits(std::string_view cubin) {
  constexpr std::string_view kText = ".text.";
  const ElfFile elf(cubin);
  std::vector<KernelWaits> kernels;
  if (ArchitectureOf(elf.header()) < 90) return kernels;
  std::vector<bool> calls;
  bool some_wait = false;
  for (size_t i = 0; i < elf.count(); ++i) {
    const Elf64_Shdr section = elf.Section(i);
    const std::string_view name = elf.NameOf(section);
    if (!name.starts_with(kText)) continue;
    const Code code = Scan(elf.BytesOf(section));
    some_wait |= code.waits != Ternary::kNo;
    kernels.push_back({name.substr(kText.size()), code.waits});
    calls.push_back(code.calls);
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (calls[i] && some_wait && kernels[i].waits == Ternary::kNo) {
      kernels[i].waits = Ternary::kUnknown;
    }
  }
  return kernels;
}

void MachineCode::Learn(std::string_view cubin) {
  const std::vector<KernelWaits> kernels = ReadKernelWaits(cubin);
  const std::lock_guard lock(mutex_);
  for (const KernelWaits& kernel : kernels) {
    const auto [known, is_new] = waits_.emplace(kernel.name, kernel.waits);
    if (!is_new && known->second != kernel.waits) known->second = Ternary::kUnknown;
  }
}

Ternary MachineCode::Waits(const std::string& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto known = waits_.find(kernel);
  return known == waits_.end() ? Ternary::kUnknown : known->second;
}

}  // namespace graphkit
