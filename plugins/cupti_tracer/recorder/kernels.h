// Kernels: their names, the layout of their argument buffers, and which arguments are addresses of
// memory that is only read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/process.h"
#include "plugins/cupti_tracer/calls/calls.h"
#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/stacks/machine_code.h"

namespace graphkit {

// The driver's information about a function.
struct KernelLayout {
  std::string name;  // mangled
  bool known = false;
  std::vector<KernelParam> params;
  KernelCode code;
  bool operands = false;  // each parameter is an Operand or a CollectiveParam
  bool operator==(const KernelLayout&) const = default;
};

// The use of one parameter, by its C++ signature.
enum class ParamUse : uint8_t {
  kUnknown,   // not known to be an address, or of what
  kRead,      // const T*
  kAny,       // T*
  kIndirect,  // an address of addresses: more may be touched than the arguments name
  kOperand    // an Operand, or a CollectiveParam
};

// A parameter of a kernel of the software device's libraries: graphkit_soft_operand of
// plugins/soft_cuda/abi/stand_in.h, which says exactly what the kernel touches.
struct Operand {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t use = 0;  // 1: reads, 2: writes, 3: both; 5: reads addresses there
};

// One that says what the kernel does together with other ranks: graphkit_soft_collective there.
struct CollectiveParam {
  uint64_t communicator = 0;
  uint32_t ranks = 0;
  uint32_t rank = 0;
  uint32_t kind = 0;
  uint32_t type = 0;
  uint64_t count = 0;
  int64_t peer = -1;
};
static_assert(sizeof(CollectiveParam) != sizeof(Operand));

// Where a number stands in a kernel's arguments.
struct ScalarPlace {
  uint16_t argument = 0;
  uint16_t offset = 0;  // bytes into it
  uint8_t size = 0;     // 1, 2, 4 or 8
  bool typed = false;   // by the kernel's signature; else it may be an address, or half of one
  bool operator==(const ScalarPlace&) const = default;
};
// By a C++ signature, arguments of arithmetic types, and those of class templates of one such type
// that are as large. Where there is none (extern "C", Triton), all, and structures of up to 64
// bytes in pieces of 4.
std::vector<ScalarPlace> ScalarPlaces(const std::string& mangled,
                                      const std::vector<KernelParam>& params);

struct KernelInfo {
  KernelId id;
  std::string name;
  bool has_layout = false;
  bool indirect = false;  // takes an address of addresses
  std::vector<KernelParam> params;
  std::vector<ParamUse> uses;  // as long as params
  std::vector<ScalarPlace> scalars;
  size_t by_row = ~size_t{0};  // the parameter that begins with an address for each row of blocks
  KernelCode code;
};

// Where an address may stand in an argument: in every aligned word, also inside structs.
inline constexpr size_t kWord = 8;  // bytes of a device address
inline size_t FirstWord(const KernelParam& param) { return (kWord - param.offset % kWord) % kWord; }

// The part of a parameter that a launch reads: PyTorch's CatArrInputTensorMetadata has room for
// more inputs than there are. Row y of the grid copies input y; behind those is what lay on the
// host's stack (aten/src/ATen/native/cuda/Shape.cu).
inline KernelParam ParamOf(const KernelInfo& kernel, const KernelWork& launch, size_t index) {
  KernelParam param = kernel.params[index];
  if (index == kernel.by_row) {
    param.size = static_cast<uint32_t>(std::min<uint64_t>(param.size, kWord * launch.grid[1]));
  }
  return param;
}

// The argument for a parameter; null: it isn't given.
inline const char* ArgumentOf(const KernelWork& launch, const KernelParam& param, size_t index) {
  if (launch.arguments != nullptr) return static_cast<const char*>(launch.arguments[index]);
  const bool packed = launch.packed != nullptr && param.offset + param.size <= launch.packed_bytes;
  return packed ? launch.packed + param.offset : nullptr;
}

// The bits of a number; false: it isn't given, or looks like an address.
inline bool ReadScalar(const KernelWork& launch, const KernelInfo& kernel, ScalarPlace place,
                       uint64_t& bits) {
  const KernelParam& param = kernel.params[place.argument];
  const char* bytes = ArgumentOf(launch, param, place.argument);
  if (bytes == nullptr) return false;
  bits = BitsOf(bytes + place.offset, place.size);
  const size_t word = place.offset / kWord * kWord;
  if (place.typed || word + kWord > param.size) return true;
  uint64_t whole;
  std::memcpy(&whole, bytes + word, kWord);
  return whole >> 32 == 0 || whole >> 48 != 0;
}

// The parameters of a mangled C++ function; empty when the name is not one.
std::vector<ParamUse> ParamUses(const std::string& mangled);

class KernelTable {
 public:
  // The kernel of a function, if that function is known under this name (null: any).
  const KernelInfo* Find(uint64_t function, const char* name) const;

  // Makes a function known. `is_new`: no function had this name and layout before.
  KernelInfo& Add(uint64_t function, KernelLayout layout, bool& is_new);
  // All; the kernels stay.
  void ForgetFunctions() { by_function_.Clear(); }

 private:
  std::deque<KernelInfo> kernels_;
  HandleMap<KernelInfo*> by_function_;
  std::unordered_multimap<std::string, KernelInfo*> by_name_;
};

}  // namespace graphkit
