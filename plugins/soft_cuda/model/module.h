// Modules: what a fat binary, cubin or PTX text says about its kernels and variables. Code is never
// run.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/soft_cuda/model/handle.h"

namespace graphkit::soft {

struct Context;
struct Module;

struct Parameter {
  uint32_t offset;  // bytes, in the argument buffer
  uint32_t size;    // bytes
  bool operator==(const Parameter&) const = default;
};

struct KernelInfo {
  std::string name;
  bool layout_known = true;
  std::vector<Parameter> parameters;
  uint32_t registers = 0;
  uint32_t shared_bytes = 0;
  uint32_t local_bytes = 0;
  uint32_t max_threads = 1024;
  uint32_t cluster[3] = {0, 0, 0};  // blocks; 0: not said by the code
};

struct VariableInfo {
  std::string name;
  uint64_t size = 0;
  bool constant = false;
  bool managed = false;
  std::string initial;  // bytes; shorter than size: the rest is zero
};

struct ModuleInfo {
  std::vector<KernelInfo> kernels;
  std::vector<VariableInfo> variables;
  unsigned architecture = 0;  // 90: sm_90; of the image that was chosen
};

// A parameter of a kernel that may hold addresses of memory that it writes (kernel_writes.h).
struct WriteSlot {
  enum class Use : uint8_t {
    kWritten,    // memory at the address is written
    kUnknown,    // or not
    kFirst,      // an array of addresses: the first one's memory is written, the others' is read
    kLambda,     // a lambda of PyTorch's own kernels
    kReduction,  // PyTorch's ReduceOp
    kOperand,    // graphkit_soft_operand
  };
  uint32_t parameter;
  uint32_t offset;  // in the argument buffer
  uint32_t words;   // of 8 bytes
  Use use;
};

struct Function;

// The target of a CUkernel handle. Calls that take functions take these, too.
struct alignas(8) Kernel {
  Tag tag = Tag::kKernel;
  Function* function;
};

// A kernel's code. A CUfunction handle is its address.
struct Function {
  static constexpr Tag kTag = Tag::kFunction;
  Tag tag = kTag;
  Kernel kernel{.function = this};
  Module* module = nullptr;
  KernelInfo info;
  std::map<int, int> attributes;                           // set by the user
  std::optional<std::vector<WriteSlot>> write_slots = {};  // once it was launched

  size_t argument_bytes() const {
    return info.parameters.empty() ? 0
                                   : info.parameters.back().offset + info.parameters.back().size;
  }
  CUfunction handle() { return reinterpret_cast<CUfunction>(this); }
  CUkernel kernel_handle() { return reinterpret_cast<CUkernel>(&kernel); }
  // The function of a handle that is a CUkernel; null: it is none.
  template <typename Handle>
  static Function* BehindAlias(Handle handle) {
    auto* kernel = reinterpret_cast<Kernel*>(handle);
    if (kernel == nullptr || kernel->tag != Tag::kKernel) return nullptr;
    return kernel->function->tag == kTag ? kernel->function : nullptr;
  }
};

struct Variable {
  uint64_t address;
  uint64_t size;
  bool managed = false;
};
using Variables = std::map<std::string, Variable, std::less<>>;

// CUmodule and CUlibrary handles are both its address.
struct Module {
  static constexpr Tag kTag = Tag::kModule;
  Tag tag = kTag;
  bool library = false;
  uint32_t id = 0;
  std::vector<Function*> functions;
  std::vector<VariableInfo> variable_infos;
  std::map<int, Variables> variables;  // by the device that they lie on
  unsigned architecture = 0;           // 90: sm_90; of the chosen image
  bool ptx = false;                    // compiled for the device when it was loaded
  std::string image;                   // the chosen cubin, for CUPTI

  CUmodule handle() { return reinterpret_cast<CUmodule>(this); }
  CUlibrary library_handle() { return reinterpret_cast<CUlibrary>(this); }
};

struct Image {
  bool ptx = false;
  unsigned architecture = 0;
  std::string bytes;
};

// The images in what cuModuleLoadData and __cudaRegisterFatBinary take: a wrapper, a fat binary, an
// ELF or PTX. Images whose compression isn't known are left out.
std::vector<Image> ReadImages(const void* data);
// The image that a device of this architecture would use: the nearest cubin below it, else PTX;
// null if none.
const Image* ChooseImage(const std::vector<Image>& images, unsigned architecture);
std::optional<ModuleInfo> ReadCubin(std::string_view elf);
// 90: sm_90. Since CUDA 13 another byte of the flags tells it (ABI version 8), as seen in cubins of
// nvcc 12.4 and 13.0.
unsigned CubinArchitecture(std::string_view elf);
// None: not PTX, which begins with a version and a target.
std::optional<ModuleInfo> ReadPtx(std::string_view text);
unsigned PtxArchitecture(std::string_view text);

std::optional<std::string> DecompressLz4(std::string_view data, size_t size);
std::optional<std::string> DecompressZstd(std::string_view data, size_t size);

// Code that is put together from parts before it is loaded.
struct Linker {
  static constexpr Tag kTag = Tag::kLinker;
  Tag tag = kTag;
  std::vector<Image> parts{};
  std::string linked{};

  CUlinkState handle() { return reinterpret_cast<CUlinkState>(this); }
};

}  // namespace graphkit::soft
