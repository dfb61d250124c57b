// Parameters of calls that give out memory or take it back.
#include <cuda.h>
#include <cupti.h>

#include "plugins/cupti_tracer/driver_decoders.h"
#include "plugins/cupti_tracer/driver_params.h"

namespace graphkit::decode {
namespace {}  // namespace

void OfPool(const CallParams& params, Call& call) {
  call.pool = Address(As<cuMemPoolDestroy_params>(params).pool);
}
void Alloc(const CallParams& params, Call& call) {
  const auto& p = As<cuMemAlloc_v2_params>(params);
  call.is_allocation = true;
  call.size = p.bytesize;
  if (params.done) call.address = *p.dptr;
}
void AllocPitch(const CallParams& params, Call& call) {
  const auto& p = As<cuMemAllocPitch_v2_params>(params);
  call.is_allocation = true;
  if (!params.done) return;
  call.size = *p.pPitch * p.Height;
  call.address = *p.dptr;
}
void AllocHost(const CallParams& params, Call& call) {
  const auto& p = As<cuMemAllocHost_v2_params>(params);
  call.is_allocation = true;
  call.pool_kind = PoolKind::kHost;
  call.size = p.bytesize;
  if (params.done) call.address = Address(*p.pp);
}
void AllocManaged(const CallParams& params, Call& call) {
  Alloc(params, call);
  call.pool_kind = PoolKind::kManaged;
}
void AllocAsync(const CallParams& params, Call& call) {
  const auto& p = As<cuMemAllocAsync_params>(params);
  call.is_allocation = true;
  call.pool_kind = PoolKind::kStream;
  call.stream = Stream(params, p.hStream);
  call.size = p.bytesize;
  if (params.done) call.address = *p.dptr;
}
void AllocFromPool(const CallParams& params, Call& call) {
  const auto& p = As<cuMemAllocFromPoolAsync_params>(params);
  call.is_allocation = true;
  call.pool_kind = PoolKind::kStream;
  call.pool = Address(p.pool);
  call.stream = Stream(params, p.hStream);
  call.size = p.bytesize;
  if (params.done) call.address = *p.dptr;
}
void Map(const CallParams& params, Call& call) {
  const auto& p = As<cuMemMap_params>(params);
  call.is_allocation = true;
  call.address = p.ptr;
  call.size = p.size;
}
void Free(const CallParams& params, Call& call) {
  call.address = As<cuMemFree_v2_params>(params).dptr;
}
void FreeAsync(const CallParams& params, Call& call) {
  const auto& p = As<cuMemFreeAsync_params>(params);
  call.address = p.dptr;
  call.stream = Stream(params, p.hStream);
}
void PoolCreate(const CallParams& params, Call& call) {
  if (params.done) call.pool = Address(*As<cuMemPoolCreate_params>(params).pool);
}

}  // namespace graphkit::decode
