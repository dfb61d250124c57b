#include "plugins/cupti_tracer/recorder/work.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "libgraphkit/io/record/field_reader.h"
#include "plugins/cupti_tracer/recorder/communicators.h"

namespace graphkit {
namespace {

// Of two accesses to the same place.
AccessMode BothModes(AccessMode one, AccessMode other) {
  if (one == other) return one;
  const bool unknown = one == AccessMode::kUnknown || other == AccessMode::kUnknown;
  return unknown ? AccessMode::kUnknown : AccessMode::kReadWrite;
}

bool SamePlace(const Access& one, const Access& other) {
  return one.block == other.block && one.offset == other.offset && one.length == other.length &&
         one.rows == other.rows;
}

}  // namespace

void Work::Clear(NodeKind of) {
  accesses.clear();
  hashed_ = 0;
  collectives.clear();
  host_ends.clear();
  scalars.clear();
  kind = of;
  kernel = {};
  shape = {};
  block = {};
  event = {};
  complete = false;
  fingerprint = Fingerprint::kUnknown;
  of_graphs = false;
  elsewhere.clear();
}

bool Work::copies_stack() const {
  return std::ranges::count(host_ends, HostMemoryKind::kStack, &HostEnd::kind) != 0;
}

Access* Work::Find(const Access& access) {
  if (accesses.size() >= kFew) return FindAmongMany(access);
  for (Access& known : accesses) {
    if (SamePlace(known, access)) return &known;
  }
  return nullptr;
}

Access* Work::FindAmongMany(const Access& access) {
  if (hashed_ == 0 || 2 * (accesses.size() + 1) > slots_.size()) {
    slots_.assign(std::bit_ceil(4 * accesses.size()), 0);
    hashed_ = 0;
  }
  // The slot of the access to the same place, or the empty one that it gets.
  const auto slot_of = [&](const Access& of) -> uint32_t& {
    const uint64_t hash = Fingerprint{of.block.value, of.offset}.value();
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0 && !SamePlace(accesses[slots_[at] - 1], of))
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  };
  for (; hashed_ < accesses.size(); ++hashed_)
    slot_of(accesses[hashed_]) = static_cast<uint32_t>(hashed_ + 1);
  const uint32_t found = slot_of(access);
  return found != 0 ? &accesses[found - 1] : nullptr;
}

void WorkReader::AddKernel(uint64_t function, KernelLayout layout) {
  bool is_new = false;
  KernelInfo& kernel = kernels_.Add(function, std::move(layout), is_new);
  if (!is_new) return;
  KernelRecord r;
  r.id = kernel.id;
  r.row.name = records_.Add(kernel.name);
  r.row.has_layout = kernel.has_layout;
  r.row.params = records_.Add(kernel.params);
  r.row.waits = kernel.code.waits;
  r.row.triggers = kernel.code.triggers;
  r.row.writes_after_trigger = kernel.code.writes_after_trigger;
  records_.Write(r);
}

void WorkReader::ReadKernel(const KernelWork& launch, Work& work) {
  std::ranges::copy(launch.grid, work.shape.grid);
  std::ranges::copy(launch.block, work.shape.block);
  work.shape.shared_bytes = launch.shared_bytes;
  const KernelInfo* kernel = kernels_.Find(launch.function, nullptr);
  if (kernel == nullptr) return;
  work.kernel = kernel->id;
  const bool read = launch.arguments || launch.packed || kernel->params.empty();
  work.complete = kernel->has_layout && read && !kernel->indirect;
  Fingerprint all{kernel->id.value, launch.shared_bytes};
  for (int i = 0; i < 3; ++i) all.Add(launch.grid[i], launch.block[i]);
  for (size_t i = 0; i < kernel->params.size(); ++i) {
    const char* bytes = ArgumentOf(launch, kernel->params[i], i);
    if (bytes != nullptr) all.Add(bytes, kernel->params[i].size);
    const bool leads_on =
        bytes != nullptr && ScanParam(bytes, ParamOf(*kernel, launch, i), kernel->uses[i], work);
    if (leads_on) work.complete = false;
  }
  for (const ScalarPlace& place : kernel->scalars) {
    uint64_t bits;
    if (!ReadScalar(launch, *kernel, place, bits)) continue;
    work.scalars.push_back({.argument = place.argument, .offset = place.offset, .bits = bits});
  }
  if (kernel->has_layout && read) work.fingerprint = all.value();
}

// Every aligned 8-byte word of the parameter may be an address, or 128 bytes a tensor map: also
// inside structs. True: it leads
// to memory that isn't known.
bool WorkReader::ScanParam(const char* bytes, const KernelParam& param, ParamUse use, Work& work) {
  if (use == ParamUse::kOperand) {
    if (param.size == sizeof(Operand)) return AddOperand(bytes, work);
    CollectiveParam collective;
    std::memcpy(&collective, bytes, sizeof collective);
    communicators_.Add(collective, work);
    return false;
  }
  bool pointer = param.size == kWord && use == ParamUse::kRead;
  const bool maps = !tensor_maps_.empty();
  for (size_t at = FirstWord(param); at + kWord <= param.size; at += kWord) {
    const bool map_fits = maps && param.size - at >= kTensorMapBytes;
    if (map_fits && (param.offset + at) % kTensorMapAlignment == 0) {
      if (const TensorMap* map = tensor_maps_.Find(bytes + at)) {
        const Bytes length = map->bytes < 0 ? kLengthUnknown : static_cast<Bytes>(map->bytes);
        AddAccess(map->address, AccessMode::kUnknown, length, work);
        at += kTensorMapBytes - kWord;
        continue;
      }
    }
    uint64_t word;
    std::memcpy(&word, bytes + at, kWord);
    AddAccess(word, pointer ? AccessMode::kRead : AccessMode::kUnknown, kLengthUnknown, work);
  }
  return false;
}

bool WorkReader::AddOperand(const char* bytes, Work& work) const {
  Operand operand;
  std::memcpy(&operand, bytes, sizeof operand);
  if (operand.bytes == 0 || (operand.use & 3) == 0) return false;
  AddAccess(operand.address, static_cast<AccessMode>(operand.use & 3), operand.bytes, work);
  return (operand.use & 4) != 0;
}

void WorkReader::ReadOperations(const Operation& own, std::span<const Operation> batch,
                                Work& work) const {
  work.complete = own.touch_count != 0 || !batch.empty();
  AddOperation(own, work);
  for (const Operation& operation : batch) {
    AddOperation(operation, work);
    work.complete = work.complete && operation.complete;
  }
}

void WorkReader::AddOperation(const Operation& operation, Work& work) const {
  for (uint32_t i = 0; i < operation.touch_count; ++i) {
    const TouchedMemory& touch = operation.touches[i];
    const AccessMode mode = touch.write ? AccessMode::kWrite : AccessMode::kRead;
    const Bytes length = touch.length < 0 ? kLengthUnknown : static_cast<Bytes>(touch.length);
    if (touch.host) {
      work.host_ends.push_back(
          {.kind = *touch.host, .mode = mode, .address = touch.address, .length = length});
    } else {
      AddAccess(touch.address, mode, length, work, touch.rows);
    }
  }
}

void WorkReader::AddAccess(uint64_t address, AccessMode mode, Bytes length, Work& work,
                           const AccessRows& rows) const {
  const auto place = memory_.Find(address, length == kLengthUnknown ? 0 : length);
  if (!place) return;
  work.of_graphs = work.of_graphs || place->of_graphs;
  if (!place->of_graphs) work.elsewhere.push_back(address);
  const bool goes_on = place->mapped != 0 && length != kLengthUnknown && length > place->mapped &&
                       rows == AccessRows();
  const Bytes own = goes_on ? place->mapped : length;
  const Access access{place->block, mode, place->offset, own, rows};
  if (goes_on) AddAccess(address + own, mode, length - own, work);  // memory mapped in pieces
  if (Access* known = work.Find(access)) {
    known->mode = BothModes(known->mode, mode);
  } else {
    work.accesses.push_back(access);
  }
}

bool WorkReader::ReadRecord(uint64_t place, Work& work) const {
  if (place == kNoPlace) return false;
  std::string line(records_.Read(place));
  line += '\n';
  line.resize(line.size() + kLinePadding);
  LooseValues values;
  FieldReader fields(JsonCursor(line.data()), values);
  auto take = [&](const auto& r) {
    work.kernel = r.row.kernel;
    work.shape = r.shape;
    work.event = r.row.event;
    work.complete = r.row.accesses_complete;
    const std::span<const Access> accesses = values.Of(r.row.accesses, &Trace::accesses);
    work.accesses.assign(accesses.begin(), accesses.end());
    const std::span<const HostEnd> host = values.Of(r.host_ends, &Trace::host_ends);
    work.host_ends.assign(host.begin(), host.end());
    const std::span<const Scalar> scalars = values.Of(r.scalars, &Trace::scalars);
    work.scalars.assign(scalars.begin(), scalars.end());
  };
  std::string_view type;
  if (!fields.TakeNext("type", type)) return false;
  if (type == NodeRecord::kType) {
    NodeRecord r;
    fields.Read(r);
    take(r);
    work.block = r.row.block;
    const std::span<const Collective> of = values.Of(r.collectives, &Trace::collectives);
    work.collectives.assign(of.begin(), of.end());
    return true;
  }
  NodeSetRecord set;
  fields.Read(set);
  if (set.row.what != NodeChangeKind::kParams) return false;
  take(set);
  return true;
}

}  // namespace graphkit
