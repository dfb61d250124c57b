#include "plugins/cupti_tracer/machine_code.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

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

// Reads beyond the end give zeros and nothing.
class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes), header_(At<Elf64_Ehdr>(0)) {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 && header_.e_machine == EM_CUDA) {
      count_ = header_.e_shnum;
    }
    names_ = Bytes(Section(header_.e_shstrndx));
  }

  size_t count() const { return count_; }
  Elf64_Shdr Section(size_t index) const {
    return At<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::string_view Bytes(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size()) return {};
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  std::string_view Name(const Elf64_Shdr& section) const {
    if (section.sh_name >= names_.size()) return {};
    const std::string_view name = names_.substr(section.sh_name);
    return name.substr(0, name.find('\0'));
  }
  // 90 for sm_90 and sm_90a. ABI 8 (CUDA 13) has it in another byte than those before.
  uint32_t architecture() const {
    const bool late = header_.e_ident[EI_ABIVERSION] >= 8;
    return late ? header_.e_flags >> 8 & 0xff : header_.e_flags & 0xff;
  }

 private:
  template <typename T>
  T At(uint64_t offset) const {
    T value{};
    if (offset <= bytes_.size() && bytes_.size() - offset >= sizeof value) {
      std::memcpy(&value, bytes_.data() + offset, sizeof value);
    }
    return value;
  }

  std::string_view bytes_;
  Elf64_Ehdr header_;
  std::string_view names_;
  size_t count_ = 0;
};

}  // namespace

std::vector<KernelWaits> ReadKernelWaits(std::string_view cubin) {
  constexpr std::string_view kText = ".text.";
  const Elf elf(cubin);
  std::vector<KernelWaits> kernels;
  if (elf.architecture() < 90) return kernels;
  std::vector<bool> calls;
  bool some_wait = false;
  for (size_t i = 0; i < elf.count(); ++i) {
    const Elf64_Shdr section = elf.Section(i);
    const std::string_view name = elf.Name(section);
    if (!name.starts_with(kText)) continue;
    const Code code = Scan(elf.Bytes(section));
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
