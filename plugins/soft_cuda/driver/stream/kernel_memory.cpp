#include "plugins/soft_cuda/driver/stream/kernel_memory.h"

#include <cstring>
#include <utility>
#include <vector>

#include "plugins/soft_cuda/abi/stand_in.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"
#include "plugins/soft_cuda/driver/stream/submit.h"
#include "plugins/soft_cuda/model/kernel_writes.h"

namespace graphkit::soft::driver {
namespace {

const std::vector<WriteSlot>& SlotsOf(Function& function) {
  if (!function.write_slots) {
    const bool stand_in = graphkit_soft_has_operands(reinterpret_cast<uint64_t>(&function)) != 0;
    function.write_slots = WriteSlots(function.info, stand_in);
  }
  return *function.write_slots;
}

// The end of the device memory that holds an address; 0: it is no such address. Memory that the
// host writes itself isn't meant: what is in it is known.
uint64_t EndOfMemory(uint64_t address) {
  Device& device = Device::Get();
  if (device.allocations.empty() || address < device.allocations.begin()->first) return 0;
  const auto found = device.FindAllocation(address);
  if (found == device.allocations.end() || found->second.shared ||
      found->second.of != MemoryOf::kDevice)
    return 0;
  switch (found->second.kind) {
    case AllocationKind::kDevice:
    case AllocationKind::kPool:
    case AllocationKind::kGraph:
    case AllocationKind::kMapped:
      return found->first + found->second.size;
    default:
      return 0;
  }
}

void AddOperand(const std::byte* at, std::vector<Passed>& memory) {
  graphkit_soft_operand operand;
  std::memcpy(&operand, at, sizeof operand);
  if ((operand.use & GRAPHKIT_SOFT_WRITES) == 0 || EndOfMemory(operand.address) == 0) return;
  memory.push_back(
      {.begin = operand.address, .end = operand.address + operand.bytes, .exact = true});
}

void AddWords(const WriteSlot& slot, const std::byte* at, std::vector<Passed>& memory) {
  std::vector<uint64_t> words(slot.words);
  std::memcpy(words.data(), at, 8 * words.size());
  const auto is_memory = [](uint64_t word) { return EndOfMemory(word) != 0; };
  for (const WrittenWord& word : WrittenWords(slot.use, words, is_memory))
    memory.push_back({word.address, EndOfMemory(word.address), word.sure});
}

// `params`: one pointer a parameter; null: the values are in `buffer`.
std::vector<Passed> MemoryOf(Function& function, void** params, const KernelArguments& buffer) {
  std::vector<Passed> memory;
  for (const WriteSlot& slot : SlotsOf(function)) {
    if (params == nullptr && slot.offset + 8 * size_t{slot.words} > buffer.size) continue;
    const std::byte* at = params != nullptr ? static_cast<const std::byte*>(params[slot.parameter])
                                            : buffer.bytes.get() + slot.offset;
    slot.use == WriteSlot::Use::kOperand ? AddOperand(at, memory) : AddWords(slot, at, memory);
  }
  return memory;
}

Work PassingWork(std::vector<Passed> memory) {
  return {.what = "a kernel",
          .run = [memory = std::move(memory)] { Device::Get().backing.Pass(memory); }};
}

}  // namespace

void PassMemory(Stream* stream, Function& function, void** kernel_params, void** extra) {
  if (!Device::Get().backing.follows_kernels() || !function.info.layout_known) return;
  KernelArguments buffer;
  if (extra != nullptr && CopyArguments(function, nullptr, extra, &buffer) != CUDA_SUCCESS) return;
  if (extra == nullptr && kernel_params == nullptr) return;
  std::vector<Passed> memory = MemoryOf(function, kernel_params, buffer);
  if (!memory.empty()) Push(stream, PassingWork(std::move(memory)));
}

std::vector<Work> PassedBy(const KernelParams& params) {
  std::vector<Work> works;
  if (!Device::Get().backing.follows_kernels() || !params.arguments.bytes) return works;
  if (!params.function->info.layout_known) return works;
  std::vector<Passed> memory = MemoryOf(*params.function, nullptr, params.arguments);
  if (!memory.empty()) works.push_back(PassingWork(std::move(memory)));
  return works;
}

}  // namespace graphkit::soft::driver
