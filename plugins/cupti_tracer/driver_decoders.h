// How each driver function's parameters become a Call: one decoder per layout, several functions
// share one where their parameters look alike.
#pragma once

#include "plugins/cupti_tracer/driver_calls.h"

namespace graphkit::decode {

using Decoder = void(const CallParams& params, Call& call);

// driver_streams.cpp
Decoder OfStream, OfEvent, EventCreate, StreamCreate, StreamCreateWithPriority, GreenStreamCreate,
    BeginCaptureV1, BeginCapture, BeginCaptureToGraph, EndCapture, UpdateDependenciesV1,
    UpdateDependencies, EventRecord, EventRecordWithFlags, StreamWaitEvent, HostFunction,
    SignalSemaphores, WaitSemaphores, StreamAt16, StreamAt32, StreamAt56;

// driver_memory.cpp
Decoder OfPool, Alloc, AllocPitch, AllocHost, AllocManaged, AllocAsync, AllocFromPool, Map, Free,
    FreeAsync, PoolCreate;

// driver_graphs.cpp
Decoder OfGraph, OfNode, OfExec, GraphClone, AddEdges, AddEdgesV2, RemoveEdges, RemoveEdgesV2,
    Instantiate, InstantiateWithFlags, InstantiateWithParams, UpdateExecV1, UpdateExec, GraphLaunch;

// driver_work.cpp
Decoder KernelLaunch, CooperativeLaunch, LaunchEx, CopyToDevice, CopyToHost, CopyOnDevice, CopyAny,
    CopyPeer, Copy2D, Copy3D, Copy3DPeer, ArrayToHost, HostToArray, Set8, Set16, Set32, Set2D8,
    Set2D16, Set2D32;

// driver_batches.cpp
Decoder CopyBatchV1, CopyBatch, Copy3DBatchV1, Copy3DBatch, Decompress, WaitValue32, WaitValue64,
    WriteValue32, WriteValue64, ValueBatch;

// driver_set.cpp
Decoder SetKernel, SetKernelV2, ExecSetKernel, ExecSetKernelV2, SetCopy, ExecSetCopy, SetFill,
    ExecSetFill, SetEvent, ExecSetEvent, ExecSetChild, SetBatch, ExecSetBatch, SetOther,
    ExecSetOther, SetAny, ExecSetAny, SetAttribute, SetEnabled;

// driver_nodes.cpp
Decoder AddKernel, AddKernelV2, AddCopy, AddSet, AddChild, AddEvent, AddAlloc, AddFree, AddBatch,
    AddPlain, AddNode, AddNodeV2;

}  // namespace graphkit::decode
