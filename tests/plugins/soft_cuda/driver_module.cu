// Modules and libraries: what is loaded, what is in it, and what kernels are like.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "code.h"
#include "conformance.h"
#include "kernels.h"
#include "older.h"

using namespace conformance;

namespace {

CUdevice device;

template <typename T>
T Read(CUdeviceptr address) {
  T value{};
  EXPECT_OK(cuMemcpyDtoH(&value, address, sizeof value));
  return value;
}

CUmodule LoadPtx() {
  CUmodule module = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  return module;
}

CUlibrary LoadLibrary() {
  CUlibrary library = nullptr;
  EXPECT_OK(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

// effect: cuModuleLoadData cuModuleUnload cuModuleGetFunction cuModuleGetGlobal
CASE(Modules) {
  CUmodule module = LoadPtx();
  CUfunction add = nullptr;
  CUfunction again = nullptr;
  EXPECT_OK(cuModuleGetFunction(&add, module, "add"));
  EXPECT_OK(cuModuleGetFunction(&again, module, "add"));
  EXPECT(add != nullptr && add == again);
  EXPECT_ERROR(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&add, module, "subtract"));
  EXPECT_FAILS(cuModuleGetFunction(nullptr, module, "add"));
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  EXPECT_OK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
  EXPECT(bytes == 4 && Read<int>(counter) == 7);
  CUdeviceptr settings = 0;
  EXPECT_OK(cuModuleGetGlobal(&settings, &bytes, module, "settings"));
  EXPECT(bytes == 16 && Read<int>(settings) == 0x04030201 && Read<int>(settings + 4) == 0);
  EXPECT_OK(cuModuleGetGlobal(nullptr, &bytes, module, "counter"));
  EXPECT_ERROR(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, &bytes, module, "none"));
  CUmodule other = LoadPtx();  // has variables of its own
  CUdeviceptr others = 0;
  EXPECT_OK(cuModuleGetGlobal(&others, nullptr, other, "counter"));
  EXPECT(others != counter);
  EXPECT_OK(cuModuleUnload(other));
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_FAILS(cuModuleUnload(nullptr));
  EXPECT_FAILS(cuModuleLoadData(&module, nullptr));
  EXPECT_FAILS(cuModuleLoadData(&module, "this is no code"));
  EXPECT_FAILS(cuModuleLoadData(nullptr, kPtx));
}

// effect: cuModuleLoadDataEx cuModuleGetFunctionCount cuModuleEnumerateFunctions
// effect: cuModuleGetLoadingMode
CASE(Options) {
  char log[256] = "x";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT_OK(cuModuleLoadDataEx(&module, kPtx, 2, options, values));
  EXPECT(std::strlen(log) < sizeof log && reinterpret_cast<size_t>(values[1]) < sizeof log);
  EXPECT_FAILS(cuModuleLoadDataEx(&module, kPtx, 2, nullptr, nullptr));
  unsigned count = 0;
  EXPECT_OK(cuModuleGetFunctionCount(&count, module));
  EXPECT(count == 2);
  EXPECT_FAILS(cuModuleGetFunctionCount(nullptr, module));
  std::vector<CUfunction> functions(count);
  EXPECT_OK(cuModuleEnumerateFunctions(functions.data(), count, module));
  CUfunction add = nullptr;
  EXPECT_OK(cuModuleGetFunction(&add, module, "add"));
  EXPECT((functions[0] == add) != (functions[1] == add));
  EXPECT_FAILS(cuModuleEnumerateFunctions(nullptr, count, module));
  CUmoduleLoadingMode mode;
  EXPECT_OK(cuModuleGetLoadingMode(&mode));
  EXPECT(mode == CU_MODULE_EAGER_LOADING || mode == CU_MODULE_LAZY_LOADING);
  ON_SOFT(EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuModuleGetLoadingMode(nullptr)));
  EXPECT_OK(cuModuleUnload(module));
}

// effect: cuLinkCreate cuLinkAddData cuLinkAddFile cuLinkComplete cuLinkDestroy
CASE(Linking) {
  CUlinkState state = nullptr;
  EXPECT_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  std::string text = kPtx;
  EXPECT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "text", 0, nullptr,
                          nullptr));
  char path[] = "/tmp/soft_link_XXXXXX";
  EXPECT(mkstemp(path) >= 0);
  std::ofstream(path) << ".version 7.0\n.target sm_75\n.address_size 64\n"
                         ".visible .entry subtract() { ret; }\n";
  EXPECT_OK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path, 0, nullptr, nullptr));
  std::remove(path);
  void* code = nullptr;
  size_t size = 0;
  EXPECT_OK(cuLinkComplete(state, &code, &size));
  EXPECT(size > 0);
  CUmodule module = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, code));
  EXPECT_OK(cuLinkDestroy(state));
  CUfunction function = nullptr;
  for (const char* name : {"add", "bounded", "subtract"})
    EXPECT_OK(cuModuleGetFunction(&function, module, name));
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_FAILS(cuLinkCreate(0, nullptr, nullptr, nullptr));
  EXPECT_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  EXPECT_FAILS(cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 8, "none", 0, nullptr, nullptr));
  EXPECT_ERROR(CUDA_ERROR_FILE_NOT_FOUND,
               cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/no/such/file", 0, nullptr, nullptr));
  EXPECT_FAILS(cuLinkComplete(state, nullptr, nullptr));
  EXPECT_OK(cuLinkDestroy(state));
  EXPECT_FAILS(cuLinkDestroy(nullptr));
}

bool HasTouch(CUmodule module) {
  unsigned count = 0;
  EXPECT_OK(cuModuleGetFunctionCount(&count, module));
  std::vector<CUfunction> functions(count);
  EXPECT_OK(cuModuleEnumerateFunctions(functions.data(), count, module));
  for (CUfunction function : functions) {
    const char* name = nullptr;
    EXPECT_OK(cuFuncGetName(&name, function));
    if (std::string_view(name).find("Touch") != std::string_view::npos) return true;
  }
  return false;
}

// effect: cuModuleLoad cuModuleLoadFatBinary cuLibraryLoadFromFile
CASE(FatBinaries) {
  const std::string binary = OwnFatBinary();
  CUmodule module = nullptr;
  EXPECT_OK(cuModuleLoadFatBinary(&module, binary.data()));
  EXPECT(HasTouch(module));
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_FAILS(cuModuleLoadFatBinary(&module, nullptr));
  char path[] = "/tmp/soft_module_XXXXXX";
  const int file = mkstemp(path);
  EXPECT(file >= 0);
  std::ofstream(path, std::ios::binary) << binary;
  EXPECT_OK(cuModuleLoad(&module, path));
  EXPECT(HasTouch(module));
  EXPECT_OK(cuModuleUnload(module));
  CUlibrary library = nullptr;
  EXPECT_OK(cuLibraryLoadFromFile(&library, path, nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_OK(cuLibraryUnload(library));
  std::remove(path);
  EXPECT_ERROR(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/no/such/file"));
  EXPECT_ERROR(CUDA_ERROR_FILE_NOT_FOUND, cuLibraryLoadFromFile(&library, "/no/such/file", nullptr,
                                                                nullptr, 0, nullptr, nullptr, 0));
}

// effect: cuFuncGetName cuFuncGetParamInfo cuFuncGetModule cuFuncIsLoaded cuFuncLoad
CASE(Functions) {
  CUmodule module = LoadPtx();
  CUfunction add = nullptr;
  EXPECT_OK(cuModuleGetFunction(&add, module, "add"));
  const char* name = nullptr;
  EXPECT_OK(cuFuncGetName(&name, add));
  EXPECT(std::strcmp(name, "add") == 0);
  EXPECT_FAILS(cuFuncGetName(nullptr, add));
  size_t offset = 0;
  size_t size = 0;
  EXPECT_OK(cuFuncGetParamInfo(add, 1, &offset, &size));
  EXPECT(offset == 8 && size == 4);
  EXPECT_OK(cuFuncGetParamInfo(add, 2, &offset, nullptr));
  EXPECT(offset == 16);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(add, 3, &offset, &size));
  CUmodule of = nullptr;
  EXPECT_OK(cuFuncGetModule(&of, add));
  EXPECT(of == module);
  EXPECT_FAILS(cuFuncGetModule(nullptr, add));
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_MAX;
  EXPECT_OK(cuFuncLoad(add));
  EXPECT_OK(cuFuncIsLoaded(&state, add));
  EXPECT(state == CU_FUNCTION_LOADING_STATE_LOADED);
  EXPECT_FAILS(cuFuncIsLoaded(nullptr, add));
  EXPECT_FAILS(cuFuncLoad(nullptr));
  EXPECT_OK(cuModuleUnload(module));
}

int Get(CUfunction_attribute attribute, CUfunction function) {
  int value = -99;
  EXPECT_OK(cuFuncGetAttribute(&value, attribute, function));
  return value;
}

// effect: cuFuncGetAttribute cuFuncSetAttribute cuFuncSetCacheConfig
CASE(Attributes) {
  CUmodule module = LoadPtx();
  CUfunction add = nullptr;
  CUfunction bounded = nullptr;
  EXPECT_OK(cuModuleGetFunction(&add, module, "add"));
  EXPECT_OK(cuModuleGetFunction(&bounded, module, "bounded"));
  EXPECT(Get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add) == 1024);
  EXPECT(Get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded) == 128);
  EXPECT(Get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, add) == 0);
  EXPECT(Get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, bounded) == 2048);
  EXPECT(Get(CU_FUNC_ATTRIBUTE_NUM_REGS, add) > 0);
  EXPECT(Get(CU_FUNC_ATTRIBUTE_PTX_VERSION, add) == 75);
  int major = 0;
  EXPECT_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT(Get(CU_FUNC_ATTRIBUTE_BINARY_VERSION, add) / 10 == major);
  const auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT(Get(dynamic, bounded) == 46 * 1024);
  int most = 0;
  EXPECT_OK(
      cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
  EXPECT_OK(cuFuncSetAttribute(add, dynamic, most));
  EXPECT(Get(dynamic, add) == most);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(add, dynamic, most + 1));
  EXPECT_FAILS(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_NUM_REGS, 10));
  EXPECT_OK(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
  EXPECT_FAILS(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
  int value = 0;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, add));
  EXPECT_OK(cuFuncSetCacheConfig(add, CU_FUNC_CACHE_PREFER_L1));
  EXPECT_FAILS(cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_L1));
  EXPECT_OK(cuModuleUnload(module));
}

// effect: cuLibraryLoadData cuLibraryUnload cuLibraryGetKernel cuLibraryGetKernelCount
// effect: cuLibraryEnumerateKernels cuLibraryGetModule
CASE(Libraries) {
  CUlibrary library = LoadLibrary();
  CUkernel add = nullptr;
  EXPECT_OK(cuLibraryGetKernel(&add, library, "add"));
  EXPECT_ERROR(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&add, library, "subtract"));
  unsigned count = 0;
  EXPECT_OK(cuLibraryGetKernelCount(&count, library));
  EXPECT(count == 2);
  EXPECT_FAILS(cuLibraryGetKernelCount(nullptr, library));
  std::vector<CUkernel> kernels(count);
  EXPECT_OK(cuLibraryEnumerateKernels(kernels.data(), count, library));
  EXPECT((kernels[0] == add) != (kernels[1] == add));
  EXPECT_FAILS(cuLibraryEnumerateKernels(nullptr, count, library));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_OK(cuLibraryGetModule(&module, library));
  EXPECT_OK(cuModuleGetFunction(&function, module, "add"));
  EXPECT_FAILS(cuLibraryGetModule(nullptr, library));
  EXPECT_OK(cuLibraryUnload(library));
  EXPECT_FAILS(cuLibraryUnload(nullptr));
  EXPECT_FAILS(cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_FAILS(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 3, nullptr, nullptr, 0));
}

// effect: cuLibraryGetGlobal cuLibraryGetManaged cuLibraryGetUnifiedFunction
CASE(LibraryVariables) {
  CUlibrary library = LoadLibrary();
  CUdeviceptr address = 0;
  size_t bytes = 0;
  EXPECT_OK(cuLibraryGetGlobal(&address, &bytes, library, "counter"));
  EXPECT(bytes == 4 && Read<int>(address) == 7);
  EXPECT_ERROR(CUDA_ERROR_NOT_FOUND, cuLibraryGetGlobal(&address, &bytes, library, "none"));
  EXPECT_OK(cuLibraryGetManaged(&address, &bytes, library, "seen_by_both"));
  EXPECT(bytes == 4 && *reinterpret_cast<int*>(address) == 9);
  EXPECT_ERROR(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&address, &bytes, library, "counter"));
  void* function = nullptr;
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuLibraryGetUnifiedFunction(&function, library, "none"));
  EXPECT_OK(cuLibraryUnload(library));
}

// effect: cuKernelGetFunction cuKernelGetLibrary cuKernelGetName cuKernelGetParamInfo
// effect: cuKernelGetAttribute cuKernelSetAttribute cuKernelSetCacheConfig
CASE(Kernels) {
  CUlibrary library = LoadLibrary();
  CUkernel bounded = nullptr;
  EXPECT_OK(cuLibraryGetKernel(&bounded, library, "bounded"));
  CUfunction function = nullptr;
  EXPECT_OK(cuKernelGetFunction(&function, bounded));
  EXPECT(Get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) == 128);
  EXPECT_FAILS(cuKernelGetFunction(nullptr, bounded));
  CUlibrary of = nullptr;
  EXPECT_OK(cuKernelGetLibrary(&of, bounded));
  EXPECT(of == library);
  EXPECT_FAILS(cuKernelGetLibrary(nullptr, bounded));
  const char* name = nullptr;
  EXPECT_OK(cuKernelGetName(&name, bounded));
  EXPECT(std::strcmp(name, "bounded") == 0);
  EXPECT_FAILS(cuKernelGetName(nullptr, bounded));
  size_t offset = 9;
  size_t size = 0;
  EXPECT_OK(cuKernelGetParamInfo(bounded, 0, &offset, &size));
  EXPECT(offset == 0 && size == 8);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamInfo(bounded, 1, &offset, &size));
  int value = 0;
  EXPECT_OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded, device));
  EXPECT(value == 128);
  EXPECT_ERROR(
      CUDA_ERROR_INVALID_DEVICE,
      cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded, 9999));
  const auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_OK(cuKernelSetAttribute(dynamic, 60000, bounded, device));
  EXPECT_OK(cuKernelGetAttribute(&value, dynamic, bounded, device));
  EXPECT(value == 60000);
  EXPECT_ERROR(CUDA_ERROR_INVALID_VALUE, cuKernelSetAttribute(dynamic, 1 << 30, bounded, device));
  EXPECT_OK(cuKernelSetCacheConfig(bounded, CU_FUNC_CACHE_PREFER_SHARED, device));
  EXPECT_FAILS(cuKernelSetCacheConfig(bounded, CU_FUNC_CACHE_PREFER_SHARED, 9999));
  EXPECT_OK(cuLibraryUnload(library));
}

size_t NoShared(int) { return 0; }

// effect: cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize
// effect: cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
// effect: cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyAvailableDynamicSMemPerBlock
CASE(Occupancy) {
  CUmodule module = LoadPtx();
  CUfunction add = nullptr;
  EXPECT_OK(cuModuleGetFunction(&add, module, "add"));
  int blocks = 0;
  int fewer = 0;
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, add, 128, 40 * 1024));
  EXPECT(blocks > fewer && fewer >= 1);
  EXPECT_FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, add, 128, 0));
  int with_flags = 0;
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with_flags, add, 128, 0,
                                                                 CU_OCCUPANCY_DEFAULT));
  EXPECT(with_flags == blocks);
  EXPECT_FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with_flags, add, 0, 0, 0));
  int grid = 0;
  int block = 0;
  int processors = 0;
  EXPECT_OK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, NoShared, 0, 256));
  EXPECT(block > 0 && block <= 256 && grid >= processors);
  EXPECT_FAILS(cuOccupancyMaxPotentialBlockSize(nullptr, &block, add, NoShared, 0, 0));
  EXPECT_OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, add, nullptr, 1024, 0, 0));
  EXPECT(block > 0 && block <= 1024 && block % 32 == 0);
  EXPECT_FAILS(cuOccupancyMaxPotentialBlockSizeWithFlags(nullptr, &block, add, nullptr, 0, 0, 0));
  size_t one = 0;
  size_t two = 0;
  EXPECT_OK(cuOccupancyAvailableDynamicSMemPerBlock(&one, add, 1, 128));
  EXPECT_OK(cuOccupancyAvailableDynamicSMemPerBlock(&two, add, 2, 128));
  EXPECT(one >= two && two > 0);
  ON_SOFT(EXPECT_FAILS(cuOccupancyAvailableDynamicSMemPerBlock(nullptr, add, 1, 128)));
  EXPECT_OK(cuModuleUnload(module));
}

// effect: cuOccupancyMaxPotentialClusterSize cuOccupancyMaxActiveClusters
CASE(Clusters) {
  int clusters = 0;
  EXPECT_OK(cuDeviceGetAttribute(&clusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device));
  if (clusters == 0) return;
  CUmodule module = LoadPtx();
  CUfunction add = nullptr;
  EXPECT_OK(cuModuleGetFunction(&add, module, "add"));
  CUlaunchAttribute cluster = {};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config = {};
  config.gridDimX = 64;
  config.blockDimX = 128;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  int size = 0;
  EXPECT_OK(cuOccupancyMaxPotentialClusterSize(&size, add, &config));
  EXPECT(size == 8);
  EXPECT_FAILS(cuOccupancyMaxPotentialClusterSize(nullptr, add, &config));
  config.attrs = &cluster;
  config.numAttrs = 1;
  EXPECT_OK(cuOccupancyMaxActiveClusters(&clusters, add, &config));
  EXPECT(clusters > 0);
  EXPECT_FAILS(cuOccupancyMaxActiveClusters(nullptr, add, &config));
  EXPECT_OK(cuModuleUnload(module));
}

// effect: cuTensorMapEncodeTiled cuTensorMapReplaceAddress
// effect: cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide
CASE(TensorMaps) {
  CUdeviceptr memory = 0;
  EXPECT_OK(cuMemAlloc(&memory, 1 << 20));
  auto* at = reinterpret_cast<void*>(memory);
  CUtensorMap map = {}, other = {};
  cuuint64_t sizes[] = {64, 32, 16}, strides[] = {128, 4096};
  cuuint32_t box[] = {32, 8, 1}, steps[] = {1, 1, 1};
  auto tiled = [&](void* address, cuuint32_t rank, CUtensorMapSwizzle swizzle) {
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, rank, address, sizes,
                                  strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_OK(tiled(at, 3, CU_TENSOR_MAP_SWIZZLE_NONE));
  other = map;
  EXPECT_OK(tiled(at, 3, CU_TENSOR_MAP_SWIZZLE_64B));
  EXPECT(std::memcmp(&map, &other, sizeof map) != 0);
  EXPECT_OK(tiled(at, 3, CU_TENSOR_MAP_SWIZZLE_NONE));
  EXPECT(std::memcmp(&map, &other, sizeof map) == 0);
  EXPECT_OK(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(memory + 256)));
  EXPECT(std::memcmp(&map, &other, sizeof map) != 0);
  EXPECT_OK(tiled(reinterpret_cast<void*>(memory + 256), 3, CU_TENSOR_MAP_SWIZZLE_NONE));
  EXPECT_OK(cuTensorMapReplaceAddress(&map, at));
  EXPECT(std::memcmp(&map, &other, sizeof map) == 0);
  EXPECT_FAILS(tiled(reinterpret_cast<void*>(memory + 8), 3, CU_TENSOR_MAP_SWIZZLE_NONE));
  EXPECT_FAILS(tiled(at, 0, CU_TENSOR_MAP_SWIZZLE_NONE));
  EXPECT_FAILS(tiled(at, 6, CU_TENSOR_MAP_SWIZZLE_NONE));
  EXPECT_FAILS(tiled(at, 3, CU_TENSOR_MAP_SWIZZLE_32B));  // the box's rows have 64 bytes
  EXPECT_FAILS(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(memory + 8)));
  const int lower[] = {0}, upper[] = {0};
  auto columns = [&](cuuint32_t channels) {
    return cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, at, sizes, strides,
                                   lower, upper, channels, 32, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  auto wide = [&](cuuint32_t channels) {
    return cuTensorMapEncodeIm2colWide(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, at, sizes, strides, 0, 0, channels, 32, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT_OK(columns(64));
  EXPECT(std::memcmp(&map, &other, sizeof map) != 0);
  other = map;
  EXPECT_OK(wide(64));
  EXPECT(std::memcmp(&map, &other, sizeof map) != 0);
  EXPECT_FAILS(columns(0));
  EXPECT_FAILS(wide(257));
  constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  constexpr auto kTogether = CU_TENSOR_MAP_INTERLEAVE_NONE;
  constexpr auto kPlain = CU_TENSOR_MAP_SWIZZLE_NONE;
  constexpr auto kNone = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  constexpr auto kZeros = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  EXPECT_FAILS(cuTensorMapEncodeTiled(nullptr, kType, 3, at, sizes, strides, box, steps, kTogether,
                                      kPlain, kNone, kZeros));
  EXPECT_FAILS(cuTensorMapEncodeIm2col(nullptr, kType, 3, at, sizes, strides, lower, upper, 64, 32,
                                       steps, kTogether, kPlain, kNone, kZeros));
  EXPECT_FAILS(cuTensorMapEncodeIm2colWide(nullptr, kType, 3, at, sizes, strides, 0, 0, 64, 32,
                                           steps, kTogether, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                                           kPlain, kNone, kZeros));
  EXPECT_OK(cuMemFree(memory));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));  // makes the primary context current
  EXPECT_OK(cuDeviceGet(&device, 0));
  RunCases();
  return Finish("driver_module");
}
