// NVTX's payload extension, as far as NCCL uses it: a range's values, by the names that its schema
// gives them (nvtx_payload_schemas.h of NCCL).
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtPayload.h>

#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "plugins/cupti_tracer/nvtx_injection.h"
#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {
namespace {

constexpr uint64_t kNoOffset = ~uint64_t{0};

// Where a payload has what; kNoOffset: it hasn't.
struct NcclSchema {
  uint64_t communicator = kNoOffset, bytes = kNoOffset, peer = kNoOffset, rank = kNoOffset,
           ranks = kNoOffset;
};

struct Schemas {
  std::mutex mutex;
  std::map<uint64_t, NcclSchema> nccl;
  uint64_t next = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;
};
Schemas& AllSchemas() {
  static Schemas* const schemas = new Schemas;  // calls may come until the very end
  return *schemas;
}

uint64_t* PlaceOf(std::string_view entry, NcclSchema& schema) {
  if (entry == "NCCL communicator ID") return &schema.communicator;
  if (entry == "Message size [bytes]") return &schema.bytes;
  if (entry == "Root" || entry == "Peer rank") return &schema.peer;
  if (entry == "Rank") return &schema.rank;
  return entry == "No. of ranks" ? &schema.ranks : nullptr;
}

uint64_t SchemaRegister(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attr) {
  if (attr == nullptr) return 0;
  Schemas& schemas = AllSchemas();
  const std::lock_guard lock(schemas.mutex);
  const bool named = (attr->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0;
  const uint64_t id = named && attr->schemaId != 0 ? attr->schemaId : schemas.next++;
  if (!IsNccl(domain) || attr->entries == nullptr) return id;
  NcclSchema schema;
  for (size_t i = 0; i < attr->numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = attr->entries[i];
    uint64_t* place = entry.name != nullptr ? PlaceOf(entry.name, schema) : nullptr;
    if (place != nullptr) *place = entry.offset;
  }
  schemas.nccl[id] = schema;
  return id;
}

template <typename T>
void Take(const nvtxPayloadData_t& data, uint64_t offset, T& value) {
  if (offset == kNoOffset || offset + sizeof(T) > data.size) return;
  std::memcpy(&value, static_cast<const char*>(data.payload) + offset, sizeof(T));
}

int RangePushPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t*, size_t) {
  return PushRange(domain, "", 0, nullptr, 0);
}
int RangePopPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count) {
  return PopRange(domain, data, count);
}

}  // namespace

bool ReadNcclPayload(const void* payloads, size_t count, NcclPayload& read) {
  const auto* data = static_cast<const nvtxPayloadData_t*>(payloads);
  for (size_t i = 0; data != nullptr && i < count; ++i) {
    Schemas& schemas = AllSchemas();
    const std::lock_guard lock(schemas.mutex);
    const auto schema = schemas.nccl.find(data[i].schemaId);
    if (schema == schemas.nccl.end() || data[i].payload == nullptr) continue;
    Take(data[i], schema->second.communicator, read.communicator);
    Take(data[i], schema->second.bytes, read.bytes);
    Take(data[i], schema->second.peer, read.peer);
    Take(data[i], schema->second.rank, read.rank);
    Take(data[i], schema->second.ranks, read.ranks);
    return true;
  }
  return false;
}

bool AttachPayloadExtension(NvtxModuleInfo& module) {
  if (module.module_id != NVTX_EXT_PAYLOAD_MODULEID) return false;
  for (size_t i = 0; i < module.segment_count; ++i) {
    const NvtxSegment& segment = module.segments[i];
    if (segment.slots == nullptr) continue;
    const auto fill = [&](size_t slot, auto* function) {
      if (slot < segment.slot_count) segment.slots[slot] = reinterpret_cast<intptr_t>(function);
    };
    fill(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, SchemaRegister);
    fill(NVTX3EXT_CBID_nvtxRangePushPayload, RangePushPayload);
    fill(NVTX3EXT_CBID_nvtxRangePopPayload, RangePopPayload);
    return true;
  }
  return false;
}

}  // namespace graphkit
