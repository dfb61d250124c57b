// How NVTX hands itself to a tool: layouts as in nvtx3/nvtxDetail (NVTX 3.2), which are NVTX's
// binary interface.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/cupti_tracer/recorder/communicators.h"

namespace graphkit {

struct NvtxSegment {  // nvtxExtModuleSegment_t
  size_t id;
  size_t slot_count;
  intptr_t* slots;  // function pointers
};

struct NvtxModuleInfo {  // nvtxExtModuleInfo_t
  uint16_t nvtx_version;
  uint16_t struct_size;
  uint16_t module_id;
  uint16_t compat_id;
  size_t segment_count;
  NvtxSegment* segments;
  void* get_export_function;
  const void* info;
};

using NvtxFunction = void (*)();

struct NvtxCallbackTable {  // NvtxExportTableCallbacks
  size_t struct_size;
  int (*module_table)(int module, NvtxFunction*** table, unsigned* size);
};

// Take an extension's functions, if this is that extension.
bool AttachMemoryExtension(NvtxModuleInfo& module);
bool AttachPayloadExtension(NvtxModuleInfo& module);

// Ranges of a domain (a handle of ours; null: none). `payloads`: an array of nvtxPayloadData_t.
int PushRange(const void* domain, const char* name, uint32_t colour, const void* payloads,
              size_t count);
int PopRange(const void* domain, const void* payloads, size_t count);
bool IsNccl(const void* domain);

// False: there is none that NCCL's domain has a schema of.
bool ReadNcclPayload(const void* payloads, size_t count, NcclPayload& read);

}  // namespace graphkit
