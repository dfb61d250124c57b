// Rules for copies, memory, launches, arrays and textures, from the documentation of the functions
// that make them.
#pragma once

#include <cuda.h>

#include <span>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft::driver {

// --- copies and fills (copy_rules.cpp)

// Is the pitch allowed, do arrays hold what is moved in whole elements of one size, does device
// memory hold it, is host memory anything but null?
CUresult CheckCopy(const CUDA_MEMCPY3D& copy);
// Fills in the pitches and heights that a caller may leave at 0.
CUDA_MEMCPY3D WithRows(CUDA_MEMCPY3D copy);
// Is the first element aligned, is each row within its pitch, and all of it in an allocation?
bool CanSet(const CUDA_MEMSET_NODE_PARAMS& set);
// Is it a value of CUmemcpySrcAccessOrder that says something?
bool IsAccessOrder(CUmemcpySrcAccessOrder order);

// --- memory (pool.cpp)

// Can a pool, or a graph's memory, be of this place and type?
CUresult CheckPoolPlace(const CUmemLocation& location, CUmemAllocationType type);

// --- launches (launch_rules.cpp, occupancy.cpp)

CUresult CheckShape(const LaunchShape& shape);
// Is this a window that a stream, a launch or a kernel node can have?
bool IsWindow(const CUaccessPolicyWindow& window);
// Block and shared memory: those of a node are checked when it is added, too.
CUresult CheckFunction(const Function& f, const LaunchShape& shape);
CUresult CheckAttributes(const Function& f, const LaunchShape& shape,
                         std::span<const CUlaunchAttribute> attributes, const Gpu& gpu);

// Of a block: what the code was compiled for, and what its registers allow.
int MostThreads(const Function& f);
// Bytes of dynamic shared memory that a launch may ask for.
int MostDynamic(const Function& f);
// Blocks of a cluster; 1 on devices without clusters.
unsigned MostInCluster(const Function& f, const Gpu& gpu);
// Blocks of this size that one multiprocessor holds at once.
int ActiveBlocksOf(const Gpu& gpu, const Function& f, int block, size_t dynamic);

// --- arrays and textures (array_shape.cpp, texture_rules.cpp)

CUresult CheckArrayShape(const CUDA_ARRAY3D_DESCRIPTOR& shape, bool mipmapped);

// Is it memory, an array or a mipmapped array that a texture can read?
bool IsReadable(const CUDA_RESOURCE_DESC& resource);
bool CanSample(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling);
bool CanView(const CUDA_RESOURCE_DESC& resource, const CUDA_RESOURCE_VIEW_DESC& view);

}  // namespace graphkit::soft::driver
