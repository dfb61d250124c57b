// Putting code together from parts. Nothing is linked: PTX follows PTX, and one image stays what it
// is.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/code/module_load.h"

namespace graphkit::soft::driver {
namespace {

CUresult AddPart(Linker* linker, CUjitInputType type, const std::string& bytes) {
  const bool code =
      type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_CUBIN || type == CU_JIT_INPUT_FATBINARY;
  if (!code) {
    Explain(
        "objects and libraries of the host can't be linked here: only PTX, cubins and fat "
        "binaries can");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const bool ptx = type == CU_JIT_INPUT_PTX;
  if (bytes.size() < sizeof(uint64_t))
    return ptx ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE;
  const std::vector<Image> images = ReadImages(bytes.data());
  if (images.empty()) return ptx ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE;
  const Image* image = ChooseImage(images, CurrentContext()->gpu->figures.architecture);
  if (image == nullptr) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (image->ptx && !ReadPtx(image->bytes)) return CUDA_ERROR_INVALID_PTX;
  linker->parts.push_back(*image);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult LinkCreate_v2(unsigned int count, CUjit_option* options, void** values, CUlinkState* out) {
  if (out == nullptr || !AreOptions(options, values, count)) return CUDA_ERROR_INVALID_VALUE;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Lock lock = LockDevice();
  GiveLogs(options, values, count);
  *out = Device::Get().linkers.Make()->handle();
  return CUDA_SUCCESS;
}

CUresult LinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size,
                        const char*, unsigned int count, CUjit_option* options, void** values) {
  const Lock lock = LockDevice();
  auto* linker = Resolve<Linker>(state);
  if (linker == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (data == nullptr || size == 0 || !AreOptions(options, values, count))
    return CUDA_ERROR_INVALID_VALUE;
  return AddPart(linker, type, std::string(static_cast<const char*>(data), size));
}

CUresult LinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path,
                        unsigned int count, CUjit_option* options, void** values) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return LinkAddData_v2(state, type, bytes.data(), bytes.size(), path, count, options, values);
}

CUresult LinkComplete(CUlinkState state, void** out, size_t* size) {
  const Lock lock = LockDevice();
  auto* linker = Resolve<Linker>(state);
  if (linker == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr || size == nullptr || linker->parts.empty()) return CUDA_ERROR_INVALID_VALUE;
  const bool text = std::ranges::all_of(linker->parts, &Image::ptx);
  if (!text && linker->parts.size() > 1) {
    Explain("a cubin can't be linked with other code here");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  linker->linked.clear();
  for (const Image& part : linker->parts) linker->linked += part.bytes.c_str() + std::string("\n");
  if (!text) linker->linked = linker->parts.front().bytes;
  *out = linker->linked.data();
  *size = linker->linked.size() + (text ? 1 : 0);  // with its end
  return CUDA_SUCCESS;
}

CUresult LinkDestroy(CUlinkState state) {
  const Lock lock = LockDevice();
  auto* linker = Resolve<Linker>(state);
  if (linker == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Device::Get().linkers.Unmake(linker);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
