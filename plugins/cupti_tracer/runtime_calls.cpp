// Functions of the runtime that aren't listened to.
#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <iterator>

#include "plugins/cupti_tracer/driver_calls.h"

namespace graphkit {
namespace {

#define GRAPHKIT_RUNTIME_ID(call) CUPTI_RUNTIME_TRACE_CBID_##call
// cudaGetLastError and the like, device and attribute queries, what nvcc emits around launches.
constexpr uint16_t kRuntimeNoise[] = {
    GRAPHKIT_RUNTIME_ID(cudaDriverGetVersion_v3020),
    GRAPHKIT_RUNTIME_ID(cudaRuntimeGetVersion_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetDeviceCount_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetDeviceProperties_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetLastError_v3020),
    GRAPHKIT_RUNTIME_ID(cudaPeekAtLastError_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetErrorString_v3020),
    GRAPHKIT_RUNTIME_ID(cudaSetDevice_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetDevice_v3020),
    GRAPHKIT_RUNTIME_ID(cudaFreeHost_v3020),
    GRAPHKIT_RUNTIME_ID(cudaMemGetInfo_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetSymbolAddress_v3020),
    GRAPHKIT_RUNTIME_ID(cudaGetSymbolSize_v3020),
    GRAPHKIT_RUNTIME_ID(cudaSetDoubleForDevice_v3020),
    GRAPHKIT_RUNTIME_ID(cudaPointerGetAttributes_v4000),
    GRAPHKIT_RUNTIME_ID(cudaDeviceGetAttribute_v5000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetPriority_v5050),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetFlags_v5050),
    GRAPHKIT_RUNTIME_ID(cudaDeviceGetStreamPriorityRange_v5050),
    GRAPHKIT_RUNTIME_ID(cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6000),
    GRAPHKIT_RUNTIME_ID(cudaGetErrorName_v6050),
    GRAPHKIT_RUNTIME_ID(cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050),
    GRAPHKIT_RUNTIME_ID(cudaGetDeviceFlags_v7000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetPriority_ptsz_v7000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetFlags_ptsz_v7000),
    GRAPHKIT_RUNTIME_ID(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000),
    GRAPHKIT_RUNTIME_ID(cudaDeviceGetP2PAttribute_v8000),
    GRAPHKIT_RUNTIME_ID(cudaStreamIsCapturing_v10000),
    GRAPHKIT_RUNTIME_ID(cudaStreamIsCapturing_ptsz_v10000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_v10010),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_ptsz_v10010),
    GRAPHKIT_RUNTIME_ID(cudaGetFuncBySymbol_v11000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetAttribute_v11000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetAttribute_ptsz_v11000),
    GRAPHKIT_RUNTIME_ID(cudaGetDriverEntryPoint_v11030),
    GRAPHKIT_RUNTIME_ID(cudaGetDriverEntryPoint_ptsz_v11030),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_v2_v11030),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_v2_ptsz_v11030),
    GRAPHKIT_RUNTIME_ID(cudaGetKernel_v12000),
    GRAPHKIT_RUNTIME_ID(cudaGetDeviceProperties_v12000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetId_v12000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetId_ptsz_v12000),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_v12030),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetCaptureInfo_ptsz_v12030),
    GRAPHKIT_RUNTIME_ID(cudaFuncGetParamInfo_v12040),
    GRAPHKIT_RUNTIME_ID(cudaGetDriverEntryPointByVersion_v12050),
    GRAPHKIT_RUNTIME_ID(cudaGetDriverEntryPointByVersion_ptsz_v12050),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetDevice_v12080),
    GRAPHKIT_RUNTIME_ID(cudaStreamGetDevice_ptsz_v12080),
    GRAPHKIT_RUNTIME_ID(cudaGetExportTable_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterFatBinary_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterFatBinaryEnd_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaUnregisterFatBinary_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterVar_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterHostVar_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterFunction_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterManagedVar_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaInitModule_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaPushCallConfiguration_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaPopCallConfiguration_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaGetKernel_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaRegisterUnifiedTable_v13000),
    GRAPHKIT_RUNTIME_ID(__cudaGetProcAddress_v13000)};

#undef GRAPHKIT_RUNTIME_ID

}  // namespace

bool IsRuntimeNoise(uint32_t id) {
  return std::binary_search(std::begin(kRuntimeNoise), std::end(kRuntimeNoise), id);
}

}  // namespace graphkit
