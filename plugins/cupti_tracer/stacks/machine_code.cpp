#include "plugins/cupti_tracer/stacks/machine_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plugins/elf/elf_file.h"

namespace graphkit {
namespace {

constexpr size_t kInstruction = 16;  // bytes

struct Instruction {
  uint64_t low, high;

  uint32_t opcode() const { return low & 0xfff; }
  bool relative_call() const { return (opcode() & 0x1ff) == 0x144; }
  bool always() const { return (low >> 12 & 0xf) == 7; }  // under the predicate that is true
  // A jump that is always taken: no predicate, of either kind, and no modifier.
  bool jumps_always() const {
    return opcode() == 0x947 && always() && (low >> 24 & 0x3ff) == 0 &&
           (high >> 18 & 0x7fffff) == 0xe0;
  }
  // How far a relative jump goes, in instructions from the next one.
  int64_t distance() const {
    const uint64_t words = (low >> 16 & 0xff) | (low >> 34) << 8 | (high & 0x3ffff) << 38;
    return static_cast<int64_t>(words << 8) >> 8 >> 2;
  }
};

constexpr uint32_t kWait = 0x82e;     // ACQBULK
constexpr uint32_t kTrigger = 0x82d;  // PREEXIT

enum class Flow { kOn, kJump, kEnd, kCall, kReturn, kElsewhere };

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
    case 0x159:  // BRXU
      return Flow::kElsewhere;
    case 0x150:  // RET
      return Flow::kReturn;
    default:
      return Flow::kOn;
  }
}

// True if it may write to global memory. Of copies in bulk, bit 73 tells that they go to shared
// memory.
bool MayWrite(const Instruction& instruction) {
  switch (instruction.opcode() & 0x1ff) {
    case 0x177:  // USTGR
    case 0x178:  // UREDGR
    case 0x17f:  // STG, of 256 bits
    case 0x185:  // ST: generic
    case 0x186:  // STG
    case 0x18a:  // ATOM
    case 0x18b:  // ATOM.CAS
    case 0x18e:  // REDG
    case 0x19b:  // SUST.P
    case 0x19d:  // SUST.D
    case 0x19f:  // SURED
    case 0x1a2:  // ATOM, of floating point
    case 0x1a3:  // ATOMG, of floating point
    case 0x1a6:  // REDG, of floating point
    case 0x1a8:  // ATOMG
    case 0x1a9:  // ATOMG.CAS
    case 0x1b5:  // UTMASTG
    case 0x1b6:  // UTMAREDG
      return true;
    case 0x1ba:  // UBLKCP
    case 0x1bb:  // UBLKRED
      return (instruction.high >> 9 & 1) == 0;
    default:
      return false;
  }
}

Instruction At(std::string_view code, size_t index) {
  Instruction instruction;
  std::memcpy(&instruction, code.data() + index * kInstruction, sizeof instruction);
  return instruction;
}

// Of one instruction: on every way through the code (yes), nowhere (no), or it can't be told.
//
// In the order of addresses: one that no jump from before it passes over, and before which nothing
// ends, lies on every way to an end.
Ternary OnEveryWay(std::string_view code, uint32_t opcode) {
  Ternary found = Ternary::kNo;
  bool may_pass = false;
  size_t jumped_to = 0;
  for (size_t i = 0; i < code.size() / kInstruction; ++i) {
    const Instruction instruction = At(code, i);
    if (instruction.opcode() == opcode) {
      if (instruction.always() && !may_pass && jumped_to <= i) return Ternary::kYes;
      found = Ternary::kUnknown;
      continue;
    }
    const Flow flow = FlowOf(instruction.opcode());
    if (flow == Flow::kOn || flow == Flow::kCall) continue;
    const int64_t target = static_cast<int64_t>(i) + 1 + instruction.distance();
    if (flow == Flow::kJump && target >= 0) {
      jumped_to = std::max(jumped_to, static_cast<size_t>(target));
    } else {
      may_pass = true;
    }
  }
  return found;
}

// All ways on from the triggers of a kernel's code, functions of its own included, which lie behind
// it: a return leads behind every call.
class AfterTriggers {
 public:
  explicit AfterTriggers(std::string_view code)
      : code_(code), reached_(code.size() / kInstruction) {}

  Ternary MayWriteThere() {
    std::vector<size_t> calls;
    for (size_t i = 0; i < reached_.size(); ++i) {
      const uint32_t opcode = At(code_, i).opcode();
      if (opcode == kTrigger) Reach(static_cast<int64_t>(i) + 1);
      if (FlowOf(opcode) == Flow::kCall) calls.push_back(i);
    }
    if (open_.empty()) return Ternary::kUnknown;
    while (!open_.empty()) {
      const size_t i = open_.back();
      open_.pop_back();
      if (MayWrite(At(code_, i))) return Ternary::kYes;
      Follow(i, calls);
    }
    return left_ ? Ternary::kUnknown : Ternary::kNo;
  }

 private:
  void Follow(size_t i, const std::vector<size_t>& calls) {
    const Instruction instruction = At(code_, i);
    const int64_t next = static_cast<int64_t>(i) + 1;
    const Flow flow = FlowOf(instruction.opcode());
    const bool relative = flow == Flow::kJump || instruction.relative_call();
    if (relative) {
      Reach(next + instruction.distance());
    } else if (flow == Flow::kCall || flow == Flow::kElsewhere) {
      left_ = true;
    }
    if (flow == Flow::kReturn) {
      for (const size_t call : calls) Reach(static_cast<int64_t>(call) + 1);
    }
    const bool ends = flow == Flow::kEnd || flow == Flow::kReturn;
    if (ends && instruction.always()) return;
    if (!instruction.jumps_always()) Reach(next);
  }

  void Reach(int64_t index) {
    if (index < 0 || static_cast<size_t>(index) >= reached_.size()) {
      left_ = true;
      return;
    }
    if (reached_[static_cast<size_t>(index)]) return;
    reached_[static_cast<size_t>(index)] = true;
    open_.push_back(static_cast<size_t>(index));
  }

  std::string_view code_;
  std::vector<bool> reached_;
  std::vector<size_t> open_;
  bool left_ = false;  // the code, or to where it doesn't tell
};

// Functions of other sections; those of a kernel's own lie behind it, and are called relatively.
bool CallsOthers(std::string_view code) {
  for (size_t i = 0; i < code.size() / kInstruction; ++i) {
    const Instruction instruction = At(code, i);
    if (FlowOf(instruction.opcode()) == Flow::kCall && !instruction.relative_call()) return true;
  }
  return false;
}

KernelCode ReadCode(std::string_view code) {
  KernelCode found{.waits = OnEveryWay(code, kWait)};
  const Ternary triggers = OnEveryWay(code, kTrigger);
  found.triggers = triggers == Ternary::kNo    ? Triggers::kNo
                   : triggers == Ternary::kYes ? Triggers::kYes
                                               : Triggers::kSome;
  if (found.triggers != Triggers::kNo) {
    found.writes_after_trigger = AfterTriggers(code).MayWriteThere();
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

std::vector<NamedKernelCode> ReadKernelCode(std::string_view cubin) {
  constexpr std::string_view kText = ".text.";
  const ElfFile elf(cubin);
  std::vector<NamedKernelCode> kernels;
  if (ArchitectureOf(elf.header()) < 90) return kernels;
  std::vector<bool> calls;
  bool some_wait = false, some_trigger = false;
  for (size_t i = 0; i < elf.count(); ++i) {
    const Elf64_Shdr section = elf.Section(i);
    const std::string_view name = elf.NameOf(section);
    if (!name.starts_with(kText)) continue;
    const std::string_view code = elf.BytesOf(section);
    kernels.push_back({name.substr(kText.size()), ReadCode(code)});
    some_wait |= kernels.back().code.waits != Ternary::kNo;
    some_trigger |= kernels.back().code.triggers != Triggers::kNo;
    calls.push_back(CallsOthers(code));
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    KernelCode& code = kernels[i].code;
    if (!calls[i]) continue;
    if (some_wait && code.waits == Ternary::kNo) {
      code.waits = Ternary::kUnknown;
      code.triggers = Triggers::kUnknown;
    }
    if (some_trigger && code.triggers == Triggers::kNo) code.triggers = Triggers::kUnknown;
    if (code.writes_after_trigger == Ternary::kNo) code.writes_after_trigger = Ternary::kUnknown;
  }
  return kernels;
}

void MachineCode::Learn(std::string_view cubin) {
  const std::vector<NamedKernelCode> kernels = ReadKernelCode(cubin);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, code] : kernels) {
    const auto [known, is_new] = kernels_.emplace(name, code);
    if (is_new) continue;
    KernelCode& both = known->second;
    if (both.triggers != code.triggers || both.waits != code.waits) {
      both.triggers = Triggers::kUnknown;
    }
    if (both.waits != code.waits) both.waits = Ternary::kUnknown;
    if (both.writes_after_trigger != code.writes_after_trigger)
      both.writes_after_trigger = Ternary::kUnknown;
  }
}

KernelCode MachineCode::Find(const std::string& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto known = kernels_.find(kernel);
  return known == kernels_.end() ? KernelCode() : known->second;
}

}  // namespace graphkit
