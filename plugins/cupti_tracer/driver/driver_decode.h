// How a driver function's parameters become a Call: by the names and types of their fields, which
// are the same in all functions and in the structures that these are given. `hStream` is the stream
// of whatever has one; the handle behind a `phEvent` is there when the call has returned.
#pragma once

#include <cuda.h>

#include "plugins/cupti_tracer/driver/driver_calls.h"

namespace graphkit {

// Rows of bytes in layers: `pitch` bytes from one row to the next, `layer` rows from one layer to
// the next.
struct Volume {
  uint64_t width = 0;
  uint64_t height = 1;
  uint64_t depth = 1;
  uint64_t pitch = 0;
  uint64_t layer = 1;

  // From the first byte to the last.
  uint64_t Span() const {
    if (width == 0 || height == 0 || depth == 0) return 0;
    return ((depth - 1) * layer + height - 1) * pitch + width;
  }
  // None where all of these bytes are in rows, or where they are too large for that.
  AccessRows Rows() const;
};

#define GRAPHKIT_HAS(...) constexpr(requires { __VA_ARGS__; })
#define GRAPHKIT_TAKE(field) \
  if GRAPHKIT_HAS (p.field) Take(p.field)
#define GRAPHKIT_OPEN(field) \
  if GRAPHKIT_HAS (p.field) Open(p.field)

class ParamReader {
 public:
  ParamReader(const CallParams& params, Call& call) : params_(params), call_(call) {}

  // Reads the parameters of a function, or a structure that one of them points to.
  void Read(const auto& p) {
    ReadHandles(p);
    ReadSettings(p);
    ReadEdges(p);
    ReadMemory(p);
    ReadPool(p);
    ReadKernel(p);
    ReadCopy(p);
    ReadSet(p);
    ReadBatch(p);
    GRAPHKIT_OPEN(config);
    GRAPHKIT_OPEN(nodeParams);
    GRAPHKIT_OPEN(copyParams);
    GRAPHKIT_OPEN(memsetParams);
    GRAPHKIT_OPEN(pCopy);
    GRAPHKIT_OPEN(instantiateParams);
  }
  // A node of any kind.
  void Read(const CUgraphNodeParams& p);

 private:
  static uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

  // A field that goes by its type.
  void Take(CUstream stream) { call_.stream = StreamHandle(stream, params_.row->per_thread); }
  void Take(CUevent event) { call_.event = Address(event); }
  void Take(CUgraph graph) { call_.graph = Address(graph); }
  void Take(CUgraphExec exec) { call_.exec = Address(exec); }
  void Take(CUgraphNode node) { call_.node = Address(node); }
  void Take(CUmemoryPool pool) { call_.pool = Address(pool); }
  void Take(CUgraphExecUpdateResult result) { call_.flags = static_cast<uint64_t>(result); }
  void Take(auto* out) {
    if (params_.done && out != nullptr) Take(*out);
  }
  void Open(const auto* structure) {
    if (structure != nullptr) Read(*structure);
  }

  void ReadHandles(const auto& p) {
    GRAPHKIT_TAKE(hStream);
    GRAPHKIT_TAKE(stream);
    GRAPHKIT_TAKE(phStream);
    GRAPHKIT_TAKE(hEvent);
    GRAPHKIT_TAKE(event);
    GRAPHKIT_TAKE(phEvent);
    GRAPHKIT_TAKE(hGraph);  // the exec's of a launch
    GRAPHKIT_TAKE(phGraphClone);
    GRAPHKIT_TAKE(hGraphExec);
    GRAPHKIT_TAKE(phGraphExec);
    GRAPHKIT_TAKE(hNode);
    GRAPHKIT_TAKE(pool);
    GRAPHKIT_TAKE(pool_out);
    if GRAPHKIT_HAS (p.originalGraph) call_.original = Address(p.originalGraph);
    if GRAPHKIT_HAS (p.childGraph) call_.original = Address(p.childGraph);
  }

  void ReadSettings(const auto& p) {
    if GRAPHKIT_HAS (p.flags) call_.flags = p.flags;
    if GRAPHKIT_HAS (p.Flags) call_.flags = p.Flags;
    if GRAPHKIT_HAS (p.isEnabled) call_.flags = p.isEnabled;
    if GRAPHKIT_HAS (p.priority) call_.priority = p.priority;
    if GRAPHKIT_HAS (p.mode) call_.mode = static_cast<uint8_t>(p.mode);
    // The result of an update is there whether it succeeded or not.
    if GRAPHKIT_HAS (p.updateResult_out) {
      if (p.updateResult_out != nullptr) Take(*p.updateResult_out);
    }
    if GRAPHKIT_HAS (p.resultInfo) {
      if (p.resultInfo != nullptr) {
        Take(p.resultInfo->result);
        call_.node = Address(p.resultInfo->errorNode);
        call_.from_node = Address(p.resultInfo->errorFromNode);
      }
    }
    if GRAPHKIT_HAS (p.hErrorNode_out) {
      if (p.hErrorNode_out != nullptr) call_.node = Address(*p.hErrorNode_out);
    }
    if GRAPHKIT_HAS (p.hErrNode_out; p.result_out) {
      call_.node = Address(p.hErrNode_out);
      call_.reason = static_cast<int32_t>(p.result_out);
    }
    // Of all attributes of kernel nodes one is recorded.
    if GRAPHKIT_HAS (p.attr) {
      const bool updatable = p.attr == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
      if (updatable && p.value != nullptr) {
        call_.flags = p.value->deviceUpdatableKernelNode.deviceUpdatable != 0;
      }
    }
  }

  // The ends of edges, where data may go with them, and what a stream is to depend on.
  void ReadEdges(const auto& p) {
    const CUgraphEdgeData* data = nullptr;
    if GRAPHKIT_HAS (p.dependencyData) data = p.dependencyData;
    if GRAPHKIT_HAS (p.edgeData) data = p.edgeData;
    auto add = [&](CUgraphNode from, CUgraphNode to, size_t i) {
      const CUgraphEdgeData of_edge = data != nullptr ? data[i] : CUgraphEdgeData{};
      call_.dependencies.push_back(
          {Address(from), Address(to), of_edge.from_port, of_edge.to_port, of_edge.type});
    };
    if GRAPHKIT_HAS (p.edgeData) {
      for (size_t i = 0; data != nullptr && i < p.numDependencies; ++i) add(p.from[i], p.to[i], i);
    }
    if constexpr (requires { p.dependencies; } &&
                  (
                      requires { p.hStream; } || requires { p.dependencyData; })) {
      const bool given = p.dependencies != nullptr;
      for (size_t i = 0; given && i < p.numDependencies; ++i) add(p.dependencies[i], nullptr, i);
    }
  }

  void ReadMemory(const auto& p) {
    ReadAllocation(p);
    ReadPhysical(p);
    ReadTensorMap(p);
    ReadAddress(p);
  }

  void ReadAllocation(const auto& p) {
    if GRAPHKIT_HAS (p.bytesize) {
      call_.size = p.bytesize;
      call_.is_allocation = true;
      if GRAPHKIT_HAS (p.hStream) call_.pool_kind = PoolKind::kStream;
    }
    if GRAPHKIT_HAS (p.pPitch) {
      call_.is_allocation = true;
      if (params_.done) call_.size = *p.pPitch * p.Height;
    }
    if GRAPHKIT_HAS (p.ptr; p.size) {  // of a mapping
      call_.address = p.ptr;
      call_.size = p.size;
      call_.is_allocation = params_.row->kind == CallKind::kAlloc;
    }
    if GRAPHKIT_HAS (p.pp) {
      call_.pool_kind = PoolKind::kHost;
      if (params_.done) call_.address = Address(*p.pp);
    }
  }

  // A handle of physical memory.
  void ReadPhysical(const auto& p) {
    if GRAPHKIT_HAS (p.ptr; p.handle; p.offset) {
      call_.mapping = true;
      if (p.offset == 0) call_.physical = p.handle;
    } else if GRAPHKIT_HAS (p.handle; p.prop) {
      if (params_.done) call_.physical = *p.handle;
    } else if GRAPHKIT_HAS (p.handle; p.osHandle) {
      if (params_.done) call_.physical = *p.handle;
    }
    if constexpr (
        requires { requires std::same_as<decltype(p.handle), CUmemGenericAllocationHandle>; } &&
        !requires { p.ptr; })
      call_.physical = p.handle;
    if GRAPHKIT_HAS (p.memHandle) call_.physical = p.memHandle;
  }

  void ReadTensorMap(const auto& p) {
    if GRAPHKIT_HAS (p.tensorMap) {
      call_.tensor_map = p.tensorMap;
      call_.address = Address(p.globalAddress);
      call_.extent = -1;
      if GRAPHKIT_HAS (p.globalDim) {
        if (params_.done)
          call_.extent = Extent(p.tensorDataType, p.tensorRank, p.globalDim, p.globalStrides);
      }
    }
  }

  void ReadAddress(const auto& p) {
    if GRAPHKIT_HAS (p.memptr) call_.address = p.memptr;
    if GRAPHKIT_HAS (*p.pdptr) {
      if (params_.done) call_.address = *p.pdptr;
    }
    if GRAPHKIT_HAS (*p.devPtr; p.bufferDesc->size) {
      if (params_.done) call_.address = *p.devPtr;
      if (p.bufferDesc != nullptr) call_.size = p.bufferDesc->size;
    }
    if GRAPHKIT_HAS (p.p) call_.address = Address(p.p);
    if GRAPHKIT_HAS (*p.dptr) {
      if (params_.done) call_.address = *p.dptr;
    } else if GRAPHKIT_HAS (p.dptr; p.bytesize) {
      if (params_.done) call_.address = p.dptr;  // of a node
    } else if GRAPHKIT_HAS (p.dptr) {
      call_.address = p.dptr;
    }
  }

  // What the memory of a pool or an allocation node is. A device's own is told by the call.
  void ReadPool(const auto& p) {
    auto take = [&](CUmemAllocationType type, CUmemLocationType place) {
      if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) {
        call_.pool_kind = PoolKind::kManaged;
      } else if (place != CU_MEM_LOCATION_TYPE_DEVICE) {
        call_.pool_kind = PoolKind::kHost;
      }
    };
    if GRAPHKIT_HAS (p.poolProps->allocType) {
      if (p.poolProps != nullptr) take(p.poolProps->allocType, p.poolProps->location.type);
    }
    if GRAPHKIT_HAS (p.poolProps.allocType) take(p.poolProps.allocType, p.poolProps.location.type);
    if GRAPHKIT_HAS (p.pool; p.location->type; p.type) {
      if (p.location != nullptr) take(p.type, p.location->type);
    }
    if GRAPHKIT_HAS (p.pool_out; p.location->type; p.type) {
      if (p.location != nullptr) take(p.type, p.location->type);
    }
  }

  void ReadKernel(const auto& p) {
    KernelWork& work = call_.kernel;
    if GRAPHKIT_HAS (p.f) work.function = Address(p.f);
    if GRAPHKIT_HAS (p.func) work.function = Address(p.func);
    if GRAPHKIT_HAS (p.kern) {
      if (work.function == 0) work.function = Address(p.kern);
    }
    if GRAPHKIT_HAS (p.gridDimX) {
      work.grid[0] = p.gridDimX, work.grid[1] = p.gridDimY, work.grid[2] = p.gridDimZ;
      work.block[0] = p.blockDimX, work.block[1] = p.blockDimY, work.block[2] = p.blockDimZ;
      work.shared_bytes = p.sharedMemBytes;
    }
    if GRAPHKIT_HAS (Attributes(p.attrs, p.numAttrs)) Attributes(p.attrs, p.numAttrs);
    if GRAPHKIT_HAS (p.extra) {
      Arguments(p.kernelParams, p.extra);
    } else if GRAPHKIT_HAS (p.kernelParams) {
      Arguments(p.kernelParams, nullptr);
    }
    if GRAPHKIT_HAS (p.fn) {
      call_.work_kind = NodeKind::kHost;
      call_.details = Fingerprint{reinterpret_cast<uint64_t>(p.fn), Address(p.userData)}.value();
    }
  }

  // Copies of bytes; those of rows and volumes have the same names for what they share. Arrays are
  // no blocks: of them only the other end is told.
  void ReadCopy(const auto& p) {
    if GRAPHKIT_HAS (p.ByteCount) {
      call_.details = Fingerprint{p.ByteCount}.value();
      if GRAPHKIT_HAS (p.dstArray) call_.details = Fingerprint::kUnknown;
      if GRAPHKIT_HAS (p.srcArray) call_.details = Fingerprint::kUnknown;
      if GRAPHKIT_HAS (p.dst) Touch(p.dst, p.ByteCount, true);
      if GRAPHKIT_HAS (p.dstDevice) Touch(p.dstDevice, p.ByteCount, true);
      if GRAPHKIT_HAS (p.dstHost) {
        Touch(Address(p.dstHost), p.ByteCount, true);
        call_.to_host = true;
      }
      if GRAPHKIT_HAS (p.src) Touch(p.src, p.ByteCount, false);
      if GRAPHKIT_HAS (p.srcDevice) Touch(p.srcDevice, p.ByteCount, false);
      if GRAPHKIT_HAS (p.srcHost) Touch(Address(p.srcHost), p.ByteCount, false);
    }
    if GRAPHKIT_HAS (p.srcMemoryType) {
      Volume in{p.WidthInBytes, p.Height, 1, p.srcPitch, 1};
      Volume out{p.WidthInBytes, p.Height, 1, p.dstPitch, 1};
      uint64_t row_in = p.srcY, row_out = p.dstY;
      if GRAPHKIT_HAS (p.Depth) {
        in.depth = out.depth = p.Depth;
        in.layer = p.srcHeight, out.layer = p.dstHeight;
        row_in += p.srcZ * in.layer, row_out += p.dstZ * out.layer;
      }
      TouchEnd(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstXInBytes + row_out * out.pitch, out,
               true);
      TouchEnd(p.srcMemoryType, p.srcHost, p.srcDevice, p.srcXInBytes + row_in * in.pitch, in,
               false);
      const bool arrays = call_.own.touch_count != 2;
      const bool row = in.height <= 1 && in.depth <= 1;
      const Fingerprint details =
          row ? Fingerprint{in.width} : Fingerprint{in.width, in.height, in.depth, out.pitch,
                                                    in.pitch, in.layer,  out.layer};
      call_.details = arrays ? Fingerprint::kUnknown : details.value();
    }
  }

  void ReadSet(const auto& p) {
    auto fill = [&](uint64_t address, uint64_t value, uint64_t element, uint64_t width,
                    uint64_t height, uint64_t pitch) {
      Touch(address, {width * element, height, 1, pitch, 1}, true);
      call_.work_kind = NodeKind::kMemset;
      call_.details = Fingerprint{value, element, width, height, height > 1 ? pitch : 0}.value();
    };
    auto fill_elements = [&](uint64_t value, uint64_t element) {
      if GRAPHKIT_HAS (p.N) fill(p.dstDevice, value, element, p.N, 1, 0);
      if GRAPHKIT_HAS (p.Width) fill(p.dstDevice, value, element, p.Width, p.Height, p.dstPitch);
    };
    if GRAPHKIT_HAS (p.uc) fill_elements(p.uc, 1);
    if GRAPHKIT_HAS (p.us) fill_elements(p.us, 2);
    if GRAPHKIT_HAS (p.ui) fill_elements(p.ui, 4);
    if GRAPHKIT_HAS (p.elementSize) fill(p.dst, p.value, p.elementSize, p.width, p.height, p.pitch);
  }

  // Calls that stand for several operations. A single wait for a value, or a write of one, is a
  // batch of one. What a call that failed was given isn't read.
  void ReadBatch(const auto& p) {
    if GRAPHKIT_HAS (p.addr; p.value) {
      call_.work_kind = NodeKind::kBatchMemOp;
      call_.operations.emplace_back().Touch(p.addr, sizeof p.value, false);
    }
    if GRAPHKIT_HAS (p.paramArray) Operations(p.paramArray, p.count);
    if GRAPHKIT_HAS (p.paramsArray; p.count) Operations(p.paramsArray, p.count);
    if GRAPHKIT_HAS (p.paramsArray; p.numExtSems) Operations(p.paramsArray, p.numExtSems);
    if GRAPHKIT_HAS (p.opList) Operations(p.opList, p.numOps);
    if GRAPHKIT_HAS (p.dsts) {
      call_.work_kind = NodeKind::kMemcpy;
      for (size_t i = 0; params_.done && i < p.count; ++i) {
        const auto length = static_cast<int64_t>(p.sizes[i]);
        Operation& copy = call_.operations.emplace_back();
        copy.Touch(p.dsts[i], length, true);
        copy.Touch(p.srcs[i], length, false);
      }
    }
  }

  void Arguments(void** arguments, void** extra);
  void Attributes(const CUlaunchAttribute* attributes, unsigned count);
  void Attribute(CUlaunchAttributeID attribute, const CUlaunchAttributeValue& value);
  void Conditional(const CUDA_CONDITIONAL_NODE_PARAMS& p);
  void Operations(const CUmemDecompressParams* batch, size_t count);
  void Operations(const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS*, size_t);
  void Operations(const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS*, size_t);
  void Operations(const CUstreamBatchMemOpParams* batch, size_t count);
  void Operations(const CUDA_MEMCPY3D_BATCH_OP* batch, size_t count);
  // Bytes from a tensor's first to its last; negative: its type isn't known.
  static int64_t Extent(CUtensorMapDataType type, uint32_t rank, const cuuint64_t* sizes,
                        const cuuint64_t* strides);
  void Touch(uint64_t address, uint64_t bytes, bool write) { Touch(address, Volume{bytes}, write); }
  void Touch(uint64_t address, const Volume& volume, bool write);
  // One end of a copy, of which each kind of memory has a field of its own.
  void TouchEnd(CUmemorytype kind, const void* host, CUdeviceptr device, uint64_t offset,
                const Volume& volume, bool write);

  const CallParams& params_;
  Call& call_;
};

#undef GRAPHKIT_HAS
#undef GRAPHKIT_TAKE
#undef GRAPHKIT_OPEN

// `kThen` adds what no field says.
template <typename Params, void (*kThen)(Call&) = nullptr>
void Decode(const CallParams& params, Call& call) {
  ParamReader(params, call).Read(*static_cast<const Params*>(params.raw));
  if constexpr (kThen != nullptr) kThen(call);
}

}  // namespace graphkit
